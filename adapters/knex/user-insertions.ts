import type { Idempotency, NewEvent, UserRecord } from '../../lib/storage/storage.ts'
import type { Executor } from './connection/executor.ts'
import type { Param } from './drivers/driver.ts'
import { eventValues, type EventWrites, userEventValues } from './events/event-writes.ts'
import { idempotencySql } from './idempotency-sql.ts'
import type { Names } from './tables/names.ts'
import type { Row } from './tables/rows.ts'
import { COLUMN_COUNT, creationSql } from './user-creation-sql.ts'

type Values = readonly string[]
export type Asked = { waitsFor: string, since: number }

/** A new user, the values of its row, and the event that its creation records: null without an event log. */
export interface Insertion {
  user: UserRecord
  values: Values
  event: NewEvent | null
}

/**
 * The writes of new users: each records its events in the same step, by one statement where the database can write to
 * two tables with one, else in a transaction.
 */
export function userInsertions ({ dialect, query, transaction }: Executor, names: Names, events: EventWrites) {
  const sql = { ...creationSql(dialect, names), findKey: idempotencySql(dialect, names).find }
  const { batch, writesTwoTables } = dialect

  /** The values of a new user among many, and of its event. */
  function valuesAmongMany ({ user, values, event }: Insertion): Values {
    if (event === null) return values
    return [...values, ...writesTwoTables ? eventValues(event) : userEventValues(event, user)]
  }

  /** A new user alone; undefined if its id or address is taken. */
  async function insert ({ user, values, event }: Insertion, asked: Asked): Promise<Row | undefined> {
    if (event === null) return (await query(sql.insert, values, asked))[0]
    const recorded = userEventValues(event, user)
    if (writesTwoTables) return (await query(sql.insertRecorded, [...values, ...recorded], asked))[0]
    return transaction(async (on) => {
      const [row] = await on(sql.insert, values)
      if (row !== undefined) await events.record(on, [recorded])
      return row
    }, asked)
  }

  /** A new user alone, or the error that says what is taken. @throws StorageError `email_taken`, `field_taken` */
  async function insertOrFail ({ user, values, event }: Insertion, asked: Asked): Promise<void> {
    const options = { savepoint: true, ...asked }
    if (event === null) {
      await query(sql.insertOrFail, values, options)
      return
    }
    const recorded = userEventValues(event, user)
    if (writesTwoTables) await query(sql.insertRecordedOrFail, [...values, ...recorded], options)
    else {
      await transaction(async (on) => {
        await on(sql.insertOrFail, values)
        await events.record(on, [recorded])
      }, asked)
    }
  }

  /** Many new users, each by `valuesAmongMany`. Returns the ids of those that were added. */
  async function insertAll (all: ReadonlyArray<readonly Param[]>, since: number, isRecorded: boolean): Promise<Row[]> {
    if (!isRecorded) return query(sql.insertAll, batch.values(all), { retry: false, since })
    if (writesTwoTables) return query(sql.insertAllRecorded, batch.values(all), { retry: false, since })
    return transaction(async (on) => {
      const rows = await on(sql.insertAll, batch.values(all.map((values) => values.slice(0, COLUMN_COUNT))))
      const added = new Set(rows.map(({ id }) => id))
      await events.record(on, all.filter(([id]) => added.has(id)).map((values) => values.slice(COLUMN_COUNT)))
      return rows
    }, { since })
  }

  /** A new user and its idempotency key; false if the key is known. */
  async function insertWithKey (
    { user, values, event }: Insertion,
    { key, fingerprint, now, expiresAt }: Idempotency,
    asked: Asked
  ): Promise<boolean> {
    const recorded = event === null ? [] : userEventValues(event, user)
    const keyValues = [key, fingerprint, JSON.stringify(user), expiresAt, now]
    if (writesTwoTables) {
      const statement = event === null ? sql.insertWithKey : sql.insertWithKeyRecorded
      const options = { savepoint: true, bounded: true, ...asked }
      return (await query(statement, [...values, ...keyValues, ...recorded], options)).length > 0
    }
    return transaction(async (on) => {
      if ((await on(sql.findKey, [key, now])).length > 0) return false
      // The user first: if the host ends its transaction between the two, no key is left without its user.
      await on(sql.insertOrFail, values)
      await on(sql.insertKey, [...keyValues, user.id])
      if (event !== null) await events.record(on, [recorded])
      return true
    }, asked)
  }

  return { valuesAmongMany, insert, insertOrFail, insertAll, insertWithKey }
}
