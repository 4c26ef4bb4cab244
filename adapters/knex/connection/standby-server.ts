import type { Knex } from 'knex'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { closeBesidePool, discard, openBesidePool, poolOf } from '../drivers/knex-internals.ts'
import type { Names } from '../tables/names.ts'
import { withDeadline } from './deadlines.ts'
import { isConflict, isConnectionLost, toStorageError, waitedTooLong } from './driver-errors.ts'
import type { Batching, Query, Reading } from './executor.ts'
import { narrowing } from './narrow-pool.ts'
import { placeOf, type PrimaryPositions } from './primary-positions.ts'
import { queryOn } from './statements.ts'
import { acquireBy } from './time-limits.ts'
import { OTHER_TABLES, requireTables } from './which-tables.ts'

// Null for a server that is no standby, or no longer.
const STATE = 'SELECT CASE WHEN pg_catalog.pg_is_in_recovery() ' +
  "THEN coalesce(pg_catalog.pg_last_wal_replay_lsn(), '0/0')::text END AS position"
// As that of the primary. The timeline is that of the last restartpoint, or a later one that is received already.
const LINEAGE = "SELECT (pg_catalog.pg_control_system()).system_identifier || ' ' || " +
  'pg_catalog.upper(pg_catalog.lpad(pg_catalog.to_hex(greatest((pg_catalog.pg_control_checkpoint()).timeline_id, ' +
  '(pg_catalog.pg_control_recovery()).min_recovery_end_timeline, ' +
  "(SELECT received_tli FROM pg_catalog.pg_stat_wal_receiver))), 8, '0')) AS lineage"

// A standby that is so slow is no help: the primary answers then.
const CONNECTION_MS = 500
const ANSWER_MS = 1000
/** Milliseconds after which a standby ends a statement, and after which its connection is closed. */
export const STANDBY_STATEMENT_MS = 1500
const TOTAL_MS = 2000

/** A standby, and how far it has come. */
export interface StandbyServer {
  /** True if it is a standby of the primary, answers, and was within the bound when it was last asked. */
  isRight (): boolean
  /** Where it is, at least. */
  place (): number
  /** Where it was at most while `tracked` has read. */
  seen (): number
  /** From now on `tracked` reads nothing that is older than this place. */
  promise (place: number): void
  /** Asks where it is. Never rejects. */
  ask (): Promise<void>
  /** Asks whose standby it is, which tables it has, and where it is. Never rejects. */
  inspect (): Promise<void>
  /**
   * Ends with the work, or rejects when the standby is left alone, so that one that no longer answers holds up nobody
   * for long. `leave`: decides then whether the work may be left.
   */
  untilLeft<Value> (work: Promise<Value>, leave?: () => boolean): Promise<Value>
  /** Reads no older than the bound. */
  plain: Reading
  /** Reads whose place is asked for behind each. */
  tracked: Reading
  /** Refuses a connection on which the server is too old. @throws StorageError `unavailable` */
  requireRecent (query: Query, connection: object): Promise<void>
  /** Notes where the server is, on a connection that has just read. @throws StorageError `unavailable` */
  note (query: Query, connection: object): Promise<void>
  close (): Promise<void>
}

export interface StandbySettings {
  dialect: Dialect
  prepare: boolean
  batching: Batching
  /** Called when it is left alone, and why, or with null when it is right again. */
  onChange: (problem: string | null) => void
}

const PROMOTED = 'it is no longer a standby: it was promoted, and may have writes of its own'

/** A problem without the code of the driver. */
const kindOf = (problem: string | null): string | undefined => problem?.split(' (')[0]

/** Why a server is left alone that has failed; null: because of the read alone. */
function problemOf ({ code, message, driverCode }: StorageError): string | null {
  if (message === PROMOTED || message === OTHER_TABLES) return message
  return code === 'unavailable' && driverCode !== undefined ? `it does not answer (${driverCode})` : null
}

/**
 * Watches a standby, and reads it. Where a server is can only grow on one connection: a standby that restarts after a
 * crash may be further behind than before, and an address may lead to another server. So each connection is asked.
 */
