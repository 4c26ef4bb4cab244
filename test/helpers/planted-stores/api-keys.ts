import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { ApiKeyRecord } from '../../../lib/storage/storage.ts'
import { type Mistake, plant, untyped } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { State } from './state.ts'

type Created = Parameters<PlainStore['createApiKey']>

/** A mistake in which keys `onlyFirst` sees. */
function sees (title: string, isSeen: (key: ApiKeyRecord, added: ApiKeyRecord) => boolean): Mistake {
  return plant(title, class extends PlainStore {
    override checkNewKey (state: State, added: ApiKeyRecord, onlyFirst: boolean) {
      if (!onlyFirst) return super.checkNewKey(state, added, onlyFirst)
      if ([...state.apiKeys.values()].some((key) => isSeen(key, added))) return false
      return super.checkNewKey(state, added, false)
    }
  })
}

/** A mistake in how starts are compared. */
function starts (title: string, same: (stored: string, start: string) => boolean): Mistake {
  return plant(title, class extends PlainStore {
    override sameStart (stored: string, start: string) {
      return same(stored, start)
    }
  })
}

/** A mistake in which keys a look-up by start finds. */
function finds (title: string, isFound: (key: ApiKeyRecord) => boolean): Mistake {
  return plant(title, class extends PlainStore {
    override async findApiKeyByStart (start: string) {
      const key = await super.findApiKeyByStart(start)
      return key !== null && isFound(key) ? key : null
    }
  })
}

/** A mistake in when a key is touched. */
function touches (title: string, mayTouch: (lastUsedAt: string | null, ifBefore: string) => boolean): Mistake {
  return plant(title, class extends PlainStore {
    override mayTouch (lastUsedAt: string | null, ifBefore: string) {
      return mayTouch(lastUsedAt, ifBefore)
    }
  })
}

