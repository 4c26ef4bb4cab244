// How units are committed. One row that all writers write makes them come one after the other, numbers the events in
// the order of commits, and keeps writers from waiting for each other crosswise. Units that wait for the turn share it.
// Who has the turn waits for no lock, so a row that somebody else has locked delays writes of that row alone.

import { setTimeout as delay } from 'node:timers/promises'
import { isStorageError } from '../../../lib/storage/storage-error.ts'
import type { CollectionName, Outcome, Storage, Unit } from '../../../lib/storage/storage.ts'
import { createWriteQueue, writersOf } from '../connection/write-queue.ts'
import type { Access, WriteOptions } from './connections.ts'
import { isConflict } from './driver.ts'
import { REWRITE_MS } from './events.ts'
import { commitUnits, type Made, shapeOf, type Turn } from './rows.ts'
import { isIn, type Query } from './sql.ts'
import type { Tables } from './tables.ts'

// Of more units in one turn, the last ones would wait longer than a write may.
const TOGETHER_MAX = 64
// Each adds to the time that a transaction may take.
const WRITE_MS = 20
// The share of the time for a connection that a unit may wait for those before it, if these fail.
const QUEUE_SHARE = 2 / 3
// Between attempts, where no row can be waited for.
const PAUSE_MAX_MS = 50

const CHANGED: Outcome = { code: 'changed', at: 0 }

/** Sends statements that wait for no lock. */
const atOnce = (query: Query): Query => (sql, values) => query(
  /^(?:INSERT|UPDATE|DELETE)|FOR UPDATE$/.test(sql) ? `SET STATEMENT innodb_lock_wait_timeout = 0 FOR ${sql}` : sql,
  values
)

/** Makes what commits units in one turn. */
function committing (access: Access, tables: Tables, passesLocked: boolean) {
  const { of } = tables
  return (units: readonly Unit[], options: Omit<WriteOptions, 'extraMs'> = {}): Promise<Made[]> => {
    const extraMs = units.reduce((ms, { writes, rewrites }) =>
      ms + WRITE_MS * writes.length + REWRITE_MS * rewrites.length, 0)
    return access.write(async (query) => {
      const { rows: [state] } = await query(`SELECT unique_fields, position FROM ${of('state')} FOR UPDATE`)
      const uniqueFields: string[] = JSON.parse(String(state?.['unique_fields']))
      const turn: Turn = { uniqueFields, position: Number(state?.['position']), passesLocked }
      const made: Made[] = []
      for (let at = 0; at < units.length; at = made.length) {
        const shape = units.slice(at, at + 1).map(shapeOf)[0] ?? null
        const end = units.findIndex((unit, i) => i > at && (shape === null || shapeOf(unit) !== shape))
        const part = units.slice(at, end === -1 ? undefined : end)
        made.push(...await commitUnits(passesLocked ? atOnce(query) : query, tables, part, turn))
      }
      return made
    }, { ...options, extraMs })
  }
}

function outcomeOf (made: Made = CHANGED): Outcome {
  if (made.code === 'locked') throw made.error
  return made
}

/** Commits units inside a transaction of the host's. How long it waits for locks is for the host to say. */
export function committingWithin (access: Access, tables: Tables): Storage['commit'] {
  const commit = committing(access, tables, false)
  return async (units) => (await commit(units)).map(outcomeOf)
}

/**
 * Units that wait while others are committed are committed together. `wait`: milliseconds until work must have a
 * connection.
 */
export function committingTogether (
  access: Access, tables: Tables, { wait, connections }: { wait: number, connections: number }
): Storage['commit'] {
  interface Waiting {
    unit: Unit
    since: number
    shape: string
    isLong: boolean
    resolve: (outcome: Outcome) => void
    reject: (error: unknown) => void
  }
  const commit = committing(access, tables, true)
  const inQueue = createWriteQueue(writersOf(connections))
  const queueMs = QUEUE_SHARE * wait
  const waiting: Waiting[] = []
  let isRunning = false
  let calls = 0

  /** Waits for the rows that a unit writes, then for the turn. Rows that others insert can't be waited for. */
  function apart ({ unit }: Waiting, since: number): Promise<Outcome> {
    const ids = new Map<CollectionName, string[]>()
    for (const { in: name, was } of unit.writes) {
      if (was !== null) ids.set(name, [...ids.get(name) ?? [], was.record.id])
    }
    return inQueue([...ids.values()][0]?.[0] ?? null, since + wait, async () => {
      const begun = performance.now()
      let patience = Infinity
      const first = async (query: Query): Promise<void> => {
        const { rows: [row] } = await query('SELECT @@innodb_lock_wait_timeout AS seconds')
        patience = 1000 * Number(row?.['seconds'])
        for (const [name, each] of ids) {
          const { sql, values } = isIn('id', each)
          await query(`SELECT 1 FROM ${tables.of(name)} WHERE ${sql} FOR UPDATE`, values)
        }
      }
      while (true) {
        const [made] = await commit([unit], { since, first })
        if (made?.code !== 'locked' || performance.now() - begun > patience) return outcomeOf(made)
        await delay(Math.random() * PAUSE_MAX_MS)
      }
    })
  }

  /** After a conflict the database has undone everything. The caller reads again, and decides again. */
  function fail ({ resolve, reject }: Waiting, error: unknown): void {
    if (isConflict(error)) resolve(CHANGED)
    else reject(error)
  }

  async function settle (batch: readonly Waiting[]): Promise<void> {
    const now = performance.now()
    // Units that are many have waited long for each other, and the database answers.
    const since = Math.max(now - queueMs, Math.min(now, ...batch.map((each) => each.since)))
    try {
      const all = await commit(batch.map(({ unit }) => unit), { since })
      for (const [i, each] of batch.entries()) {
        const made = all[i] ?? CHANGED
        if (made.code === 'locked') apart(each, since).then(each.resolve, (error: unknown) => fail(each, error))
        else each.resolve(made)
      }
    } catch (error) {
      // A fault of one is no fault of the others, and has undone all.
      const isAway = isStorageError(error) && error.code === 'unavailable'
      for (const each of batch) {
        if (batch.length > 1 && !isAway) await settle([each])
        else fail(each, error)
      }
      if (isAway) failLate(error)
    }
  }

  /** What fails those before it would fail units that have waited long once they have waited too long. */
  function failLate (error: unknown): void {
    const oldest = performance.now() - queueMs
    while (waiting[0] !== undefined && waiting[0].since < oldest) waiting.shift()?.reject(error)
  }

  async function run (): Promise<void> {
    while (waiting.length > 0) {
      const long = waiting.slice(0, TOGETHER_MAX).findIndex(({ isLong }) => isLong)
      // Nobody waits for one that takes long, but those behind it.
      const taken = waiting.splice(0, long === -1 ? TOGETHER_MAX : Math.max(1, long))
      // Units of the same shape come together, to be one statement. The units of one call keep their order.
      await settle(taken.sort((a, b) => a.shape < b.shape ? -1 : a.shape > b.shape ? 1 : 0))
    }
    isRunning = false
  }

  return (units) => {
    const call = `call ${++calls}`
    const since = performance.now()
    const all = Promise.all(units.map((unit) => new Promise<Outcome>((resolve, reject) => {
      const shape = shapeOf(unit)
      const own = units.length === 1 ? shape ?? call : call
      waiting.push({ unit, since, shape: own, isLong: shape === null, resolve, reject })
    })))
    // What is asked for in this turn of the event loop is there by then.
    if (!isRunning) {
      isRunning = true
      setImmediate(run)
    }
    return all
  }
}
