import type {
  CollectionName, EventLog, Outcome, Row, RowKey, RowsQuery, RowWrite, Storage, StorageInTransaction, Unit, UserFilter
} from '../../../lib/storage/storage.ts'

export { setImmediate as turn } from 'node:timers/promises'

/** A store that is right but for one thing, and the beginning of the name of the duty that must fail on it. */
export interface Mistake {
  name: string
  make: (storage: Storage) => Storage
  failed: string
}

type Listed = Exclude<CollectionName, 'users'>
type AnyRow = Row<CollectionName>

export const OK: Outcome = { code: 'ok' }
export const ALL = { order: 'asc', limit: 10_000, from: { offset: 0 } } as const
export const EVERYONE: UserFilter = { emailKey: null, words: null, fields: {} }

/** The value without its type: mistakes give values of other types than they promise. */
export const untyped = (value: unknown) => Object({ value }).value

/** Makes one unit as the store does. */
export const right = async (storage: Storage, unit: Unit): Promise<Outcome> => (await storage.commit([unit]))[0] ?? OK

/** A mistake in the store. */
export const store = (failed: string, name: string, wrong: (storage: Storage) => Partial<Storage>): Mistake =>
  ({ name, failed, make: (storage) => ({ ...storage, ...wrong(storage) }) })

/** A mistake in how units are made, each by itself. */
export function units (
  failed: string, name: string, wrong: (storage: Storage, unit: Unit) => Promise<Outcome>
): Mistake {
  return store(failed, name, (storage) => ({ commit: (all) => Promise.all(all.map((unit) => wrong(storage, unit))) }))
}

/** A mistake in the writes of units. */
export const writes = (
  failed: string, name: string, change: (write: RowWrite) => RowWrite | null
): Mistake => units(failed, name, (storage, unit) =>
  right(storage, { ...unit, writes: unit.writes.flatMap((write) => change(write) ?? []) }))

/** A mistake in what is kept of rows of a collection. */
export const keeps = (
  failed: string, name: string, of: CollectionName, change: (record: Record<string, unknown>) => object
): Mistake => writes(failed, name, (write) => write.in !== of || write.put === null
  ? write
  : untyped({ ...write, put: { ...write.put, record: { ...write.put.record, ...change({ ...write.put.record }) } } }))

/** A mistake in look-ups. */
export function finds (
  failed: string,
  name: string,
  wrong: (rows: Array<AnyRow | null>, keys: readonly RowKey[], of: CollectionName) => unknown
): Mistake {
  return store(failed, name, ({ find }) => ({
    find: async (of, keys) => untyped(wrong(untyped(await find(of, keys)), keys, of))
  }))
}

type List = (query: RowsQuery) => Promise<{ items: AnyRow[], total: number }>

/** A mistake in lists. */
export function lists (
  failed: string,
  name: string,
  wrong: (list: List, query: RowsQuery, of: Listed) => unknown
): Mistake {
  return store(failed, name, ({ list }) => ({
    list: async (of, query) => untyped(await wrong(async (asked) => untyped(await list(of, asked)), query, of))
  }))
}

/** A mistake in the log. `log` is the right one, whose methods need it. */
export function logs (
  failed: string, name: string, wrong: (log: EventLog, storage: Storage) => Partial<EventLog>
): Mistake {
  return store(failed, name, (storage) => {
    const { log } = storage
    const whole: EventLog = {
      read: (request) => log.read(request),
      history: (subject, page) => log.history(subject, page),
      find: (id) => log.find(id),
      before: (id, tenant) => log.before(id, tenant),
      rewrite: (rewrite, limit) => log.rewrite(rewrite, limit),
      prune: (before, limit) => log.prune(before, limit),
      pruned: () => log.pruned()
    }
    return { log: { ...whole, ...wrong(whole, storage) } }
  })
}

/** The row that a write would meet. */
export const present = async (storage: Storage, { in: of, put, was }: RowWrite): Promise<AnyRow | null> =>
  (await storage.find(of, [{ id: put?.record.id ?? was?.record.id ?? '' }]))[0] ?? null

/** Makes a unit whatever is there, but what `judge` refuses. */
export async function blindly (
  storage: Storage, unit: Unit, judge: (there: AnyRow | null, write: RowWrite) => boolean = () => true
): Promise<Outcome> {
  while (true) {
    const forced: RowWrite[] = []
    for (const [at, write] of unit.writes.entries()) {
      const there = await present(storage, write)
      if (!judge(there, write)) return { code: 'changed', at }
      if (there !== null || write.put !== null) forced.push(untyped({ ...write, was: there }))
    }
    const outcome = await right(storage, { ...unit, writes: forced })
    // Somebody was faster.
    const refused = outcome.code === 'changed' ? unit.writes[outcome.at] : undefined
    if (refused === undefined || (refused.was === null && refused.put?.of != null)) return outcome
  }
}

/** True if a write names the version that is there. */
export const isPresent = (there: AnyRow | null, { was }: RowWrite): boolean =>
  there?.record.version === was?.record.version

/** Joins a transaction of the host's, as the store does. */
export function joinOf (storage: Storage, transaction: unknown): StorageInTransaction {
  const joined = storage.join?.(transaction)
  if (joined === undefined) throw new TypeError('no transactions')
  return joined
}

/** A mistake in a transaction of the host's, on a Knex instance. */
export function inTransaction (
  failed: string, name: string, wrong: (joined: StorageInTransaction, storage: Storage) => Partial<StorageInTransaction>
): Mistake {
  return store(failed, name, (storage) => ({
    join (transaction) {
      const joined = joinOf(storage, transaction)
      return { ...joined, ...wrong(joined, storage) }
    }
  }))
}
