import assert from 'node:assert/strict'
import type { Row, Storage, Unit, UserKeys, UserRecord } from '../../../lib/storage/storage.ts'
import { keysOf } from '../user-keys.ts'

/** The row of a user with all of its keys. */
export type UserRow = Row<'users'> & { keys: UserKeys }

const TOGETHER = 100

/** The row of a user. Keys that are not given are made from the name and the address. */
export function rowOf (record: UserRecord, keys: Partial<UserKeys> = {}): UserRow {
  return { record, keys: { ...keysOf(record), fieldWords: [], ...keys }, of: null }
}

const unitOf = (put: UserRow | null, was: UserRow | null): Unit =>
  ({ writes: [{ in: 'users', put, was }], events: [], rewrites: [] })

async function requireDone (storage: Storage, units: readonly Unit[]): Promise<void> {
  const outcomes = await storage.commit(units)
  assert.equal(outcomes.length, units.length, 'commit: each unit has an outcome')
  assert.deepEqual(outcomes.flatMap((outcome, i) => outcome.code === 'ok' ? [] : [{ outcome, unit: units[i] }]), [])
}

/** Adds users to a store. */
export async function putUsers (storage: Storage, rows: readonly UserRow[]): Promise<void> {
  for (let start = 0; start < rows.length; start += TOGETHER) {
    await requireDone(storage, rows.slice(start, start + TOGETHER).map((row) => unitOf(row, null)))
  }
}

/** Puts the next version of a user in its place, and gives it. */
export async function changeUser (
  storage: Storage, was: UserRow, members: Partial<UserRecord>, keys: Partial<UserKeys> = {}
): Promise<UserRow> {
  const record = { ...was.record, version: was.record.version + 1, ...members }
  // Words of fields that are not given stay as they were.
  const put = { ...was, record, keys: { ...was.keys, ...keysOf(record), ...keys } }
  await requireDone(storage, [unitOf(put, was)])
  return put
}

/** Puts the next version of a user in its place, in the store and in `rows`. */
export async function changeAt (
  storage: Storage, rows: UserRow[], place: number, members: Partial<UserRecord>, keys: Partial<UserKeys> = {}
): Promise<void> {
  const was = rows[place]
  assert.ok(was !== undefined)
  rows[place] = await changeUser(storage, was, members, keys)
}

/** Takes users away. */
export async function dropUsers (storage: Storage, rows: readonly UserRow[]): Promise<void> {
  await requireDone(storage, rows.map((row) => unitOf(null, row)))
}

/** Takes a user away, out of the store and of `rows`, and gives the row. */
export async function dropAt (storage: Storage, rows: UserRow[], place: number): Promise<UserRow> {
  const [row] = rows.splice(place, 1)
  assert.ok(row !== undefined)
  await dropUsers(storage, [row])
  return row
}

/** What became of a user that may be refused. */
export async function outcomeOf (storage: Storage, put: UserRow, was: UserRow | null = null) {
  return (await storage.commit([unitOf(put, was)]))[0]
}
