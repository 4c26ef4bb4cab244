import type { Query } from './connection/executor.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { Param } from './drivers/driver.ts'
import { eventWrites, type RecordEvents } from './events/event-writes.ts'
import type { Names } from './tables/names.ts'

/** By how many users a scope has become larger: empty for all users, or a tenant. */
export interface CountChange { scope: string, users: number }

/** What a change of users writes beside them, in its transaction: events, and numbers where no trigger counts. */
export interface Bookkeeping {
  record: RecordEvents
  /** True if numbers are written, so that a change of users is never one statement alone. */
  readonly countsByHand: boolean
  count (on: Query, changes: readonly CountChange[]): Promise<void>
}

// Writers of one moment seldom take the same row, which each keeps to its commit.
const SLOTS = 16

/** What so many users more of a tenant change; empty or absent: they belong to none. */
export function changesOf (tenant: string | undefined, users: number): CountChange[] {
  return [{ scope: '', users }, ...tenant === undefined || tenant === '' ? [] : [{ scope: tenant, users }]]
}

/** The rows of changes, one for each scope, in the order in which all lock them. */
function rowsOf (changes: readonly CountChange[]): Param[][] {
  const sums = new Map<string, number>()
  for (const { scope, users } of changes) sums.set(scope, (sums.get(scope) ?? 0) + users)
  const slot = Math.floor(Math.random() * SLOTS)
  return [...sums].filter(([, users]) => users !== 0).sort(([a], [b]) => a < b ? -1 : 1)
    .map(([scope, users]) => [scope, slot, users])
}

export function bookkeeping (dialect: Dialect, names: Names): Bookkeeping {
  const { batch, counting: { byHand } } = dialect
  const add = byHand === null ? null : byHand.add(names)
  return {
    record: eventWrites(dialect, names),
    countsByHand: add !== null,
    async count (on, changes) {
      if (add === null) return
      const rows = rowsOf(changes)
      if (rows.length > 0) await on(add, batch.values(rows))
    }
  }
}
