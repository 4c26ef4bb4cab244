import { StorageError } from '../../lib/errors.ts'
import { MOMENT_MS } from './dialect.ts'
import { isRefused } from './driver-errors.ts'
import type { Param, Row } from './drivers/driver.ts'
import { isSound } from './session.ts'

// A longer group would keep the first who asked waiting.
const MOST = 64
// As long as others wait for a connection.
const PATIENCE_MS = 5000

/** The row of a write, by the id of its user; undefined where there was nothing to write. `alone`: how it is written by itself. */
export type GroupedWrite = (id: string, values: readonly Param[], alone: () => Promise<Row | undefined>) => Promise<Row | undefined>

interface Asked {
  id: string
  values: readonly Param[]
  /** By the clock of `performance.now()`. */
  since: number
  alone: () => Promise<Row | undefined>
  resolve: (row: Row | undefined | Promise<Row | undefined>) => void
  reject: (error: unknown) => void
}

/**
 * Writes together, as one statement, what is asked for while other such statements are under way, `atOnce` of them (group commit): each commit waits for the disk,
 * and each statement has its way to the database. Nobody waits for company: what finds fewer under way goes at the end of the turn. Where the database refuses a
 * group, each of it is written alone, so that nobody fails for what another asked. `writeAll` is never given an id twice.
 */
export function groupWrites (atOnce: number, writeAll: (all: ReadonlyArray<readonly Param[]>) => Promise<Row[]>): GroupedWrite {
  let waiting: Asked[] = []
  let underWay = 0

  /** The next group. Who has waited for too long is told so: a database that is slow, or away, must not gather ever more. */
  function take (): Asked[] {
    const group = new Map<string, Asked>()
    const later: Asked[] = []
    const latest = performance.now() - PATIENCE_MS
    let seen = 0
    for (const asked of waiting) {
      if (group.size === MOST) break
      seen++
      if (asked.since < latest) asked.reject(new StorageError('unavailable', 'the database is too busy to write'))
      else if (group.has(asked.id)) later.push(asked)
      else group.set(asked.id, asked)
    }
    waiting = [...later, ...waiting.slice(seen)]
    return [...group.values()]
  }

  function flush (): void {
    while (waiting.length > 0 && underWay < atOnce) {
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

  async function writeGroup (group: readonly Asked[]): Promise<void> {
    underWay++
    const rows = await writeAll(group.map(({ values }) => values)).catch((error: unknown) => ({ error }))
    underWay--
    // The next ones first: the database writes them while these are answered.
    flush()
    if ('error' in rows) {
      const refused = isRefused(rows.error)
      for (const { alone, resolve, reject } of group) {
        if (refused) resolve(alone())
        else reject(rows.error)
      }
      return
    }
    const written = new Map(rows.map((row) => [row['id'], row]))
    for (const { id, resolve } of group) resolve(written.get(id))
  }

  return (id, values, alone) => {
    // One text that can't be stored would have the whole group refused.
    if (!values.every(isSound)) return alone()
    return new Promise((resolve, reject) => {
      // The first of a turn; where others wait already, the end of a turn or of a group is on its way.
      if (waiting.push({ id, values, since: performance.now(), alone, resolve, reject }) === 1 && underWay < atOnce) setImmediate(flush)
    })
  }
}
