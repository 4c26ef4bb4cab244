// Rows of collections: how they are written, found and listed.

import type {
  CollectionName, Outcome, Row as StoredRow, RowKey, RowsQuery, RowWrite, Unit
} from '../../../lib/storage/storage.ts'
import { Violation } from './driver.ts'
import { addEvents, rewriteEvents } from './events.ts'
import { allOf, isIn, type Query, type Row, type Selection, type Sql, sqlOf } from './sql.ts'
import { type Listed, MEMBERS, snake, type Tables } from './tables.ts'
import { putSearched, userColumns } from './users.ts'

/** The columns of a row of any collection but users. */
function columnsOf (name: Listed, { record, keys, of }: StoredRow<Listed>): Record<string, unknown> {
  return {
    id: record.id,
    version: record.version,
    tenant: record.tenant ?? '',
    owner: of,
    found_by: keys && JSON.stringify(keys),
    record: JSON.stringify(record),
    ...Object.fromEntries(Object.keys(MEMBERS[name]).map((member) => [snake(member), Reflect.get(record, member)]))
  }
}

export function rowIn (row: Row) {
  const keys = row['found_by'] == null ? null : JSON.parse(row['found_by'])
  return { record: JSON.parse(String(row['record'])), keys, of: row['owner'] ?? null }
}

/** The condition that the row is the one that a write replaces. */
function isStill (name: CollectionName, { record }: StoredRow<CollectionName>): Sql {
  const { id, version, tenant = '' } = record
  const guard = sqlOf('id = ? AND version = ? AND tenant = ?', id, version, tenant)
  return name === 'users' ? allOf([guard, sqlOf('updated_at = ?', record.updatedAt)]) : guard
}

const NOT_THERE = '_fkey'

/** Makes a write. @throws Violation also if the row is not the one that it replaces */
async function make (query: Query, tables: Tables, write: RowWrite, uniqueFields: readonly string[]): Promise<void> {
  const { in: name, put, was } = write
  const table = tables.of(name)
  const guard = was === null ? null : isStill(name, was)
  const all = put === null ? [] : Object.entries(name === 'users' ? userColumns(put) : columnsOf(name, put))
  const values = all.map(([, value]) => value)
  const { count } = guard === null
    ? await query(`INSERT INTO ${table} (${all.map(([column]) => column).join(', ')}) ` +
      `VALUES (${all.map(() => '?').join(', ')})`, values)
    : put === null
      // What is of the row goes by the foreign key.
      ? await query(`DELETE FROM ${table} WHERE ${guard.sql}`, guard.values)
      : await query(`UPDATE ${table} SET ${all.map(([column]) => `${column} = ?`).join(', ')} WHERE ${guard.sql}`,
        [...values, ...guard.values])
  if (count === 0) throw new Violation(NOT_THERE)
  if (name === 'users' && put !== null) await putSearched(query, tables, put, was, uniqueFields)
}

/** What a key has refused. */
function refusalOf ({ key }: Violation): { code: 'changed' } | Omit<Outcome & { code: 'taken' }, 'at'> | null {
  if (key === 'users_email') return { code: 'taken', member: 'emailKey' }
  if (key === 'api_keys_start') return { code: 'taken', member: 'start' }
  if (key === 'user_groups_name') return { code: 'taken', member: 'nameKey' }
  if (key.startsWith('field ')) return { code: 'taken', member: { field: key.slice('field '.length) } }
  return key === 'PRIMARY' || key.endsWith('_fkey') ? { code: 'changed' } : null
}

/** The users that units add to tenants, or take from them. */
function counted (writes: readonly RowWrite[]): Map<string, number> {
  const counts = new Map<string, number>()
  const add = (row: StoredRow<'users'> | null, by: number): void => {
    if (row === null) return
    const { tenant = '' } = row.record
    counts.set(tenant, (counts.get(tenant) ?? 0) + by)
  }
  for (const write of writes) {
    if (write.in !== 'users') continue
    add(write.put, 1)
    add(write.was, -1)
  }
  return counts
}

/** What writers of units share in a transaction: the state that they have locked. */
export interface Turn { uniqueFields: readonly string[], position: number }

/** Makes a unit inside a transaction, which goes on whatever became of it. */
export async function commitUnit (
  query: Query, tables: Tables, { writes, events, rewrites }: Unit, turn: Turn
): Promise<Outcome> {
  let at = 0
  await query('SAVEPOINT fastify_users_unit')
  try {
    for (const write of writes) {
      await make(query, tables, write, turn.uniqueFields)
      at++
    }
    for (const [tenant, users] of counted(writes)) {
      if (users === 0) continue
      await query(`INSERT INTO ${tables.of('userCounts')} (tenant, users) VALUES (?, ?) ` +
        'ON DUPLICATE KEY UPDATE users = users + VALUES(users)', [tenant, users])
    }
    await addEvents(query, tables, events, turn.position)
    for (const each of rewrites) await rewriteEvents(query, tables, each, Infinity)
    await query('RELEASE SAVEPOINT fastify_users_unit')
    turn.position += events.length
    return { code: 'ok' }
  } catch (error) {
    const refusal = error instanceof Violation ? refusalOf(error) : null
    await query('ROLLBACK TO SAVEPOINT fastify_users_unit').catch(() => {})
    if (refusal === null) throw error
    return { ...refusal, at }
  }
}

/** The rows with these keys, in their order. */
export async function findRows (query: Query, tables: Tables, name: CollectionName, keys: readonly RowKey[]) {
  const found = new Map<string, Row>()
  for (const column of ['id', 'start']) {
    const values = keys.flatMap((key) => Object.entries(key)).flatMap(([by, value]) => by === column ? [value] : [])
    if (values.length === 0) continue
    const { sql } = isIn(column, values)
    const { rows } = await query(`SELECT * FROM ${tables.of(name)} WHERE ${sql}`, values)
    for (const row of rows) found.set(JSON.stringify([column, row[column]]), row)
  }
  return keys.map((key) => found.get(JSON.stringify(Object.entries(key)[0])) ?? null)
}

/** A page of a collection. */
export function rowsPage (
  tables: Tables, name: Listed, { tenant, of, where, upTo, without, by, page }: RowsQuery
): Selection {
  const { order, limit, from } = page
  return {
    columns: 'record, found_by, owner',
    from: sqlOf(tables.of(name)),
    where: allOf([
      ...tenant === undefined ? [] : [sqlOf('tenant = ?', tenant ?? '')],
      ...of === undefined ? [] : [sqlOf('owner = ?', of)],
      ...where === undefined ? [] : [isIn(snake(where.member), where.values)],
      ...upTo === undefined ? [] : [sqlOf(`${snake(upTo.member)} ${upTo.isBelow ? '<' : '<='} ?`, upTo.value)],
      ...without === undefined ? [] : [sqlOf(`${snake(without)} IS NULL`)]
    ]),
    behind: 'after' in from ? sqlOf(`id ${order === 'asc' ? '>' : '<'} ?`, from.after) : sqlOf('1 = 1'),
    // Rows without a value come last in both directions.
    by: by === undefined ? ['id'] : [`(${snake(by)} IS ${order === 'asc' ? '' : 'NOT '}NULL)`, snake(by), 'id'],
    order,
    limit,
    offset: 'offset' in from ? from.offset : 0
  }
}
