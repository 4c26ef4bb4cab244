import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { StorageInTransaction } from '../../../lib/storage/storage.ts'
import type { MethodStore } from '../method-store.ts'
import { type Mistake, plantJoinable, untyped } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import { type State, Transaction } from './state.ts'

type Joined = MethodStore & Pick<StorageInTransaction, 'afterCommit'>

type Method = 'findUser' | 'listUsers' | 'findApiKey' | 'findApiKeyByStart' | 'listApiKeys' | 'createUser' |
  'updateUser' | 'deleteUser' | 'createApiKey' | 'rotateApiKey' | 'revokeApiKey' | 'touchApiKey'

/** A mistake of stores in a transaction. */
function inside (
  title: string, change: (store: Joined, transaction: Transaction, root: PlainStore) => object
): Mistake {
  return plantJoinable(title, class extends PlainStore {
    override inside (transaction: Transaction): Joined {
      const store = super.inside(transaction)
      return Object.assign(store, change(store, transaction, this))
    }
  })
}

/** Calls of these methods go past the transaction. */
function past (title: string, ...methods: Method[]): Mistake {
  return inside(title, (_store, transaction, root) => {
    const outside: PlainStore = Object.create(root, { session: { value: outsideOf(transaction) } })
    return Object.fromEntries(methods.map((name) => [name, Reflect.get(outside, name).bind(outside)]))
  })
}

/** The database itself, whose writes do not wait for the transaction, and of which it does not forget them. */
function outsideOf (transaction: Transaction) {
  const { database } = transaction
  return { get state () { return database.state }, free: async () => {} }
}

/** A mistake of writes in a transaction that are refused. */
function refused (
  title: string, isMeant: (code: string) => boolean, spoil: (transaction: Transaction, before: State) => void
): Mistake {
  return plantJoinable(title, class extends PlainStore {
    override async write<C, T> (name: string, check: (state: State) => C, apply: (state: State, checked: C) => T) {
      try {
        return await super.write(name, check, apply)
      } catch (error) {
        const isRefusal = error instanceof StorageError && isMeant(error.code)
        if (isRefusal && this.session instanceof Transaction) spoil(this.session, this.database.state)
        throw error
      }
    }
  })
}

function poison (transaction: Transaction): void {
  Object.defineProperty(transaction, 'state', {
    get: () => { throw new StorageError('fault', 'the current transaction is aborted') }, configurable: true
  })
}

