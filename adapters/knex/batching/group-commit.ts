import { StorageError } from '../../../lib/storage/storage-error.ts'
import { atEndOfTurn } from '../../../lib/core/turn.ts'
import { isRefused } from '../connection/driver-errors.ts'
import type { Batching } from '../connection/executor.ts'
import { isStorableParam } from '../connection/statements.ts'
import { LOCK_WAIT_MS } from '../dialects/dialect.ts'
import type { Param } from '../drivers/driver.ts'
import type { Row } from '../tables/rows.ts'

// A longer group would keep the first write waiting.
const GROUP_MAX = 256

/** Makes one write by itself. `since`: when it was requested, by `performance.now()`. */
type WriteAlone = (since: number) => Promise<Row[]>
/** Makes all writes of a group. `since`: when the oldest was requested, by `performance.now()`. */
type WriteAll<Value> = (all: readonly Value[], since: number) => Promise<Row[]>

/** Writes a row; `undefined` if there was nothing to write. `alone` makes the write by itself. */
export type GroupedWrite<Value> = (id: string, value: Value, alone: WriteAlone) => Promise<Row | undefined>

interface Request<Value> {
  id: string
  value: Value
  /** When it was requested, by `performance.now()`. */
  since: number
  alone: WriteAlone
  resolve: (row: Row | undefined) => void
  reject: (error: unknown) => void
}

/**
 * Group commit: combines writes that are requested while `groups` such statements are running into the next statement,
 * because each commit waits for the disk and each statement costs a round trip. No write waits for others to join it:
 * with fewer statements running, it starts at the end of the turn. If the database refuses a group, each of its writes
 * is made alone, so that none fails because of another. `writeAll` never gets the same id twice.
 */
export function groupCommits<Value> (
  { groups, wait }: Pick<Batching, 'groups' | 'wait'>,
  valuesOf: (value: Value) => readonly Param[],
  writeAll: WriteAll<Value>
): GroupedWrite<Value> {
  let waiting: Array<Request<Value>> = []
  let running = 0
  /** The writes that run alone and that others still wait for, oldest first, with when each began. */
  const singles = new Map<() => void, number>()
  let overtaking: NodeJS.Timeout | undefined

  /** Takes the next group. Writes that have waited too long fail, so that they do not pile up on a slow database. */
  function takeGroup (): Array<Request<Value>> {
    const group = new Map<string, Request<Value>>()
    const later: Array<Request<Value>> = []
    const oldest = performance.now() - wait
    let seen = 0
    for (const request of waiting) {
      if (group.size === GROUP_MAX) break
      seen++
      if (request.since < oldest) request.reject(new StorageError('unavailable', 'the database is too busy to write'))
      else if (group.has(request.id)) later.push(request)
      else group.set(request.id, request)
    }
    waiting = [...later, ...waiting.slice(seen)]
    return [...group.values()]
  }

  function flush (): void {
    while (waiting.length > 0 && running < groups) {
      const group = takeGroup()
      if (group.length > 1) writeGroup(group)
      else group.forEach(writeOne)
    }
    if (waiting.length > 0) overtakeLater()
  }

  /** A single write is cheaper as a plain statement. */
  function writeOne ({ since, alone, resolve, reject }: Request<Value>): void {
    running++
    const leave = (): void => {
      if (!singles.delete(leave)) return
      running--
      flush()
    }
    singles.set(leave, performance.now())
    alone(since).then(([row]) => {
      leave()
      resolve(row)
    }, (error) => {
      leave()
      reject(error)
    })
  }

  /** After `LOCK_WAIT_MS`, others no longer wait for a single write. */
  function overtakeLater (): void {
    const [oldest] = singles
    if (oldest === undefined || overtaking !== undefined) return
    const [leave, began] = oldest
    overtaking = setTimeout(() => {
      overtaking = undefined
      if (performance.now() - began >= LOCK_WAIT_MS) leave()
      if (waiting.length > 0) overtakeLater()
    }, Math.max(1, began + LOCK_WAIT_MS - performance.now()))
  }

  async function writeGroup (group: ReadonlyArray<Request<Value>>): Promise<void> {
    running++
    const oldest = Math.min(...group.map(({ since }) => since))
    const rows = await writeAll(group.map(({ value }) => value), oldest).catch((error: unknown) => ({ error }))
    running--
    // Start the next group first: the database writes it while this group is answered.
    flush()
    if ('error' in rows) {
      const refused = isRefused(rows.error)
      for (const { since, alone, resolve, reject } of group) {
        if (refused) alone(since).then(([row]) => resolve(row), reject)
        else reject(rows.error)
      }
      return
    }
    const written = new Map(rows.map((row) => [row['id'], row]))
    for (const { id, resolve } of group) resolve(written.get(id))
  }

  return (id, value, alone) => {
    // One text that can't be stored would make the database refuse the whole group.
    const since = performance.now()
    if (!valuesOf(value).every(isStorableParam)) return alone(since).then(([row]) => row)
    return new Promise((resolve, reject) => {
      const length = waiting.push({ id, value, since, alone, resolve, reject })
      // If others are waiting, a flush is already due at the end of the turn or of a group.
      if (length > 1) return
      if (running < groups) atEndOfTurn(flush)
      else overtakeLater()
    })
  }
}
