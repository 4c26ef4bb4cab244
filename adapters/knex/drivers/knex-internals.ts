import type { Knex } from 'knex'
import { StorageError } from '../../../lib/storage/storage-error.ts'

/**
 * Everything that is used of Knex beyond its documented interface. Read in knex 3.3.0.
 * If it changes, `test/adapters/knex-internals.test.ts` or a test of what it is used for fails.
 */

/** The part of Knex's client that lends connections. */
export interface Pool {
  driverName: string
  pool: {
    min: number
    max: number
    idleTimeoutMillis: number
    /** Closes free connections that were idle for so long, but for the least number. */
    check (): void
    numUsed (): number
    numFree (): number
    numPendingCreates (): number
    numPendingAcquires (): number
    destroyed?: boolean
    /** Connections that are free, with the pool's notes of them; the next one that it lends is the last. */
    free?: Array<{ resource: unknown }>
    used?: Array<{ resource: unknown }>
    release (connection: unknown): boolean
    on (event: 'destroyRequest', listener: (id: unknown, connection: unknown) => void): unknown
  }
  acquireConnection (): Promise<unknown>
  releaseConnection (connection: unknown): Promise<void> | void
}

/** The pool of a Knex instance, or of a transaction, which lends its one connection. */
export function poolOf (knex: Knex): Pool {
  return knex.client
}

/**
 * Takes a connection that is free out of a pool of our own, or returns undefined if there is none. `acquireConnection`
 * does the same with three timers and some thirty promises, for what a host may have set and our pools have not: checks
 * that take time, connections of limited life, listeners.
 */
export function takeFree (client: Pool): unknown {
  const { pool }: Partial<Pool> = client
  if (pool === undefined) return undefined
  const { free, used, destroyed = true } = pool
  if (destroyed || free === undefined || used === undefined || pool.numPendingAcquires() > 0) return undefined
  const next = free.at(-1)
  // The pool destroys what was discarded.
  if (next === undefined || isDiscarded(next.resource)) return undefined
  free.pop()
  used.push(next)
  return next.resource
}

/**
 * Gives a connection back to its pool. Nothing waits for it: Knex has released the connection before it returns the
 * promise.
 */
export function giveBack (client: Pool, connection: unknown): void {
  client.releaseConnection(connection)?.catch(() => {})
}

/**
 * How the connections of a pool are used now; none of a pool that was destroyed. A call for which a connection is being
 * opened does not wait for others.
 */
export function connectionsOf (knex: Knex): { used: number, free: number, waiting: number } {
  const { pool }: Partial<Pool> = poolOf(knex)
  if (pool === undefined) return { used: 0, free: 0, waiting: 0 }
  const waiting = Math.max(0, pool.numPendingAcquires() - pool.numPendingCreates())
  return { used: pool.numUsed(), free: pool.numFree(), waiting }
}

/**
 * Has the pool destroy a connection instead of lending it again. Knex marks the connections that fail in the same way.
 */
export function discard (connection: unknown): void {
  if (typeof connection === 'object' && connection !== null) {
    Reflect.set(connection, '__knex__disposed', new Error('discarded'))
  }
}

// Longer than the second between two searches of the pool for idle connections.
const LET_GO_MS = 3000

/** Closes the connections of a pool of our own as soon as they are free. It opens others when it is asked again. */
export function letGo (knex: Knex): void {
  const { pool }: Partial<Pool> = poolOf(knex)
  // It was destroyed, or is letting go already.
  if (pool === undefined || pool.idleTimeoutMillis === 0) return
  const { min, idleTimeoutMillis } = pool
  Object.assign(pool, { min: 0, idleTimeoutMillis: 0 })
  pool.check()
  setTimeout(() => Object.assign(pool, { min, idleTimeoutMillis }), LET_GO_MS).unref()
}

/**
 * Makes the opening of a storage on a pool of our own. If the first one fails, the connections are closed: they would
 * keep a process alive whose host nobody closes.
 */
export function openingOf<Asked, Opened> (knex: Knex, open: (asked?: Asked) => Promise<Opened>) {
  let wasOpen = false
  return async (asked?: Asked): Promise<Opened> => {
    try {
      const opened = await open(asked)
      wasOpen = true
      return opened
    } catch (error) {
      if (!wasOpen) letGo(knex)
      throw error
    }
  }
}

/** True if the pool will destroy the connection. */
export function isDiscarded (connection: unknown): boolean {
  return Object(connection).__knex__disposed !== undefined
}

/** True for a transaction of Knex. */
export function isTransaction (value: unknown): value is Knex.Transaction {
  return typeof value === 'function' && 'isTransaction' in value && value.isTransaction === true &&
    'isCompleted' in value
}

/** The outermost of nested transactions. */
export function outermostOf (transaction: Knex.Transaction): Knex.Transaction {
  return transaction.parentTransaction === undefined ? transaction : outermostOf(transaction.parentTransaction)
}

/** Calls the listener with the text of each statement that Knex sends in a transaction. */
export function onStatement (transaction: Knex.Transaction, listener: (sql: string) => void): void {
  transaction.on('query', ({ sql }: { sql: string }) => listener(sql))
}

/** Knex's client for `sqlite3`, which its custom dialects extend. */
export function sqlite3ClientOf (require: NodeJS.Require): typeof Knex.Client {
  return require('knex/lib/dialects/sqlite3')
}

/** The part of Knex's client that opens connections. */
interface Opener {
  config: { pool?: object, connectionPool?: unknown }
  getPoolSettings (pool: object | undefined): { create (): Promise<unknown> }
  destroyRawConnection (connection: unknown): Promise<unknown>
}

/**
 * Opens a connection that the pool does not know, as the pool opens its own: `afterCreate` prepares it.
 * @throws StorageError `fault` for a pool that Knex was given: it does not know how connections are opened
 */
export async function openBesidePool (knex: Knex): Promise<unknown> {
  const opener: Opener = knex.client
  if (opener.config.connectionPool !== undefined) {
    throw new StorageError('fault', 'a Knex instance on a pool of the host opens no connection beside it')
  }
  return opener.getPoolSettings(opener.config.pool).create()
}

/** Closes such a connection. */
export async function closeBesidePool (knex: Knex, connection: unknown): Promise<void> {
  const opener: Opener = knex.client
  await opener.destroyRawConnection(connection)
}

const ignore = () => {}

/**
 * A logger for our own Knex instances. Errors are thrown to the caller, and Knex's lines can hold SQL and addresses.
 */
export const silentLogger = { warn: ignore, error: ignore, debug: ignore, deprecate: ignore }
