import { type Mistake, plantJoinable } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import { type HostTransaction, type State, Transaction } from './state.ts'

type Callback = () => void

/** A mistake in when afterCommit calls back. */
function calls (title: string, register: (transaction: Transaction, callback: Callback) => void): Mistake {
  return plantJoinable(title, class extends PlainStore {
    override registerCallback (transaction: Transaction, callback: Callback) {
      register(transaction, callback)
    }
  })
}

/** A mistake in how a transaction ends. */
function ends (
  title: string, change: (host: HostTransaction, transaction: Transaction) => Partial<HostTransaction>
): Mistake {
  return plantJoinable(title, class extends PlainStore {
    override async begin () {
      const host = await super.begin()
      const { transaction } = host
      return transaction instanceof Transaction ? { ...host, ...change(host, transaction) } : host
    }
  })
}

/** A mistake in what a rollback leaves. */
function leaves (title: string, leave: (database: State, rolledBack: State) => void): Mistake {
  return ends(title, (host, transaction) => ({
    rollback: async () => {
      const { kept, database } = transaction
      await host.rollback()
      leave(database.state, kept)
    }
  }))
}

export const transactionsEnds: Mistake[] = [
  calls('afterCommit calls back immediately', (_transaction, callback) => callback()),
  calls('afterCommit calls back in the next turn', (_transaction, callback) => { setImmediate(callback) }),
  calls('afterCommit never calls back', () => {}),
  calls('afterCommit keeps the last of two callbacks', (transaction, callback) => {
    transaction.callbacks = [callback]
  }),
  calls('afterCommit keeps the first of two callbacks', ({ callbacks }, callback) => {
    if (callbacks.length === 0) callbacks.push(callback)
  }),
  calls('afterCommit calls back twice', ({ callbacks }, callback) => { callbacks.push(callback, callback) }),
  calls('afterCommit calls back after a rollback too', (transaction, callback) => {
    transaction.ended.then(callback).catch(() => {})
  }),
  plantJoinable('afterCommit calls back with the next commit after a rollback', class extends PlainStore {
    waiting: Callback[] = []

    override registerCallback (transaction: Transaction, callback: Callback) {
      this.waiting.push(callback)
      transaction.callbacks = [() => { for (const each of this.waiting.splice(0)) each() }]
    }
  }),
  plantJoinable('afterCommit of a second join does not call back', class extends PlainStore {
    joined = new WeakSet<Transaction>()

    override inside (transaction: Transaction) {
      const isSecond = this.joined.has(transaction)
      this.joined.add(transaction)
      const store = super.inside(transaction)
      return isSecond ? Object.assign(store, { afterCommit: () => {} }) : store
    }
  }),
  plantJoinable('afterCommit without a write does not call back', class extends PlainStore {
    override registerCallback (transaction: Transaction, callback: Callback) {
      const before = JSON.stringify([...transaction.kept.users])
      transaction.callbacks.push(() => {
        if (JSON.stringify([...transaction.kept.users]) !== before) callback()
      })
    }
  }),
  ends('afterCommit calls back before the commit is visible', (host, transaction) => ({
    commit: async () => {
      for (const callback of transaction.callbacks.splice(0)) callback()
      await new Promise((resolve) => { setImmediate(resolve) })
      await host.commit()
    }
  })),
  ends('afterCommit calls back long before the commit', (host, transaction) => ({
    commit: async () => {
      for (const callback of transaction.callbacks.splice(0)) callback()
      for (let count = 0; count < 5; count++) await new Promise((resolve) => { setImmediate(resolve) })
      await host.commit()
    }
  })),
  ends('a rollback commits', (host) => ({ rollback: () => host.commit() })),
  leaves('a rollback leaves deletions done', ({ users }, kept) => {
    for (const id of [...users.keys()]) if (!kept.users.has(id)) users.delete(id)
  }),
  leaves('a rollback leaves the idempotency keys', ({ idempotency }, kept) => {
    for (const [key, row] of kept.idempotency) idempotency.set(key, row)
  }),
  leaves('a rollback leaves the API keys', ({ apiKeys }, kept) => {
    for (const [id, key] of kept.apiKeys) apiKeys.set(id, key)
  }),
  leaves('a rollback leaves the times of use', ({ apiKeys }, kept) => {
    for (const key of apiKeys.values()) key.lastUsedAt = kept.apiKeys.get(key.id)?.lastUsedAt ?? key.lastUsedAt
  }),
  leaves('a rollback leaves the versions', ({ users }, kept) => {
    for (const { user } of users.values()) user.version = kept.users.get(user.id)?.user.version ?? user.version
  }),
  plantJoinable('a rollback leaves e-mail keys taken', class extends PlainStore {
    taken = new Map<string, string>()

    override putUser (...given: Parameters<PlainStore['putUser']>) {
      this.taken.set(given[1].keys.emailKey, given[1].user.id)
      super.putUser(...given)
    }

    override removeUser (...given: Parameters<PlainStore['removeUser']>) {
      this.taken.delete(given[1].keys.emailKey)
      return super.removeUser(...given)
    }

    override requireFreeEmail (state: State, emailKey: string, id: string) {
      super.requireFreeEmail(state, emailKey, id)
      const holder = this.taken.get(emailKey) ?? id
      if (holder !== id && !state.users.has(holder)) throw this.emailTaken(emailKey)
    }
  }),
  plantJoinable('a user found in a transaction stays in the cache after a rollback', class extends PlainStore {
    cache = new Map<string, string>()

    override async findUser (id: string) {
      const user = await super.findUser(id)
      if (user !== null && this.session instanceof Transaction) this.cache.set(id, JSON.stringify(user))
      if (user === null && this.cache.has(id)) return JSON.parse(this.cache.get(id) ?? '')
      return user
    }

    override removeUser (...given: Parameters<PlainStore['removeUser']>) {
      this.cache.clear()
      return super.removeUser(...given)
    }
  }),
  plantJoinable('a user found outside is found in a transaction that deleted it', class extends PlainStore {
    cache = new Map<string, string>()

    override async findUser (id: string) {
      const user = await super.findUser(id)
      if (!(this.session instanceof Transaction)) this.cache.set(id, JSON.stringify(user))
      return this.session instanceof Transaction && this.cache.has(id) ? JSON.parse(this.cache.get(id) ?? '') : user
    }

    override putUser (...given: Parameters<PlainStore['putUser']>) {
      this.cache.delete(given[1].user.id)
      super.putUser(...given)
    }
  }),
  plantJoinable('others see the writes of an open transaction', class extends PlainStore {
    override async read<T> (step: (state: State) => T) {
      await this.turn()
      return step(this.database.open?.kept ?? this.session.state)
    }
  }),
  plantJoinable('a write outside is lost when a transaction commits', class extends PlainStore {
    override async write<C, T> (_name: string, check: (state: State) => C, apply: (state: State, checked: C) => T) {
      await this.turn()
      return apply(this.session.state, check(this.session.state))
    }
  }),
  plantJoinable('two e-mail keys that are equal are taken in one transaction', class extends PlainStore {
    override requireFreeEmail (state: State, emailKey: string, id: string) {
      super.requireFreeEmail(this.session instanceof Transaction ? this.database.state : state, emailKey, id)
    }
  }),
  plantJoinable('a transaction takes an e-mail key that another user has', class extends PlainStore {
    override requireFreeEmail (state: State, emailKey: string, id: string) {
      if (!(this.session instanceof Transaction)) super.requireFreeEmail(state, emailKey, id)
    }
  }),
  plantJoinable('a store in a transaction checks guards outside of it', class extends PlainStore {
    override requireGuard (...[guard, user]: Parameters<PlainStore['requireGuard']>) {
      super.requireGuard(guard, this.database.state.users.get(user.id)?.user ?? user)
    }
  }),
  plantJoinable('a store in a transaction ignores guards', class extends PlainStore {
    override requireGuard (...given: Parameters<PlainStore['requireGuard']>) {
      if (!(this.session instanceof Transaction)) super.requireGuard(...given)
    }
  }),
  plantJoinable('a store in a transaction finds no idempotency key of its own', class extends PlainStore {
    override firstCreation (...[state, idempotency]: Parameters<PlainStore['firstCreation']>) {
      return super.firstCreation(this.session instanceof Transaction ? this.database.state : state, idempotency)
    }
  }),
  plantJoinable('a store in a transaction keeps no idempotency key', class extends PlainStore {
    override putIdempotency (...given: Parameters<PlainStore['putIdempotency']>) {
      if (!(this.session instanceof Transaction)) super.putIdempotency(...given)
    }
  }),
  plantJoinable('a store in a transaction keeps the last key with a scope as others see it', class extends PlainStore {
    override requireAnother (...[state, ...others]: Parameters<PlainStore['requireAnother']>) {
      super.requireAnother(this.session instanceof Transaction ? this.database.state : state, ...others)
    }
  }),
  plantJoinable('a store in a transaction adds a first key beside its own', class extends PlainStore {
    override hasKeys (state: State) {
      return super.hasKeys(this.session instanceof Transaction ? this.database.state : state)
    }
  })
]
