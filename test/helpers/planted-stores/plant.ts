import type { ApiKeyRecord, Json, JsonObject, Storage, UserRecord } from '../../../lib/storage/storage.ts'
import { storageOf } from '../method-store.ts'
import { PlainStore } from './plain-store.ts'
import type { HostTransaction, State } from './state.ts'

export interface Planted {
  storage: Storage
  begin?: () => Promise<HostTransaction>
  destroy?: () => Promise<unknown>
}

export interface Mistake { title: string, create: () => Planted }

type StoreClass = new () => PlainStore

/** A named mistake, from a store that makes it. The store has no transactions. */
export function plant (title: string, Store: StoreClass): Mistake {
  return {
    title,
    create: () => {
      const store = new Store()
      store.supports = { transactions: false, eventLog: false, batches: false }
      return { storage: storageOf(store) }
    }
  }
}

/** A named mistake of a store that has transactions, or says so. */
export function plantJoinable (title: string, Store: StoreClass): Mistake {
  return {
    title,
    create: () => {
      const store = new Store()
      const storage = storageOf(store)
      return store.supports.transactions ? { storage, begin: () => store.begin() } : { storage }
    }
  }
}

/** The value without its type: mistakes give values of other types than they promise. */
export function untyped (value: unknown) {
  return Object({ value }).value
}

/** A store that lets turns of the event loop pass between the check of a method and its write. */
export function withGap (method: string, turns = 1): StoreClass {
  return class extends PlainStore {
    override async write<C, T> (name: string, check: (state: State) => C, apply: (state: State, checked: C) => T) {
      if (name !== method) return await super.write(name, check, apply)
      const checked = await super.write(name, check, (_state, result) => result)
      for (let count = 0; count < turns; count++) await this.turn()
      await this.session.free()
      return apply(this.session.state, checked)
    }
  }
}

/** A mistake in what is kept of a user. */
export function plantKeptUser (title: string, change: (user: UserRecord) => UserRecord): Mistake {
  return plant(title, class extends PlainStore {
    override keepUser (user: UserRecord): UserRecord {
      return super.keepUser(change(user))
    }
  })
}

/** A mistake in what is given of a user. */
export function plantGivenUser (title: string, change: (user: UserRecord) => UserRecord): Mistake {
  return plant(title, class extends PlainStore {
    override giveUser (user: UserRecord): UserRecord {
      return change(super.giveUser(user))
    }
  })
}

/** A mistake in what is kept of an API key. */
export function plantKeptKey (title: string, change: (key: ApiKeyRecord) => ApiKeyRecord): Mistake {
  return plant(title, class extends PlainStore {
    override keepKey (key: ApiKeyRecord): ApiKeyRecord {
      return super.keepKey(change(key))
    }
  })
}

/** A mistake in the values within a user's fields, from the innermost outwards. */
export function plantFields (title: string, change: (value: Json) => Json): Mistake {
  return plantKeptUser(title, (user) => ({ ...user, fields: changeMembers(user.fields, change) }))
}

type Members = Array<[string, Json]>

/** A mistake in the members of a user's fields, at every depth. */
export function plantMembers (title: string, change: (members: Members) => Members): Mistake {
  return plantKeptUser(title, (user) => ({
    ...user,
    fields: Object.fromEntries(change(Object.entries(changeMembers(user.fields, (value) => {
      return isObject(value) ? Object.fromEntries(change(Object.entries(value))) : value
    }))))
  }))
}

export function isObject (value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function changeMembers (members: JsonObject, change: (value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, changeDeep(value, change)]))
}

function changeDeep (value: Json, change: (value: Json) => Json): Json {
  if (Array.isArray(value)) return change(value.map((item) => changeDeep(item, change)))
  return change(isObject(value) ? changeMembers(value, change) : value)
}
