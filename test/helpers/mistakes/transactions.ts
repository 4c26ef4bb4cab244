import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { Outcome, StorageInTransaction } from '../../../lib/storage/storage.ts'
import {
  blindly, inTransaction, joinOf, type Mistake, OK, right, store, turn, units, untyped, writes
} from './wrappers.ts'

/** What is refused for a reason is said to be made. */
const hides = (failed: string, name: string, code: Outcome['code']): Mistake =>
  units(failed, name, async (storage, unit) => {
    const outcome = await right(storage, unit)
    return outcome.code === code ? OK : outcome
  })

const callsBackAtOnce = (failed: string): Mistake =>
  inTransaction(failed, 'it calls back immediately', () => ({ afterCommit: (callback) => callback() }))

const losesEvents = (failed: string): Mistake =>
  inTransaction(failed, 'events are lost in a transaction', ({ commit }) => ({
    commit: (all) => commit(all.map((unit) => ({ ...unit, events: [] })))
  }))

/** Most likely mistakes in transactions of the host's, made on a store on a Knex instance. */
export const transactionMistakes: Mistake[] = [
  inTransaction('join: gives a whole store', 'the log is not there', () => ({ log: untyped(undefined) })),
  losesEvents('join: writes of every collection'),
  inTransaction('join: versions and values', 'versions are not compared in a transaction', (joined) => ({
    commit: (all) => Promise.all(all.map((unit) => blindly(joined, unit)))
  })),
  inTransaction('join: a refusal or a fault', 'a refusal ends the transaction', ({ commit }) => {
    let isOver = false
    return {
      async commit (all) {
        if (isOver) throw new StorageError('fault', 'the transaction is over')
        const outcomes = await commit(all)
        isOver = outcomes.some(({ code }) => code !== 'ok')
        return outcomes
      }
    }
  }),
  inTransaction('join: concurrent units of one', 'units of one moment are one', ({ commit }, storage) => {
    const shared: { waiting?: Promise<Outcome[]> } = Object(sharedOf(storage))
    return {
      async commit (all) {
        shared.waiting ??= commit(all).finally(() => { delete shared.waiting })
        return shared.waiting
      }
    }
  }),
  callsBackAtOnce('join: a unit that is under way'),
  store('join: anything but an open transaction', 'anything is joined', (storage) => ({
    join (transaction): StorageInTransaction {
      try {
        return storage.join?.(transaction) ?? untyped(storage)
      } catch {
        return { ...storage, afterCommit: () => {} }
      }
    }
  })),
  inTransaction('join: a call after the end', 'a late call is made outside', ({ commit }, storage) => ({
    commit: (all) => commit(all).catch(() => storage.commit(all))
  })),
  store('join: a read outside never sees', 'what is put is remembered for reads', (storage) => {
    const known = new Map<string, unknown>()
    return {
      users: { ...storage.users, find: async (id) => untyped(known.get(id) ?? await storage.users.find(id)) },
      join (transaction) {
        const joined = joinOf(storage, transaction)
        return {
          ...joined,
          commit (all) {
            for (const { put } of all.flatMap((unit) => unit.writes)) {
              if (put !== null) known.set(put.record.id, put.record)
            }
            return joined.commit(all)
          }
        }
      }
    }
  }),
  inTransaction('join: afterCommit calls back once', 'the last callback is the first', ({ afterCommit }, storage) => {
    const all: Array<() => void> = Object(sharedOf(storage)).callbacks ??= []
    return {
      afterCommit (callback) {
        if (all.length === 0) afterCommit(() => { for (const each of all.splice(0).reverse()) each() })
        all.push(callback)
      }
    }
  }),
  inTransaction('join: afterCommit of a rolled back', 'callbacks are shared', ({ afterCommit }, storage) => {
    const all: Array<() => void> = Object(sharedOf(storage)).callbacks ??= []
    return {
      afterCommit (callback) {
        all.push(callback)
        afterCommit(() => { for (const each of all.splice(0)) each() })
      }
    }
  }),
  callsBackAtOnce('join: what a savepoint'),

  units('join: a row that others change', 'versions are not compared', (storage, unit) => blindly(storage, unit)),
  hides('join: an address that others take', 'an address that is taken is given again', 'taken'),
  hides('join: a start of a key', 'a start that is taken is given again', 'taken'),
  hides('join: an idempotency key', 'a key that is kept is kept again', 'changed'),
  both('join: of two first keys', 'marks are not kept', (write) => write.in === 'marks' ? null : write),
  both('join: of the last two keys', 'marks are not kept', (write) => write.in === 'marks' ? null : write),
  units('join: a writer of the same row', 'who waits is told that it is done', async (storage, unit) => {
    const made = right(storage, unit)
    return Promise.race([made, new Promise<Outcome>((resolve) => { setTimeout(resolve, 20, OK) })])
  }),
  store('join: a writer of another row', 'nobody writes beside a transaction', (storage) => {
    let open = 0
    return {
      join (transaction) {
        const joined = joinOf(storage, transaction)
        open++
        joined.afterCommit(() => { open-- })
        return joined
      },
      async commit (all) {
        if (open > 0) throw new StorageError('unavailable', 'a transaction is open')
        await turn()
        return storage.commit(all)
      }
    }
  }),
  losesEvents('join: what commits later'),
  losesEvents('join: after a deadlock'),
  inTransaction('join, histories', 'who is put away keeps no address', ({ commit }) => ({
    commit: (all) => commit(all.map((unit) => ({
      ...unit,
      writes: unit.writes.map((write) => write.in === 'trash' && write.put !== null
        ? { ...write, put: { ...write.put, keys: { ...write.put.keys, emailKey: write.put.record.id } } }
        : write)
    })))
  })),
  inTransaction('join: inside a transaction the duties of list hold', 'lists have one row more', ({ list }) => ({
    list: async (of, query) => ({ ...await list(of, query), total: 1 })
  }))
]

/** A mistake in the writes of units, in a transaction and outside. */
function both (failed: string, name: string, change: Parameters<typeof writes>[2]): Mistake {
  const outside = writes(failed, name, change)
  return {
    ...outside,
    make: (storage) => ({
      ...outside.make(storage),
      join: (transaction) => {
        const joined = joinOf(storage, transaction)
        return { ...joined, commit: outside.make(joined).commit }
      }
    })
  }
}

const shared = new WeakMap<object, object>()

/** What the transactions of a store share. */
function sharedOf (storage: object): object {
  const known = shared.get(storage) ?? {}
  shared.set(storage, known)
  return known
}
