import type { UserFilter, UserKeys } from '../../../lib/storage/storage.ts'
import { type Mistake, plant } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { UserRow } from './state.ts'

const PATTERN = /[.*+?^${}()|[\]\\]/g

/** A mistake in how a prefix is compared with a key. */
function begins (title: string, matches: (key: string, prefix: string) => boolean): Mistake {
  return plant(title, class extends PlainStore {
    override begins (key: string, prefix: string) {
      return matches(key, prefix)
    }
  })
}

function likes (pattern: string): RegExp {
  const parts = pattern.replace(PATTERN, '\\$&')
  return new RegExp(`^${parts.replaceAll('%', '.*').replaceAll('_', '.')}`, 'su')
}

function fold (text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '')
}

export const listsPrefix: Mistake[] = [
  begins('a prefix finds text within names', (key, prefix) => key.includes(prefix)),
  begins('a prefix finds the beginnings of words', (key, prefix) => {
    return key.startsWith(prefix) || key.includes(` ${prefix}`)
  }),
  begins('a prefix takes an underscore for any character', (key, prefix) => {
    return likes(prefix.replaceAll('%', '\0')).test(key)
  }),
  begins('a prefix takes a percent sign for any text', (key, prefix) => likes(prefix.replaceAll('_', '\0')).test(key)),
  begins('a prefix with a backslash finds nothing', (key, prefix) => !prefix.includes('\\') && key.startsWith(prefix)),
  begins('a prefix with an apostrophe finds nothing', (key, prefix) => !prefix.includes("'") && key.startsWith(prefix)),
  begins('a prefix takes an asterisk for any text', (key, prefix) => {
    return new RegExp(`^${prefix.replace(PATTERN, '\\$&').replaceAll('\\*', '.*')}`, 'su').test(key)
  }),
  begins('a prefix takes a question mark for any character', (key, prefix) => {
    return new RegExp(`^${prefix.replace(PATTERN, '\\$&').replaceAll('\\?', '.')}`, 'su').test(key)
  }),
  begins('a prefix takes a dot for any character', (key, prefix) => {
    return new RegExp(`^${prefix.replace(PATTERN, '\\$&').replaceAll('\\.', '.')}`, 'su').test(key)
  }),
  begins('a prefix is a regular expression', (key, prefix) => new RegExp(`^${prefix}`).test(key)),
  begins('a prefix ignores case', (key, prefix) => key.toLowerCase().startsWith(prefix.toLowerCase())),
  begins('a prefix ignores accents', (key, prefix) => fold(key).startsWith(fold(prefix))),
  begins('a prefix is trimmed', (key, prefix) => key.startsWith(prefix.trim())),
  begins('a prefix of one character finds nothing', (key, prefix) => prefix.length > 1 && key.startsWith(prefix)),
  begins('a prefix of more than 50 characters is cut', (key, prefix) => key.startsWith(prefix.slice(0, 50))),
  begins('a prefix of more than 20 characters finds nothing', (key, prefix) => {
    return prefix.length <= 20 && key.startsWith(prefix)
  }),
  begins('a prefix that is a whole key finds nothing', (key, prefix) => key !== prefix && key.startsWith(prefix)),
  begins('a prefix finds whole keys only', (key, prefix) => key === prefix),
  begins('a prefix misses keys that go on with other than ASCII', (key, prefix) => key >= prefix && key < `${prefix}~`),
  begins('a prefix misses keys that go on with a private character', (key, prefix) => {
    return key >= prefix && key < `${prefix}\uE000`
  }),
  begins('a prefix with two words finds nothing', (key, prefix) => !prefix.includes(' ') && key.startsWith(prefix)),
  begins('a prefix with a hyphen finds nothing', (key, prefix) => !prefix.includes('-') && key.startsWith(prefix)),
  begins('a prefix is compared in Latin-1', (key, prefix) => {
    return Buffer.from(key, 'latin1').toString('latin1').startsWith(Buffer.from(prefix, 'latin1').toString('latin1'))
  }),
  begins('an empty prefix finds nothing', (key, prefix) => prefix !== '' && key.startsWith(prefix)),
  begins('a prefix throws when it is longer than 255 characters', (key, prefix) => {
    if (prefix.length > 255) throw new RangeError('value too long for type character varying(255)')
    return key.startsWith(prefix)
  }),
  plant('a prefix finds names only', class extends PlainStore {
    override matchesPrefix ({ nameKey }: UserKeys, prefix: string) {
      return this.begins(nameKey, prefix)
    }
  }),
  plant('a prefix finds addresses only', class extends PlainStore {
    override matchesPrefix ({ emailKey }: UserKeys, prefix: string) {
      return this.begins(emailKey, prefix)
    }
  }),
  plant('a prefix with an @ finds addresses only', class extends PlainStore {
    override matchesPrefix (keys: UserKeys, prefix: string) {
      return prefix.includes('@') ? this.begins(keys.emailKey, prefix) : super.matchesPrefix(keys, prefix)
    }
  }),
  plant('a prefix looks at values and not at keys', class extends PlainStore {
    override matches ({ user, keys }: UserRow, filter: UserFilter) {
      const values = { nameKey: user.name, emailKey: user.email }
      return super.matches({ user, keys }, { ...filter, prefix: null }) &&
        (filter.prefix === null || this.matchesPrefix(values, filter.prefix))
    }
  }),
  plant('a prefix and an e-mail key are joined by or', class extends PlainStore {
    override matches (row: UserRow, filter: UserFilter) {
      if (filter.prefix === null || filter.emailKey === null) return super.matches(row, filter)
      return super.matches(row, { ...filter, prefix: null }) || super.matches(row, { ...filter, emailKey: null })
    }
  }),
  plant('a match by address lets the other filters go', class extends PlainStore {
    override matches (row: UserRow, filter: UserFilter) {
      const { prefix } = filter
      return super.matches(row, filter) || (prefix !== null && this.begins(row.keys.emailKey, prefix))
    }
  }),
  plant('an e-mail key in a filter ignores case', class extends PlainStore {
    override matchesEmailKey (stored: string, emailKey: string) {
      return stored.toLowerCase() === emailKey.toLowerCase()
    }
  }),
  plant('an e-mail key in a filter takes an underscore for any character', class extends PlainStore {
    override matchesEmailKey (stored: string, emailKey: string) {
      return stored.length === emailKey.length && likes(emailKey.replaceAll('%', '\0')).test(stored)
    }
  }),
  plant('a prefix may run into the id behind a name', class extends PlainStore {
    override matches (row: UserRow, filter: UserFilter) {
      const { prefix } = filter
      if (prefix === null) return super.matches(row, filter)
      return super.matches(row, filter) || `${row.keys.nameKey}\0${row.user.id}`.startsWith(prefix)
    }
  }),
  plant('an e-mail key in a filter is a prefix', class extends PlainStore {
    override matchesEmailKey (stored: string, emailKey: string) {
      return stored.startsWith(emailKey)
    }
  }),
  plant('an e-mail key in a filter ignores spaces at its end', class extends PlainStore {
    override matchesEmailKey (stored: string, emailKey: string) {
      return stored === emailKey.trimEnd()
    }
  })
]
