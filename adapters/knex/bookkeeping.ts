import { isStorable } from '../../lib/core/text.ts'
import type { EventRecord, UserWrite } from '../../lib/storage/storage.ts'
import type { Query } from './connection/executor.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { Param } from './drivers/driver.ts'
import { type EventWrites, eventWrites } from './events/event-writes.ts'
import type { Names } from './tables/names.ts'

/** By how many users a scope has become larger: empty for all users, or a tenant. */
export interface CountChange { scope: string, users: number }

/** What a change of users writes beside them, in its transaction: events, and numbers where no trigger counts. */
export interface Bookkeeping extends EventWrites {
  /** True if numbers are written, so that a change of users is never one statement alone. */
  readonly countsByHand: boolean
  /** True if whoever writes numbers or events holds up others who do, until its commit. */
  readonly holdsUpOthers: boolean
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
    ...eventWrites(dialect, names),
    countsByHand: add !== null,
    holdsUpOthers: dialect.events.take !== null,
    async count (on, changes) {
      if (add === null) return
      const rows = rowsOf(changes)
      if (rows.length > 0) await on(add, batch.values(rows))
    }
  }
}

/** As how many writes these count for the time that a transaction may take: each event that is erased takes some. */
export async function countOf (
  on: Query,
  writes: readonly UserWrite[],
  { writesToErase }: Bookkeeping
): Promise<number> {
  let count = writes.length
  for (const write of writes) {
    if ('erase' in write && write.erase && isStorable(write.id)) count += await writesToErase(on, write.id)
  }
  return count
}

/**
 * The same for several writes in a transaction: everything is written at its end, in order. Whoever writes a number or
 * takes a position holds up others who do until its commit, and must wait for no row of theirs meanwhile.
 */
export function bookkeepingAtEnd (books: Bookkeeping): Bookkeeping & { write (on: Query): Promise<void> } {
  const changes: CountChange[] = []
  const events: Array<(on: Query) => Promise<void>> = []

  async function write (on: Query): Promise<void> {
    await books.count(on, changes.splice(0))
    for (const record of events.splice(0)) await record(on)
  }

  return {
    ...books,
    write,
    async count (_on, more) { changes.push(...more) },
    async record (_on, all) { events.push((on) => books.record(on, all)) },
    async recordUpdates (_on, all: readonly EventRecord[]) { events.push((on) => books.recordUpdates(on, all)) },
    async erase (on, userId, tenant) {
      await write(on)
      return books.erase(on, userId, tenant)
    }
  }
}
