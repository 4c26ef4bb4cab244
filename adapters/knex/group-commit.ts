import { isStorageError } from '../../lib/errors.ts'
import type { Param, Row } from './drivers.ts'

// A longer group would keep the first who asked waiting.
const MOST = 64
/** Milliseconds that a write may hold up others: those of ours are over by then, and what takes longer waits for a transaction of somebody else's. */
export const MOMENT_MS = 25
// PostgreSQL: what one of the group waited for is locked.
const LOCKED = '55P03'

/** The row of a write, by the id of its user; undefined where there was nothing to write. `alone`: how it is written by itself. */
export type GroupedWrite = (id: string, values: readonly Param[], alone: () => Promise<Row | undefined>) => Promise<Row | undefined>

interface Asked {
  id: string
  values: readonly Param[]
  alone: () => Promise<Row | undefined>
  resolve: (row: Row | undefined | Promise<Row | undefined>) => void
  reject: (error: unknown) => void
}

/** Whether each by itself would fail in the same way, or nobody knows whether the group was written. */
function concernsAll (error: unknown): boolean {
  return isStorageError(error) && error.code === 'unavailable' && error.driverCode !== LOCKED
}

/**
 * Writes together, as one statement, what is asked for while another such statement is under way: each commit waits for the disk, and each statement has its way to
 * the database. Nobody waits for company: what finds none under way goes at the end of the turn. What a group has not written, since it was locked, refused or not
 * there, is written alone: nobody fails, or waits longer than `writeAll` does, for what another asked. `writeAll` is never given an id twice; so many of its
 * statements may be under way.
 */
export function groupWrites (most: number, writeAll: (all: ReadonlyArray<readonly Param[]>) => Promise<Row[]>): GroupedWrite {
  let waiting: Asked[] = []
  let underWay = 0

  function take (): Asked[] {
    const group = new Map<string, Asked>()
    const later: Asked[] = []
    for (const asked of waiting) {
      if (group.size < MOST && !group.has(asked.id)) group.set(asked.id, asked)
      else later.push(asked)
    }
    waiting = later
    return [...group.values()]
  }

  function flush (limit = most): void {
    while (waiting.length > 0 && underWay < limit) {
      const group = take()
      if (group.length > 1) writeGroup(group)
      else group.forEach(writeOne)
    }
  }

  /** For one the plain statement is cheaper. It may wait for a lock, and then the others don't wait for it. */
  function writeOne ({ alone, resolve }: Asked): void {
    underWay++
    let left = false
    const leave = (): void => {
      if (left) return
      left = true
      underWay--
      clearTimeout(timer)
      flush()
    }
    const timer = setTimeout(leave, MOMENT_MS)
    const row = alone()
    row.then(leave, leave)
    resolve(row)
  }

  async function writeGroup (asked: readonly Asked[]): Promise<void> {
    underWay++
    try {
      const rows = await writeAll(asked.map(({ values }) => values))
      underWay--
      // The next ones first: the database writes them while these are answered.
      flush()
      const written = new Map(rows.map((row) => [row['id'], row]))
      for (const { id, alone, resolve } of asked) resolve(written.get(id) ?? alone())
    } catch (error) {
      underWay--
      const all = concernsAll(error)
      // Where the database is away, those who wait don't wait for each other too.
      flush(all ? Infinity : most)
      for (const { alone, resolve, reject } of asked) {
        if (all) reject(error)
        else resolve(alone())
      }
    }
  }

  return (id, values, alone) => new Promise((resolve, reject) => {
    // The first of a turn; where others wait already, the end of a turn or of a group is on its way.
    if (waiting.push({ id, values, alone, resolve, reject }) === 1 && underWay < most) setImmediate(flush)
  })
}
