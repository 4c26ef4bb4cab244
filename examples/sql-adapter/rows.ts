import {
  type CollectionName, type Outcome, type Row as StoredRow, type RowKey, type RowsQuery, type RowWrite, StorageError,
  type Unit
} from 'fastify-users/storage'
import { type Query, type Row, Violation } from './database.ts'
import { addEvents, rewriteEvents } from './events.ts'
import { allOf, isIn, type Selection, type Sql, sqlOf } from './pages.ts'
import { type Listed, MEMBERS, snake } from './tables.ts'
import { putFields, putWords, userColumns } from './users.ts'

type Refusal = { code: 'changed' } | Omit<Outcome & { code: 'taken' }, 'at'>

/** The columns of a row of any collection but users. */
function columnsOf (name: Listed, { record, keys, of }: StoredRow<Listed>): Record<string, unknown> {
  return {
    id: record.id,
    version: record.version,
    tenant: record.tenant ?? '',
    owner: of,
    found_by: keys && JSON.stringify(keys),
    record: JSON.stringify(record),
    ...Object.fromEntries(MEMBERS[name].map((member) => [snake(member), Reflect.get(record, member)]))
  }
}

export function rowIn (row: Row) {
  const keys = row['found_by'] === null ? null : JSON.parse(String(row['found_by']))
  return { record: JSON.parse(String(row['record'])), keys, of: row['owner'] === null ? null : String(row['owner']) }
}

/** The condition that the row is the one that a write replaces. */
function isStill (name: CollectionName, { record }: StoredRow<CollectionName>): Sql {
  const { id, version, tenant = '' } = record
  const guard = sqlOf('id = ? AND version = ? AND tenant = ?', id, version, tenant)
  return name === 'users' ? allOf([guard, sqlOf('updated_at = ?', record.updatedAt)]) : guard
}

/** Makes a write. False: the row is not the one that it replaces. */
async function make (query: Query, write: RowWrite, uniqueFields: readonly string[]): Promise<boolean> {
  const { in: name, put, was } = write
  const table = snake(name)
  const guard = was === null ? null : isStill(name, was)
  if (put === null) {
    // What is of the row goes by the foreign key.
    return guard !== null && (await query(`DELETE FROM ${table} WHERE ${guard.sql}`, guard.values)).count > 0
  }
  const all = Object.entries(name === 'users' ? userColumns(put) : columnsOf(name, put))
  const values = all.map(([, value]) => value)
  // MySQL counts rows that an UPDATE leaves as they are only with the flag FOUND_ROWS of the connection.
  const { count } = guard === null
    ? await query(`INSERT INTO ${table} (${all.map(([column]) => column).join(', ')}) ` +
      `VALUES (${all.map(() => '?').join(', ')})`, values)
    : await query(`UPDATE ${table} SET ${all.map(([column]) => `${column} = ?`).join(', ')} WHERE ${guard.sql}`,
      [...values, ...guard.values])
  if (count === 0) return false
  if (name !== 'users') return true
  const { record, keys: { nameWords, emailWords, fieldWords } } = put
  await putFields(query, record, uniqueFields)
  for (const [kind, words] of Object.entries({ nameWords, emailWords, fieldWords })) {
    if (words !== undefined) await putWords(query, record.id, kind, words)
  }
  return true
}

/** What a constraint has refused. PostgreSQL looks at the primary key first, and at foreign keys last. */
function refusalOf ({ constraint }: Violation): Refusal | null {
  if (constraint === 'users_email') return { code: 'taken', member: 'emailKey' }
  if (constraint === 'api_keys_start') return { code: 'taken', member: 'start' }
  if (constraint === 'user_groups_name_key') return { code: 'taken', member: 'nameKey' }
  if (constraint.startsWith('field ')) return { code: 'taken', member: { field: constraint.slice('field '.length) } }
  return /_(?:pkey|fkey)$/.test(constraint) && !constraint.startsWith('events') ? { code: 'changed' } : null
}

/** True if the row that refuses the last write can't be seen: a host's transaction may read an older snapshot. */
async function isUnseen (query: Query, { constraint }: Violation, writes: readonly RowWrite[]): Promise<boolean> {
  const last = writes.at(-1)
  if (last === undefined || last.was !== null || last.put === null || !constraint.endsWith('_pkey')) return false
  const { id } = last.put.record
  return !writes.slice(0, -1).some(({ put }) => put?.record.id === id) &&
    (await findRows(query, last.in, [{ id }]))[0] === null
}

/** Makes a unit inside a transaction, which goes on whatever became of it. */
export async function commitUnit (query: Query, { writes, events, rewrites }: Unit): Promise<Outcome> {
  const { rows: [state] } = await query('SELECT unique_fields FROM state')
  const uniqueFields: string[] = JSON.parse(String(state?.['unique_fields']))
  let at = 0
  await query('SAVEPOINT unit')
  try {
    for (const write of writes) {
      if (!await make(query, write, uniqueFields)) throw new Violation('_pkey')
      at++
    }
    await addEvents(query, events)
    for (const each of rewrites) await rewriteEvents(query, each, Infinity)
    await query('RELEASE SAVEPOINT unit')
    return { code: 'ok' }
  } catch (error) {
    await query('ROLLBACK TO SAVEPOINT unit').catch(() => {})
    const refusal = error instanceof Violation ? refusalOf(error) : null
    if (refusal === null) throw error
    if (error instanceof Violation && await isUnseen(query, error, writes.slice(0, at + 1))) {
      throw new StorageError('unavailable', 'another transaction has added a row that this one cannot see', {
        driverCode: '40001'
      })
    }
    return { ...refusal, at }
  }
}

/** The rows with these keys, in their order. */
export async function findRows (query: Query, name: CollectionName, keys: readonly RowKey[]) {
  const found = new Map<string, Row>()
  for (const column of ['id', 'start']) {
    const values = keys.flatMap((key) => Object.entries(key)).flatMap(([by, value]) => by === column ? [value] : [])
    if (values.length === 0) continue
    const { sql } = isIn(column, values)
    const { rows } = await query(`SELECT * FROM ${snake(name)} WHERE ${sql}`, values)
    for (const row of rows) found.set(JSON.stringify([column, row[column]]), row)
  }
  return keys.map((key) => found.get(JSON.stringify(Object.entries(key)[0])) ?? null)
}

/** A page of a collection. */
export function rowsPage (name: Listed, { tenant, of, where, upTo, without, by, page }: RowsQuery): Selection {
  const { order, limit, from } = page
  return {
    columns: 'record, found_by, owner',
    from: sqlOf(snake(name)),
    where: allOf([
      ...tenant === undefined ? [] : [sqlOf('tenant = ?', tenant ?? '')],
      ...of === undefined ? [] : [sqlOf('owner = ?', of)],
      ...where === undefined ? [] : [isIn(snake(where.member), where.values)],
      ...upTo === undefined ? [] : [sqlOf(`${snake(upTo.member)} ${upTo.isBelow ? '<' : '<='} ?`, upTo.value)],
      ...without === undefined ? [] : [sqlOf(`${snake(without)} IS NULL`)]
    ]),
    behind: 'after' in from ? sqlOf(`id ${order === 'asc' ? '>' : '<'} ?`, from.after) : sqlOf('1 = 1'),
    order: by === undefined
      ? `id ${order}`
      : `CASE WHEN ${snake(by)} IS NULL THEN 1 ELSE 0 END, ${snake(by)} ${order}, id ${order}`,
    limit,
    offset: 'offset' in from ? from.offset : 0
  }
}
