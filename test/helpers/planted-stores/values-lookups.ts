import { type Mistake, plant, untyped } from './plant.ts'
import { PlainStore } from './plain-store.ts'

const PATTERN = /[.+^${}()|[\]\\]/g

function glob (pattern: string): RegExp {
  return new RegExp(`^${pattern.replace(PATTERN, '\\$&').replaceAll('*', '.*').replaceAll('?', '.')}$`, 's')
}

/** A mistake in how the text of a look-up is compared with an id. */
function lookUp (title: string, same: (id: string, wanted: string) => boolean): Mistake {
  return plant(title, class extends PlainStore {
    override find<Row> (rows: Map<string, Row>, wanted: string) {
      for (const [id, row] of rows) if (same(id, wanted)) return row
      return null
    }
  })
}

function fold (text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}

export const valuesLookups: Mistake[] = [
  lookUp('findUser finds ids in another case', (id, wanted) => id.toLowerCase() === wanted.toLowerCase()),
  lookUp('findUser finds ids with an accent too much', (id, wanted) => {
    return id === wanted.normalize('NFD').replace(/\p{M}/gu, '')
  }),
  lookUp('findUser ignores spaces at the end of the id', (id, wanted) => id === wanted.trimEnd()),
  lookUp('findUser takes an asterisk for any text', (id, wanted) => glob(wanted).test(id)),
  lookUp('findUser finds by the beginning of the id', (id, wanted) => id.startsWith(wanted)),
  lookUp('findUser ignores what follows a NUL', (id, wanted) => id === wanted.split('\0')[0]),
  plant('findUser gives undefined without a match', class extends PlainStore {
    override async findUser (id: string) {
      return await super.findUser(id) ?? untyped(undefined)
    }
  }),
  plant('findApiKeyByStart gives undefined without a match', class extends PlainStore {
    override async findApiKeyByStart (start: string) {
      return await super.findApiKeyByStart(start) ?? untyped(undefined)
    }
  }),
  plant('updateUser gives undefined without a match', class extends PlainStore {
    override async updateUser (...given: Parameters<PlainStore['updateUser']>) {
      return await super.updateUser(...given) ?? untyped(undefined)
    }
  }),
  plant('rotateApiKey gives undefined without a match', class extends PlainStore {
    override async rotateApiKey (...given: Parameters<PlainStore['rotateApiKey']>) {
      return await super.rotateApiKey(...given) ?? untyped(undefined)
    }
  }),
  plant('findUser finds properties of objects', class extends PlainStore {
    override async findUser (id: string) {
      return id in {} ? untyped(Reflect.get({}, id)) : await super.findUser(id)
    }
  }),
  plant('findApiKeyByStart finds properties of objects', class extends PlainStore {
    override async findApiKeyByStart (start: string) {
      return start in {} ? untyped(Reflect.get({}, start)) : await super.findApiKeyByStart(start)
    }
  }),
  plant('findUser throws for a text that has no form of an id', class extends PlainStore {
    override async findUser (id: string) {
      if (!/^[a-z]+_[0-9a-z]+$/.test(id)) throw new TypeError('the id is not well-formed')
      return await super.findUser(id)
    }
  }),
  plant('findUser throws for an empty text', class extends PlainStore {
    override async findUser (id: string) {
      if (id === '') throw new TypeError('an id is required')
      return await super.findUser(id)
    }
  }),
  plant('findApiKeyByStart throws for a text of more than 64 characters', class extends PlainStore {
    override async findApiKeyByStart (start: string) {
      if (start.length > 64) throw new RangeError('value too long for type character varying(64)')
      return await super.findApiKeyByStart(start)
    }
  }),
  plant('findApiKey throws for a text with NUL', class extends PlainStore {
    override async findApiKey (id: string) {
      if (id.includes('\0')) throw new Error('invalid byte sequence for encoding "UTF8": 0x00')
      return await super.findApiKey(id)
    }
  }),
  plant('deleteUser throws for a text with a lone surrogate', class extends PlainStore {
    override async deleteUser (...given: Parameters<PlainStore['deleteUser']>) {
      encodeURIComponent(given[0])
      return await super.deleteUser(...given)
    }
  }),
  plant('listUsers throws for a word with NUL', class extends PlainStore {
    override async listUsers (...given: Parameters<PlainStore['listUsers']>) {
      const hasNul = given[0].words?.flat().some((word) => word.includes('\0')) === true
      if (hasNul) throw new Error('invalid byte sequence for encoding "UTF8": 0x00')
      return await super.listUsers(...given)
    }
  }),
  plant('listUsers throws for an e-mail key that is no address', class extends PlainStore {
    override async listUsers (...given: Parameters<PlainStore['listUsers']>) {
      if (given[0].emailKey?.includes('@') === false) throw new TypeError('not an address')
      return await super.listUsers(...given)
    }
  }),
  plant('createUser takes accents for equal in the e-mail key', class extends PlainStore {
    override sameEmailKey (a: string, b: string) {
      return a.normalize('NFD').replace(/\p{M}/gu, '') === b.normalize('NFD').replace(/\p{M}/gu, '')
    }
  }),
  plant('createUser takes ß for ss in the e-mail key', class extends PlainStore {
    override sameEmailKey (a: string, b: string) {
      return a.replaceAll('ß', 'ss') === b.replaceAll('ß', 'ss')
    }
  }),
  plant('createUser ignores case in the e-mail key', class extends PlainStore {
    override sameEmailKey (a: string, b: string) {
      return a.toLowerCase() === b.toLowerCase()
    }
  }),
  plant('createUser ignores spaces at the end of the e-mail key', class extends PlainStore {
    override sameEmailKey (a: string, b: string) {
      return a.trimEnd() === b.trimEnd()
    }
  }),
  plant('createUser compares the first 64 characters of e-mail keys', class extends PlainStore {
    override sameEmailKey (a: string, b: string) {
      return a.slice(0, 64) === b.slice(0, 64)
    }
  }),
  plant('createUser ignores dots before the @ of the e-mail key', class extends PlainStore {
    override sameEmailKey (a: string, b: string) {
      return a.replace(/\.(?=.*@)/g, '') === b.replace(/\.(?=.*@)/g, '')
    }
  }),
  plant('an e-mail key in a filter ignores case and accents', class extends PlainStore {
    override matchesEmailKey (stored: string, emailKey: string) {
      return fold(stored) === fold(emailKey)
    }
  })
]
