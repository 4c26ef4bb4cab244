import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { UserKeys, UserRecord } from '../../../lib/storage/storage.ts'
import { type Mistake, plant, plantKeptUser, withGap } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { State } from './state.ts'

type Created = Parameters<PlainStore['createUser']>

export const writesCreate: Mistake[] = [
  plant('createUser compares e-mail addresses and not their keys', class extends PlainStore {
    override checkCreation (...[state, row, idempotency]: Parameters<PlainStore['checkCreation']>) {
      const keys = { ...row.keys, emailKey: row.user.email }
      return super.checkCreation(state, { user: row.user, keys }, idempotency)
    }
  }),
  plant('createUser demands unique names', class extends PlainStore {
    override checkCreation (...given: Parameters<PlainStore['checkCreation']>) {
      const [state, { keys }] = given
      for (const row of state.users.values()) if (row.keys.nameKey === keys.nameKey) throw this.emailTaken('')
      return super.checkCreation(...given)
    }
  }),
  plant('createUser replaces a user that has the id', class extends PlainStore {
    override requireFreeId () {}
  }),
  plant('createUser gives the first user for an id that exists', class extends PlainStore {
    override async createUser (...given: Created) {
      const user = await this.findUser(given[0].id)
      return user === null ? await super.createUser(...given) : { user, replayed: false }
    }
  }),
  plant('createUser refuses an id that exists as email_taken', class extends PlainStore {
    override requireFreeId (state: State, id: string) {
      if (state.users.has(id)) throw this.emailTaken('')
    }
  }),
  plant('createUser replaces a user that has the e-mail key', class extends PlainStore {
    override requireFreeEmail (state: State, emailKey: string) {
      for (const row of state.users.values()) if (row.keys.emailKey === emailKey) state.users.delete(row.user.id)
    }
  }),
  plant('createUser adds a user with a taken e-mail key', class extends PlainStore {
    override requireFreeEmail () {}
  }),
  plant('createUser leaves the e-mail key taken after a fault', class extends PlainStore {
    claimed = new Set<string>()

    override requireFreeId (state: State, id: string) {
      super.requireFreeId(state, id)
    }

    override async createUser (...given: Created) {
      if (this.claimed.has(given[1].emailKey)) throw this.emailTaken('')
      return await super.createUser(...given).catch((error: unknown) => {
        if (error instanceof StorageError && error.code === 'fault') this.claimed.add(given[1].emailKey)
        throw error
      })
    }
  }),
  plant('createUser leaves a user of a refused e-mail key behind', class extends PlainStore {
    override checkCreation (...given: Parameters<PlainStore['checkCreation']>) {
      const [state, row] = given
      try {
        return super.checkCreation(...given)
      } catch (error) {
        if (!state.users.has(row.user.id)) state.users.set(row.user.id, row)
        throw error
      }
    }
  }),
  plantKeptUser('createUser sets createdAt itself', (user) => ({ ...user, createdAt: new Date().toISOString() })),
  plant('createUser sets updatedAt to createdAt', class extends PlainStore {
    override addUser (...[state, row, idempotency]: Parameters<PlainStore['addUser']>) {
      const user = { ...row.user, updatedAt: row.user.createdAt }
      return super.addUser(state, { user, keys: row.keys }, idempotency)
    }
  }),
  plant('createUser sets version 1 itself', class extends PlainStore {
    override addUser (...[state, row, idempotency]: Parameters<PlainStore['addUser']>) {
      return super.addUser(state, { user: { ...row.user, version: 1 }, keys: row.keys }, idempotency)
    }
  }),
  plant('createUser makes the name key itself without accents', class extends PlainStore {
    override keepKeys (keys: UserKeys) {
      return { ...super.keepKeys(keys), nameKey: keys.nameKey.normalize('NFD').replace(/\p{M}/gu, '') }
    }
  }),
  plant('createUser makes the keys from the values', class extends PlainStore {
    override addUser (...[state, { user }, idempotency]: Parameters<PlainStore['addUser']>) {
      const keys = { emailKey: user.email.toUpperCase(), nameKey: user.name.toUpperCase() }
      return super.addUser(state, { user, keys }, idempotency)
    }
  }),
  plant('an e-mail key stays taken after a deletion', class extends PlainStore {
    used = new Set<string>()

    override removeUser (...given: Parameters<PlainStore['removeUser']>) {
      this.used.add(given[1].keys.emailKey)
      return super.removeUser(...given)
    }

    override requireFreeEmail (state: State, emailKey: string, id: string) {
      if (this.used.has(emailKey)) throw this.emailTaken('')
      super.requireFreeEmail(state, emailKey, id)
    }
  }),
  plant('an id stays taken after a deletion', class extends PlainStore {
    used = new Set<string>()

    override removeUser (...given: Parameters<PlainStore['removeUser']>) {
      this.used.add(given[1].user.id)
      return super.removeUser(...given)
    }

    override requireFreeId (state: State, id: string) {
      if (this.used.has(id)) throw new StorageError('fault', 'another user has the id')
      super.requireFreeId(state, id)
    }
  }),
  plant('concurrent createUser calls take one e-mail key', class extends withGap('createUser') {
    override addUser (...given: Parameters<PlainStore['addUser']>) {
      this.requireFreeId(given[0], given[1].user.id)
      return super.addUser(...given)
    }
  }),
  plant('concurrent createUser calls with one id replace each other', class extends withGap('createUser') {
    override addUser (...given: Parameters<PlainStore['addUser']>) {
      this.requireFreeEmail(given[0], given[1].keys.emailKey, given[1].user.id)
      return super.addUser(...given)
    }
  }),
  plant('a creation takes an e-mail key that an update takes meanwhile', class extends withGap('createUser') {
    override addUser (...given: Parameters<PlainStore['addUser']>) {
      const [state, { user, keys }] = given
      this.requireFreeId(state, user.id)
      for (const other of state.users.values()) {
        if (other.user.version === 1 && other.keys.emailKey === keys.emailKey) throw this.emailTaken('')
      }
      return super.addUser(...given)
    }
  }),
  plant('createUser shows a user before its e-mail key is checked', class extends PlainStore {
    override async createUser (...given: Created) {
      const [user, keys] = given
      const row = { user: this.keepUser(user), keys: this.keepKeys(keys) }
      const isNew = await this.write('', ({ users }) => !users.has(user.id), ({ users }, free) => {
        if (free) users.set(user.id, row)
        return free
      })
      await this.turn()
      await this.turn()
      if (isNew) await this.write('', () => null, ({ users }) => users.delete(user.id))
      return await super.createUser(...given)
    }
  }),
  plant('createUser leaves out fields of more than 50 members', class extends PlainStore {
    override keepUser (user: UserRecord) {
      return super.keepUser(Object.keys(user.fields).length > 50 ? { ...user, fields: {} } : user)
    }
  })
]