export const apiKeys: Mistake[] = [
  plant('createApiKey resolves to undefined', class extends PlainStore {
    override async createApiKey (...given: Created) {
      await super.createApiKey(...given)
      return untyped(undefined)
    }
  }),
  plant('createApiKey resolves to 1', class extends PlainStore {
    override async createApiKey (...given: Created) {
      return untyped(Number(await super.createApiKey(...given)))
    }
  }),
  sees('createApiKey with onlyFirst does not see revoked keys', ({ revokedAt }) => revokedAt === null),
  sees('createApiKey with onlyFirst does not see expired keys', ({ expiresAt }, { createdAt }) => {
    return expiresAt === null || expiresAt > createdAt
  }),
  sees('createApiKey with onlyFirst sees keys of the same scopes only', ({ scopes }, added) => {
    return scopes.join() === added.scopes.join()
  }),
  sees('createApiKey with onlyFirst sees keys of the same name only', ({ name }, added) => name === added.name),
  plant('createApiKey with onlyFirst says true without adding', class extends PlainStore {
    override async createApiKey (...given: Created) {
      await super.createApiKey(...given)
      return true
    }
  }),
  plant('createApiKey with onlyFirst adds and says false', class extends PlainStore {
    override checkNewKey (...given: Parameters<PlainStore['checkNewKey']>) {
      const isFree = super.checkNewKey(...given)
      if (!isFree) this.putKey(given[0], given[1])
      return isFree
    }
  }),
  plant('createApiKey with onlyFirst throws a fault for a second key', class extends PlainStore {
    override async createApiKey (...given: Created) {
      const isAdded = await super.createApiKey(...given)
      if (!isAdded) throw new StorageError('fault', 'another key exists')
      return isAdded
    }
  }),
  plant('createApiKey with onlyFirst does not see keys that were added without it', class extends PlainStore {
    isTaken = false

    override hasKeys () {
      return this.isTaken
    }

    override async createApiKey (...given: Created) {
      const isAdded = await super.createApiKey(...given)
      this.isTaken ||= given[1].onlyFirst
      return isAdded
    }
  }),
  plant('createApiKey without onlyFirst is false after one with it', class extends PlainStore {
    isLocked = false

    override async createApiKey (...given: Created) {
      if (this.isLocked) return false
      const isAdded = await super.createApiKey(...given)
      this.isLocked = given[1].onlyFirst
      return isAdded
    }
  }),
  plant('createApiKey replaces a key of the same id', class extends PlainStore {
    override requireFreeKeyId () {}
  }),
  plant('createApiKey accepts a start that exists', class extends PlainStore {
    override requireFreeStart () {}
  }),
  plant('createApiKey says false for a start that exists', class extends PlainStore {
    override async createApiKey (...given: Created) {
      const found = await this.read((state) => this.byStart(state, given[0].start))
      return found === null && await super.createApiKey(...given)
    }
  }),
  plant('createApiKey replaces the key of the same start', class extends PlainStore {
    override requireFreeStart (state: State, start: string) {
      const key = this.byStart(state, start)
      if (key !== null) state.apiKeys.delete(key.id)
    }
  }),
  plant('createApiKey takes the start of a revoked key for free', class extends PlainStore {
    override requireFreeStart (state: State, start: string) {
      if (this.byStart(state, start)?.revokedAt === null) super.requireFreeStart(state, start)
    }
  }),
  plant('createApiKey refuses a digest and a name that exist together', class extends PlainStore {
    override requireFreeKey (...given: Parameters<PlainStore['requireFreeKey']>) {
      const [state, { digest, name }] = given
      super.requireFreeKey(...given)
      for (const key of state.apiKeys.values()) {
        if (key.digest === digest && key.name === name) throw new StorageError('fault', 'another key has the digest')
      }
    }
  }),
  plant('createApiKey leaves a key behind whose start is taken', class extends PlainStore {
    override requireFreeKey (...given: Parameters<PlainStore['requireFreeKey']>) {
      const [state, key] = given
      const isNew = !state.apiKeys.has(key.id)
      try {
        super.requireFreeKey(...given)
      } catch (error) {
        if (isNew) this.putKey(state, { ...key, start: '' })
        throw error
      }
    }
  }),
  plant('createApiKey keeps no lastUsedAt that is given', class extends PlainStore {
    override addKey (...[state, key]: Parameters<PlainStore['addKey']>) {
      return super.addKey(state, { ...key, lastUsedAt: null })
    }
  }),
  plant('createApiKey keeps no revokedAt that is given', class extends PlainStore {
    override addKey (...[state, key]: Parameters<PlainStore['addKey']>) {
      return super.addKey(state, { ...key, revokedAt: null })
    }
  }),
  starts('starts are compared without case', (stored, start) => stored.toLowerCase() === start.toLowerCase()),
  starts('starts are compared by their first 12 characters', (stored, start) => {
    return stored.slice(0, 12) === start.slice(0, 12)
  }),
  starts('starts are found by a beginning', (stored, start) => stored.startsWith(start)),
  starts('starts are found by a text that goes on', (stored, start) => start.startsWith(stored)),
  starts('starts are compared without spaces at their end', (stored, start) => stored === start.trimEnd()),
  starts('starts take an underscore for any character', (stored, start) => {
    return stored.length === start.length && [...start].every((char, index) => char === '_' || char === stored[index])
  }),
  finds('findApiKeyByStart does not find revoked keys', ({ revokedAt }) => revokedAt === null),
  finds('findApiKeyByStart does not find keys that are expired by the real clock', ({ expiresAt }) => {
    return expiresAt === null || Date.parse(expiresAt) > Date.now()
  }),
  finds('findApiKeyByStart does not find successors', ({ rotatedFrom }) => rotatedFrom === null),
  plant('findApiKey does not find expired keys', class extends PlainStore {
    override async findApiKey (id: string) {
      const key = await super.findApiKey(id)
      return key?.expiresAt != null && Date.parse(key.expiresAt) <= Date.now() ? null : key
    }
  }),
  plant('findApiKey gives no digest', class extends PlainStore {
    override async findApiKey (id: string) {
      const key = await super.findApiKey(id)
      return key === null ? null : { ...key, digest: '' }
    }
  }),
  touches('touchApiKey sets lastUsedAt always', () => true),
  touches('touchApiKey never sets the first lastUsedAt', (last, ifBefore) => last !== null && last <= ifBefore),
  touches('touchApiKey does not set a lastUsedAt that equals ifBefore', (last, ifBefore) => {
    return last === null || last < ifBefore
  }),
  touches('touchApiKey sets the first lastUsedAt only', (last) => last === null),
  touches('touchApiKey compares days', (last, ifBefore) => last === null || last.slice(0, 10) < ifBefore.slice(0, 10)),
  touches('touchApiKey compares seconds', (last, ifBefore) => {
    return last === null || last.slice(0, 19) <= ifBefore.slice(0, 19)
  }),
  touches('touchApiKey compares with the real clock', (last) => last === null || last <= new Date().toISOString()),
  plant('touchApiKey throws for an unknown key', class extends PlainStore {
    override applyTouch (...given: Parameters<PlainStore['applyTouch']>) {
      if (given[1] === null) throw new StorageError('fault', 'no such key')
      super.applyTouch(...given)
    }
  }),
  plant('touchApiKey adds an unknown key', class extends PlainStore {
    override async touchApiKey (...[id, usedAt, ifBefore]: Parameters<PlainStore['touchApiKey']>) {
      await super.touchApiKey(id, usedAt, ifBefore)
      await this.write('', ({ apiKeys }) => apiKeys.has(id), ({ apiKeys }, isKnown) => {
        if (!isKnown) apiKeys.set(id, untyped({ id, lastUsedAt: usedAt, scopes: [] }))
      })
    }
  }),
  plant('touchApiKey leaves revoked keys alone', class extends PlainStore {
    override applyTouch (...given: Parameters<PlainStore['applyTouch']>) {
      if (given[1]?.revokedAt === null) super.applyTouch(...given)
    }
  }),
  plant('touchApiKey writes with the next call only', class extends PlainStore {
    waiting: Array<Parameters<PlainStore['touchApiKey']>> = []

    override async touchApiKey (...given: Parameters<PlainStore['touchApiKey']>) {
      const [last] = this.waiting.splice(0)
      this.waiting.push(given)
      if (last !== undefined) await super.touchApiKey(...last)
    }
  }),
  plant('touchApiKey sets the real time', class extends PlainStore {
    override async touchApiKey (...[id, , ifBefore]: Parameters<PlainStore['touchApiKey']>) {
      await super.touchApiKey(id, new Date().toISOString(), ifBefore)
    }
  }),
  plant('touchApiKey sets ifBefore', class extends PlainStore {
    override async touchApiKey (...[id, , ifBefore]: Parameters<PlainStore['touchApiKey']>) {
      await super.touchApiKey(id, ifBefore, ifBefore)
    }
  }),
  plant('touchApiKey touches the keys of the same name', class extends PlainStore {
    override applyTouch (...given: Parameters<PlainStore['applyTouch']>) {
      const [state, key, usedAt, ifBefore] = given
      for (const other of [...state.apiKeys.values()]) {
        if (other.name === key?.name) super.applyTouch(state, other, usedAt, ifBefore)
      }
    }
  })
]