export const transactions: Mistake[] = [
  plantJoinable('joinTransaction takes anything', class extends PlainStore {
    override joinTransaction (transaction: unknown) {
      return transaction instanceof Transaction
        ? super.joinTransaction(transaction)
        : Object.assign(Object.create(this), { afterCommit: () => {} })
    }
  }),
  plantJoinable('joinTransaction takes null', class extends PlainStore {
    override joinTransaction (transaction: unknown) {
      return transaction === null
        ? Object.assign(Object.create(this), { afterCommit: () => {} })
        : super.joinTransaction(transaction)
    }
  }),
  plantJoinable('joinTransaction throws a StorageError for another value', class extends PlainStore {
    override joinTransaction (transaction: unknown) {
      if (transaction instanceof Transaction) return super.joinTransaction(transaction)
      throw new StorageError('fault', 'not a transaction')
    }
  }),
  plantJoinable('joinTransaction gives a promise', class extends PlainStore {
    override joinTransaction (transaction: unknown) {
      return untyped(Promise.resolve(super.joinTransaction(transaction)))
    }
  }),
  plantJoinable('joinTransaction takes a transaction that is committed', class extends PlainStore {
    override joinTransaction (transaction: unknown) {
      return transaction instanceof Transaction ? this.inside(transaction) : super.joinTransaction(transaction)
    }
  }),
  plantJoinable('joinTransaction throws an Error for a transaction that has ended', class extends PlainStore {
    override joinTransaction (transaction: unknown) {
      if (transaction instanceof Transaction && !transaction.isOpen) throw new Error('the transaction has ended')
      return super.joinTransaction(transaction)
    }
  }),
  plantJoinable('joinTransaction works though it is said to be missing', class extends PlainStore {
    override supports = { transactions: false, eventLog: false, batches: false }

    override joinTransaction () {
      return Object.assign(Object.create(this), { afterCommit: () => {} })
    }
  }),
  plantJoinable('joinTransaction is missing and throws a StorageError', class extends PlainStore {
    override supports = { transactions: false, eventLog: false, batches: false }

    override joinTransaction (): never {
      throw new StorageError('fault', 'transactions are not supported')
    }
  }),
  plantJoinable('joinTransaction is missing and gives null', class extends PlainStore {
    override supports = { transactions: false, eventLog: false, batches: false }

    override joinTransaction () {
      return untyped(null)
    }
  }),
  plantJoinable('joinTransaction throws though it is said to work', class extends PlainStore {
    override joinTransaction (): never {
      throw new TypeError('transactions are not supported')
    }
  }),
  past('a store in a transaction reads users outside of it', 'findUser'),
  past('a store in a transaction lists users outside of it', 'listUsers'),
  past('a store in a transaction finds API keys outside of it', 'findApiKey'),
  past('a store in a transaction finds API keys by start outside of it', 'findApiKeyByStart'),
  past('a store in a transaction lists API keys outside of it', 'listApiKeys'),
  past('a store in a transaction creates users on its own', 'createUser'),
  past('a store in a transaction updates on its own', 'updateUser'),
  past('a store in a transaction deletes on its own', 'deleteUser'),
  past('a store in a transaction creates API keys on its own', 'createApiKey'),
  past('a store in a transaction rotates on its own', 'rotateApiKey'),
  past('a store in a transaction revokes on its own', 'revokeApiKey'),
  past('a store in a transaction touches on its own', 'touchApiKey'),
  past(
    'a store in a transaction has nothing to do with it',
    'findUser', 'listUsers', 'createUser', 'updateUser', 'deleteUser'
  ),
  refused('a taken e-mail key poisons the transaction', (code) => code === 'email_taken', poison),
  refused('a version_mismatch poisons the transaction', (code) => code === 'version_mismatch', poison),
  refused('a reused idempotency key poisons the transaction', (code) => code === 'idempotency_key_reused', poison),
  refused('a refusal of an API key poisons the transaction', (code) => /api_key|admin/.test(code), poison),
  refused('a refusal undoes what the transaction wrote before', () => true, (transaction, before) => {
    transaction.kept = before.copy()
  }),
  refused('a refusal rolls the transaction back', () => true, (transaction) => {
    transaction.finish()
  }),
  refused('a refusal commits the transaction', () => true, (transaction) => {
    transaction.database.state = transaction.kept
    transaction.finish()
  }),
  inside('a store in a transaction has no afterCommit', () => ({ afterCommit: undefined })),
  inside('a store in a transaction has no name', () => ({ name: undefined })),
  plantJoinable('a store in a transaction lacks the methods of its class', class extends PlainStore {
    override inside (transaction: Transaction) {
      const { afterCommit, close } = super.inside(transaction)
      return untyped({ ...this, session: transaction, afterCommit, close })
    }
  }),
  inside('closing a store in a transaction rolls it back', (_store, transaction) => ({
    close: () => transaction.rollback()
  })),
  inside('closing a store in a transaction commits it', (_store, transaction) => ({
    close: () => transaction.commit()
  })),
  inside('closing a store in a transaction throws', () => ({
    close: async () => { throw new Error('a store in a transaction can not be closed') }
  })),
  inside('closing a store in a transaction closes the store', (_store, _transaction, root) => ({
    close: async () => {
      root.read = async () => { throw new StorageError('unavailable', 'the store is closed') }
    }
  })),
  inside('a store in a transaction does not work after its close', (store) => ({
    close: async () => {
      Object.assign(store, { findUser: async () => { throw new StorageError('unavailable', 'the store is closed') } })
    }
  })),
  inside('writes in a transaction are never committed', (store, transaction) => {
    transaction.commit = async () => {
      transaction.finish()
      for (const callback of transaction.callbacks) callback()
    }
    return store
  }),
  plantJoinable('each join of one transaction sees its own writes only', class extends PlainStore {
    override inside (transaction: Transaction) {
      const own = new Transaction(transaction.database)
      transaction.kept = own.kept
      own.callbacks = transaction.callbacks
      return super.inside(own)
    }
  })
]