export function createStandbyServer (
  knex: Knex,
  names: Names,
  primary: PrimaryPositions,
  { dialect, prepare, batching, onChange }: StandbySettings
): StandbyServer {
  const pool = narrowing(poolOf(knex))
  /** Where the server of a connection was when it was last asked. */
  const places = new WeakMap<object, number>()
  const requireSameTables = requireTables(names, primary.tables)
  /** Gives up what is being read. */
  const reading = new Set<(error: StorageError) => void>()
  let problem: string | null | undefined
  let lineage: string | null = null
  let place = 0
  let promised = 0
  let seen = 0
  let connection: Promise<object> | null = null
  let asking: Promise<void> | null = null
  let isClosed = false

  function conclude (found: string | null): void {
    const isNew = problem === undefined || kindOf(found) !== kindOf(problem)
    problem = found
    if (found !== null) for (const giveUp of reading) giveUp(new StorageError('unavailable', found))
    if (isNew && !isClosed) onChange(found)
  }

  /** @throws StorageError `unavailable` for a server that is no standby */
  async function placeOn (query: Query, on: object): Promise<number> {
    const [row] = await query(STATE)
    const position = row?.['position'] ?? null
    if (position === null) throw new StorageError('unavailable', PROMOTED)
    const found = placeOf(String(position)) ?? 0
    places.set(on, found)
    return found
  }

  async function requirePlace (query: Query, on: object, wanted: number): Promise<void> {
    await requireSameTables(query, on)
    if ((places.get(on) ?? -1) >= wanted) return
    const found = await placeOn(query, on)
    place = Math.max(place, found)
    if (found < wanted) throw new StorageError('unavailable', 'the standby is too far behind')
  }

  const requireRecent = (query: Query, on: object) => requirePlace(query, on, Math.max(primary.floor(), promised))

  async function note (query: Query, on: object): Promise<void> {
    seen = Math.max(seen, await placeOn(query, on))
  }

  async function readBy (tracks: boolean, [sql, params, options]: Parameters<Reading['read']>) {
    const since = performance.now()
    const on = Object(await acquireBy(pool, since + CONNECTION_MS))
    try {
      const query = queryOn(dialect, on, { prepare, deadline: since + TOTAL_MS })
      await requirePlace(query, on, tracks ? Math.max(primary.floor(), promised) : primary.floor())
      const rows = await query(sql, params, options)
      if (tracks) await note(query, on)
      return rows
    } catch (error) {
      if (Object(error).message === OTHER_TABLES || isConnectionLost(error, names)) discard(on)
      throw error
    } finally {
      await pool.releaseConnection(on)
    }
  }

  function untilLeft<Value> (work: Promise<Value>, leave = () => true): Promise<Value> {
    return new Promise((resolve, reject) => {
      const giveUp = (error: StorageError): void => { if (leave()) reject(error) }
      reading.add(giveUp)
      work.then(resolve, reject).finally(() => reading.delete(giveUp))
    })
  }

  const readingBy = (tracks: boolean): Reading => ({
    dialect,
    batching,
    prepares: prepare,
    async read (...statement) {
      try {
        return await untilLeft(readBy(tracks, statement))
      } catch (thrown) {
        const error = toStorageError(thrown, names)
        const found = isConflict(error) || waitedTooLong(error) ? null : problemOf(error)
        if (found !== null) conclude(found)
        throw error
      }
    }
  })

  async function disconnect (): Promise<void> {
    const ended = connection
    connection = null
    await ended?.then((on) => withDeadline(closeBesidePool(knex, on), dialect, on, performance.now() + ANSWER_MS))
      .catch(() => {})
  }

  /** Works on a connection beside the pool, which may be busy. */
  async function onOwn<Value> (work: (query: Query, on: object) => Promise<Value>): Promise<Value> {
    if (isClosed) throw new StorageError('unavailable', 'the storage is closed')
    connection ??= openBesidePool(knex).then(Object)
    const on = await connection
    return work(queryOn(dialect, on, { deadline: performance.now() + ANSWER_MS }), on)
  }

  function judge (): string | null {
    if (primary.floor() === Infinity) return 'the primary does not answer, so the lag of the standby is unknown'
    const expected = primary.lineage()
    if (expected !== null && lineage !== null && expected !== lineage) return 'it follows another primary or timeline'
    return place < primary.floor() ? 'it is too far behind' : null
  }

  async function askNow (): Promise<void> {
    try {
      place = await onOwn(placeOn)
      const found = judge()
      // New tables of the primary come later to a standby that lags.
      if (found === null) await onOwn(requireSameTables)
      conclude(found)
    } catch (thrown) {
      conclude(problemOf(toStorageError(thrown, names)) ?? 'it does not answer')
      await disconnect()
    }
  }

  function ask (): Promise<void> {
    asking ??= askNow().finally(() => { asking = null })
    return asking
  }

  return {
    isRight: () => problem === null,
    place: () => place,
    seen: () => seen,
    promise (wanted) { promised = Math.max(promised, wanted) },
    ask,
    async inspect () {
      // A role may lack the right to know it.
      lineage = await onOwn((query) => query(LINEAGE)).then(([row]) => String(row?.['lineage']), () => null)
      await ask()
    },
    untilLeft,
    plain: readingBy(false),
    tracked: readingBy(true),
    requireRecent,
    note,
    async close () {
      isClosed = true
      await asking
      await disconnect()
      await knex.destroy()
    }
  }
}
