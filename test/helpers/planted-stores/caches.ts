import type { ApiKeyRecord, UserRecord } from '../../../lib/storage/storage.ts'
import { type Mistake, plant } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { State, UserRow } from './state.ts'

/** Keeps what it found, until a write of the record; what a mistake does not override is right. */
class CachingUsers extends PlainStore {
  users = new Map<string, UserRecord | null>()

  override async findUser (id: string) {
    const user = this.users.get(id) ?? null
    if (user !== null) return this.giveUser(user)
    const found = await super.findUser(id)
    if (found !== null) this.users.set(id, this.giveUser(found))
    return found
  }

  override putUser (state: State, row: UserRow) {
    this.users.delete(row.user.id)
    super.putUser(state, row)
  }

  override removeUser (state: State, row: UserRow) {
    this.users.delete(row.user.id)
    return super.removeUser(state, row)
  }
}

class CachingKeys extends PlainStore {
  keys = new Map<string, ApiKeyRecord>()

  override async findApiKeyByStart (start: string) {
    const key = this.keys.get(start)
    if (key !== undefined) return this.giveKey(key)
    const found = await super.findApiKeyByStart(start)
    if (found !== null) this.keys.set(start, this.giveKey(found))
    return found
  }

  override putKey (state: State, key: ApiKeyRecord) {
    this.keys.delete(key.start)
    super.putKey(state, key)
  }
}

export const userCaches: Mistake[] = [
  plant('findUser gives a user from before its update', class extends CachingUsers {
    override applyUpdate (...given: Parameters<PlainStore['applyUpdate']>) {
      const user = this.users.get(given[1].user.id)
      const result = super.applyUpdate(...given)
      if (user !== undefined) this.users.set(given[1].user.id, user)
      return result
    }
  }),
  plant('findUser gives a user after its deletion', class extends CachingUsers {
    override removeUser (state: State, row: UserRow) {
      const user = this.users.get(row.user.id)
      const removed = super.removeUser(state, row)
      if (user !== undefined) this.users.set(row.user.id, user)
      return removed
    }
  }),
  plant('findUser remembers that there was no user', class extends PlainStore {
    unknown = new Set<string>()

    override async findUser (id: string) {
      const user = this.unknown.has(id) ? null : await super.findUser(id)
      if (user === null) this.unknown.add(id)
      return user
    }
  }),
  plant('findUser keeps what it read before a write that came meanwhile', class extends CachingUsers {
    override async read<T> (step: (state: State) => T) {
      const result = await super.read(step)
      await this.turn()
      return result
    }
  }),
  plant('updateUser puts a refused change into the cache', class extends CachingUsers {
    override checkUpdate (...given: Parameters<PlainStore['checkUpdate']>) {
      const [state, id, { name }] = given
      const row = this.find(state.users, id)
      if (row !== null && name !== undefined) this.users.set(id, { ...row.user, name: name.value })
      return super.checkUpdate(...given)
    }
  }),
  plant('updateUser checks the guard with a cached user', class extends PlainStore {
    seen = new Map<string, UserRecord>()

    override async findUser (id: string) {
      const user = await super.findUser(id)
      if (user !== null && !this.seen.has(id)) this.seen.set(id, this.giveUser(user))
      return user
    }

    override requireGuard (...[guard, user]: Parameters<PlainStore['requireGuard']>) {
      super.requireGuard(guard, this.seen.get(user.id) ?? user)
    }
  }),
  plant('a list of one e-mail key is kept from before an update', class extends PlainStore {
    found = new Map<string, UserRecord[]>()

    override matching (...given: Parameters<PlainStore['matching']>) {
      const { emailKey } = given[1]
      if (emailKey === null) return super.matching(...given)
      const found = this.found.get(emailKey) ?? super.matching(...given)
      if (found.length > 0) this.found.set(emailKey, found)
      return found
    }

    override removeUser (...given: Parameters<PlainStore['removeUser']>) {
      this.found.clear()
      return super.removeUser(...given)
    }
  })
]

export const keyCaches: Mistake[] = [
  plant('findApiKeyByStart gives a key from before its revocation', class extends CachingKeys {
    override applyRevocation (...given: Parameters<PlainStore['applyRevocation']>) {
      const key = this.keys.get(given[1].start)
      const result = super.applyRevocation(...given)
      if (key !== undefined) this.keys.set(key.start, key)
      return result
    }
  }),
  plant('findApiKeyByStart gives a key from before its rotation', class extends CachingKeys {
    override applyRotation (...given: Parameters<PlainStore['applyRotation']>) {
      const key = this.keys.get(given[1].start)
      const result = super.applyRotation(...given)
      if (key !== undefined) this.keys.set(key.start, key)
      return result
    }
  }),
  plant('findApiKeyByStart gives a key from before its use', class extends CachingKeys {
    override applyTouch (...given: Parameters<PlainStore['applyTouch']>) {
      const key = this.keys.get(given[1]?.start ?? '')
      super.applyTouch(...given)
      if (key !== undefined) this.keys.set(key.start, key)
    }
  }),
  plant('findApiKeyByStart remembers that there was no key', class extends PlainStore {
    unknown = new Set<string>()

    override async findApiKeyByStart (start: string) {
      const key = this.unknown.has(start) ? null : await super.findApiKeyByStart(start)
      if (key === null) this.unknown.add(start)
      return key
    }
  }),
  plant('findApiKeyByStart keeps what it read before a revocation that came meanwhile', class extends CachingKeys {
    override async read<T> (step: (state: State) => T) {
      const result = await super.read(step)
      await this.turn()
      return result
    }
  }),
  plant('findApiKey gives a key from before its use', class extends PlainStore {
    keys = new Map<string, ApiKeyRecord>()

    override async findApiKey (id: string) {
      const key = this.keys.get(id)
      if (key !== undefined) return this.giveKey(key)
      const found = await super.findApiKey(id)
      if (found !== null) this.keys.set(id, this.giveKey(found))
      return found
    }

    override applyRevocation (...given: Parameters<PlainStore['applyRevocation']>) {
      this.keys.clear()
      return super.applyRevocation(...given)
    }

    override applyRotation (...given: Parameters<PlainStore['applyRotation']>) {
      this.keys.clear()
      return super.applyRotation(...given)
    }
  }),
  plant('listApiKeys gives keys as they were added', class extends PlainStore {
    added = new Map<string, ApiKeyRecord>()

    override addKey (state: State, key: ApiKeyRecord) {
      this.added.set(key.id, key)
      return super.addKey(state, key)
    }

    override listedKeys (state: State) {
      return super.listedKeys(state).map((key) => this.added.get(key.id) ?? key)
    }
  })
]
