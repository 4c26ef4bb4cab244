import { newId } from '../../lib/core/ids.ts'
import { isStorageError, StorageError } from '../../lib/storage/storage-error.ts'
import type { NewEvent, UserRecord, VersionGuard } from '../../lib/storage/storage.ts'
import { NEW_USER } from '../../lib/storage/user-members.ts'
import type { createUserWrites } from '../../lib/storage/user-loop.ts'
import type { PoolExecutor, Query } from './connection/executor.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { Names } from './tables/names.ts'
import type { Row } from './tables/rows.ts'

// What can a server do? It is tried, in a transaction that is rolled back: that a function exists proves nothing.

/** The server can't do it, or has no such table, function or type where the statement runs. PostgreSQL, appendix A. */
const CANNOT = /^(?:0A000|42P01|42883|42704|42601)$/

const READ_ONLY = '25006'

const TRIAL = 'fastify_users_trial'

/** True if a server has refused what was tried because it is not able to do it. */
export function isUnable (error: unknown): boolean {
  return isStorageError(error) && CANNOT.test(error.driverCode ?? '')
}

/** True if a server could not be tried: it is busy or away. */
export function isAway (error: unknown): boolean {
  return isStorageError(error) && error.code === 'unavailable' && error.driverCode !== READ_ONLY
}

/**
 * The same of making new tables: a right that is denied is not to be had either, and extensions refuse what they don't
 * know as an internal error.
 */
export function isUnableToMigrate (error: unknown): boolean {
  return isUnable(error) || (isStorageError(error) && ['42501', 'XX000'].includes(error.driverCode ?? ''))
}

const ANY: VersionGuard = { ifVersion: null, unlessVersion: [] }

/** Creates a user, changes it and deletes it, each with its event. */
export async function tryWrites ({ write }: Pick<ReturnType<typeof createUserWrites>, 'write'>): Promise<void> {
  const timestamp = new Date().toISOString()
  const id = newId('usr')
  const email = `${id}@fastify-users.invalid`
  const event = (type: string): NewEvent =>
    ({ id: newId('evt'), type, timestamp, actor: null, requestId: null })
  const user: UserRecord = {
    ...{ id, name: 'Trial', email, fields: {}, ...NEW_USER, version: 1, createdAt: timestamp, updatedAt: timestamp }
  }
  const changes = { name: { value: 'Trial of a change', key: 'trial of a change' } }
  const { outcomes } = await write([
    { type: 'create', user, keys: { nameKey: 'trial', emailKey: email }, event: event('user.created') },
    { type: 'update', id, changes, updatedAt: timestamp, guard: ANY, event: event('user.updated') },
    { type: 'delete', id, guard: ANY, event: event('user.deleted'), erase: false }
  ], { atomic: true, idempotency: null })
  if (outcomes.some(({ code }) => code !== 'done')) throw new StorageError('fault', 'a write of the trial was refused')
}

/** Tries something in a transaction of its own, which is rolled back. @throws StorageError that says what has failed */
export async function inTrial ({ transaction }: PoolExecutor, work: (on: Query) => Promise<void>): Promise<void> {
  let isDone = false
  try {
    await transaction(async (on) => {
      await work(on)
      isDone = true
      throw new StorageError('fault', 'rolled back')
    })
  } catch (error) {
    if (!isDone) throw error
  }
}

/**
 * Tries what new tables need of the server, in the transaction that has made them and holds the exclusive lock: writes,
 * which are rolled back, and whether another connection is refused the lock. `apart`: runs a statement on a connection
 * beside the pool.
 * @throws StorageError that says what has failed
 */
export async function tryNewTables (
  on: Query,
  { dialect, names, tryAll, apart }: {
    dialect: Dialect, names: Names, tryAll: (on: Query) => Promise<void>, apart: (sql: string) => Promise<Row[]>
  }
): Promise<void> {
  const { tryLock } = dialect.transaction
  // Where there is no other connection to be had, the lock is believed.
  const [lock] = tryLock === null ? [] : await apart(tryLock(names)).catch(() => [])
  if (lock?.['got'] === 't') throw new StorageError('fault', 'no lock holds', { driverCode: '0A000' })
  await on(`SAVEPOINT ${TRIAL}`)
  await tryAll(on)
  const { number } = dialect.events
  if (number !== null) await on(number(names), [1])
  await on(`ROLLBACK TO SAVEPOINT ${TRIAL}`)
  await on(`RELEASE SAVEPOINT ${TRIAL}`)
  // What a sequence has given stays given otherwise.
  for (const statement of dialect.events.restart(names)) await on(statement)
}
