import { StorageError } from '../../lib/storage/storage-error.ts'
import type { Idempotency, NewEvent, UserRecord } from '../../lib/storage/storage.ts'
import type { Executor, Query } from './connection/executor.ts'
import type { Param } from './drivers/driver.ts'
import { type Bookkeeping, changesOf } from './bookkeeping.ts'
import { LOCK_WAIT_MS } from './dialects/dialect.ts'
import { eventValues, userEventValues } from './events/event-writes.ts'
import { idempotencySql } from './idempotency-sql.ts'
import type { Names } from './tables/names.ts'
import type { Row } from './tables/rows.ts'
import { COLUMN_COUNT, COLUMN_NAMES, creationSql } from './user-creation-sql.ts'

type Values = readonly string[]
export type Asked = { waitsFor: string, since: number }

/** A new user, the values of its row, and the event that its creation records: null without an event log. */
export interface Insertion {
  user: UserRecord
  values: Values
  event: NewEvent | null
}

/** @throws StorageError `fault` unless an insertion that nothing refused has added its row */
function requireAdded (rows: readonly Row[]): void {
  if (rows.length > 0) return
  throw new StorageError('fault', 'the database added no user, and gave no error: a trigger of the table leaves it out')
}

/**
 * The writes of new users: each records its events in the same step, by one statement where the database can write to
 * two tables with one, else in a transaction.
 */
export function userInsertions ({ dialect, query, transaction }: Executor, names: Names, books: Bookkeeping) {
  const { find: findKey, claimForBatch: claimKey, setUser: setKeyUser } = idempotencySql(dialect, names)
  const sql = { ...creationSql(dialect, names), findKey, claimKey, setKeyUser }
  const { batch, writesTwoTables, transaction: { lockTimeoutMs } } = dialect
  const tenantAt = COLUMN_NAMES.indexOf('tenant')
  const isAlone = (event: NewEvent | null): boolean => event === null && !books.countsByHand

  /** What is written beside a new user. */
  async function keepBooks (on: Query, { user, event }: Insertion): Promise<void> {
    await books.count(on, changesOf(user.tenant, 1))
    if (event !== null) await books.record(on, [userEventValues(event, user)])
  }

  /** The values of a new user among many, and of its event. */
  function valuesAmongMany ({ user, values, event }: Insertion): Values {
    if (event === null) return values
    return [...values, ...writesTwoTables ? eventValues(event) : userEventValues(event, user)]
  }

  /** A new user alone; undefined if its id or address is taken. */
  async function insert (insertion: Insertion, asked: Asked): Promise<Row | undefined> {
    const { user, values, event } = insertion
    if (isAlone(event)) return (await query(sql.insert, values, asked))[0]
    if (writesTwoTables && event !== null) {
      return (await query(sql.insertRecorded, [...values, ...userEventValues(event, user)], asked))[0]
    }
    return transaction(async (on) => {
      const [row] = await on(sql.insert, values)
      if (row !== undefined) await keepBooks(on, insertion)
      return row
    }, asked)
  }

  /** A new user alone, or the error that says what is taken. @throws StorageError `email_taken`, `field_taken` */
  async function insertOrFail (insertion: Insertion, asked: Asked): Promise<void> {
    const { user, values, event } = insertion
    const options = { savepoint: true, ...asked }
    if (isAlone(event)) requireAdded(await query(sql.insertOrFail, values, options))
    else if (writesTwoTables && event !== null) {
      requireAdded(await query(sql.insertRecordedOrFail, [...values, ...userEventValues(event, user)], options))
    } else {
      await transaction(async (on) => {
        requireAdded(await on(sql.insertOrFail, values))
        await keepBooks(on, insertion)
      }, asked)
    }
  }

  /** Many new users, each by `valuesAmongMany`. Returns the ids of those that were added. */
  async function insertAll (all: ReadonlyArray<readonly Param[]>, since: number, isRecorded: boolean): Promise<Row[]> {
    if (!isRecorded && !books.countsByHand) return query(sql.insertAll, batch.values(all), { retry: false, since })
    if (writesTwoTables && isRecorded) return query(sql.insertAllRecorded, batch.values(all), { retry: false, since })
    return transaction(async (on) => {
      if (!writesTwoTables && lockTimeoutMs !== null) await on(lockTimeoutMs(LOCK_WAIT_MS))
      const rows = await on(sql.insertAll, batch.values(all.map((values) => values.slice(0, COLUMN_COUNT))))
      const added = new Set(rows.map(({ id }) => id))
      const written = all.filter(([id]) => added.has(id))
      await books.count(on, written.flatMap((values) => changesOf(String(values[tenantAt]), 1)))
      if (isRecorded) await books.record(on, written.map((values) => values.slice(COLUMN_COUNT)))
      return rows
    }, { since })
  }

  /** A new user and its idempotency key; false if the key is known. */
  async function insertWithKey (
    insertion: Insertion,
    { key, fingerprint, now, expiresAt }: Idempotency,
    asked: Asked
  ): Promise<boolean> {
    const { user, values, event } = insertion
    const keyValues = [key, fingerprint, JSON.stringify(user), expiresAt, now]
    if (writesTwoTables) {
      const recorded = event === null ? [] : userEventValues(event, user)
      const statement = event === null ? sql.insertWithKey : sql.insertWithKeyRecorded
      const options = { savepoint: true, bounded: true, ...asked }
      return (await query(statement, [...values, ...keyValues, ...recorded], options)).length > 0
    }
    if (dialect.transaction.lockNames !== null) {
      return transaction(async (on) => {
        // The key first: a second call waits for it, and the user's address is not yet taken then.
        if ((await on(sql.claimKey, keyValues)).length === 0) return false
        requireAdded(await on(sql.insertOrFail, values))
        await on(sql.setKeyUser, [key, user.id])
        await keepBooks(on, insertion)
        return true
      }, { bounded: true, ...asked })
    }
    return transaction(async (on) => {
      if ((await on(sql.findKey, [key, now])).length > 0) return false
      // The user first: if the host ends its transaction between the two, no key is left without its user.
      requireAdded(await on(sql.insertOrFail, values))
      await on(sql.insertKey, [...keyValues, user.id])
      await keepBooks(on, insertion)
      return true
    }, asked)
  }

  return { valuesAmongMany, insert, insertOrFail, insertAll, insertWithKey }
}
