// Rows of collections: how they are written, found and listed.

import type {
  CollectionName, Outcome, Row as StoredRow, RowKey, RowsQuery, RowWrite, Unit
} from '../../../lib/storage/storage.ts'
import { isStorageError } from '../../../lib/storage/storage-error.ts'
import { count } from './counting.ts'
import { isLocked, Violation } from './driver.ts'
import { addEvents, rewriteEvents } from './events.ts'
import { allOf, isIn, listOf, partsOf, type Query, type Row, type Selection, type Sql, sqlOf } from './sql.ts'
import { COLLATION, type Listed, MEMBERS, snake, type Tables } from './tables.ts'
import { putSearched, userColumns } from './users.ts'

// Rows of one statement. Each user has some ten words beside it.
const TOGETHER_MAX = 100

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
  const textOf = (column: string): string | null => row[column] == null ? null : String(row[column])
  const keys = textOf('found_by')
  return { record: JSON.parse(String(row['record'])), keys: keys && JSON.parse(keys), of: textOf('owner') }
}

/** The row is not the one that a write replaces. */
class NotThere extends Error {}

/** What a row must have to be the one that a write replaces. */
function guardOf (name: CollectionName, { record }: StoredRow<CollectionName>): Array<readonly [string, unknown]> {
  const { id, version, tenant = '', updatedAt } = record
  return [
    ['id', id], ['version', version], ['tenant', tenant],
    ...name === 'users' ? [['updated_at', updatedAt] as const] : []
  ]
}

const valuesOf = ({ in: name, put }: RowWrite): Array<[string, unknown]> =>
  put === null ? [] : Object.entries(name === 'users' ? userColumns(put) : columnsOf(name, put))

const kindOf = ({ put, was }: RowWrite): 'insert' | 'update' | 'drop' =>
  was === null ? 'insert' : put === null ? 'drop' : 'update'

/** The same for all writes that fit one statement. The columns of a user depend on the keys that are given. */
const shapeOfWrite = (write: RowWrite): string => {
  const keys = write.in === 'users' ? Object.entries(write.put?.keys ?? {}) : []
  return `${write.in} ${kindOf(write)} ${keys.flatMap(([key, value]) => value === undefined ? [] : key).sort().join()}`
}

const isSameKey = (column: string, value: string): string => `${column} = ${value} COLLATE ${COLLATION}`

/** The statement that makes writes of one shape. */
function statementFor (tables: Tables, first: RowWrite, writes: readonly RowWrite[]): Sql {
  const table = tables.of(first.in)
  const columns = valuesOf(first).map(([column]) => column)
  const kind = kindOf(first)
  if (kind === 'insert') {
    const { sql, values } = listOf(writes.map((write) => valuesOf(write).map(([, value]) => value)))
    return { sql: `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${sql}`, values }
  }
  const guards = writes.map(({ in: name, was }) => was === null ? [] : guardOf(name, was))
  if (kind === 'drop') {
    // What is of the row goes by the foreign key.
    const each = guards.map((guard) => allOf(guard.map(([column, value]) => sqlOf(`${column} = ?`, value))))
    return {
      sql: `DELETE FROM ${table} WHERE ${each.map(({ sql }) => `(${sql})`).join(' OR ')}`,
      values: each.flatMap(({ values }) => values)
    }
  }
  const names = [...(guards[0] ?? []).map(([column]) => `was_${column}`), ...columns.map((column) => `q_${column}`)]
  const rows = writes.map((write, i) => [...guards[i] ?? [], ...valuesOf(write)].map(([, value]) => value))
  const selects = rows.map((row, i) => `SELECT ${row.map((_, n) => i === 0 ? `? AS ${names[n]}` : '?').join(', ')}`)
  const holds = (guards[0] ?? []).map(([column]) => column === 'version'
    ? `t.version = q.was_${column}`
    : isSameKey(`t.${column}`, `q.was_${column}`))
  return {
    sql: `UPDATE ${table} AS t JOIN (${selects.join(' UNION ALL ')}) AS q ON ${holds.join(' AND ')} ` +
      `SET ${columns.map((column) => `t.${column} = q.q_${column}`).join(', ')}`,
    values: rows.flat()
  }
}

/** Makes writes of one shape. @throws NotThere, Violation */
async function make (
  query: Query, tables: Tables, writes: readonly RowWrite[], uniqueFields: readonly string[]
): Promise<void> {
  for (const part of partsOf(writes, (write) => valuesOf(write).map(([, value]) => value), TOGETHER_MAX)) {
    const [first] = part
    if (first === undefined) continue
    const { sql, values } = statementFor(tables, first, part)
    if ((await query(sql, values)).count < part.length) throw new NotThere()
  }
  const users = writes.flatMap((write) => write.in === 'users' && write.put !== null ? [write] : [])
  if (users.length > 0) await putSearched(query, tables, users, uniqueFields)
}

type Refusal = { code: 'changed' } | Omit<Outcome & { code: 'taken' }, 'at'>

/** What an error says of a write; null: it is no refusal of ours. */
function refusalOf (error: unknown, { prefix }: Tables): Refusal | null {
  if (error instanceof NotThere) return { code: 'changed' }
  if (!(error instanceof Violation)) return null
  const { key } = error
  if (key === 'users_email') return { code: 'taken', member: 'emailKey' }
  if (key === 'api_keys_start') return { code: 'taken', member: 'start' }
  if (key === 'user_groups_name') return { code: 'taken', member: 'nameKey' }
  if (key.startsWith('field ')) return { code: 'taken', member: { field: key.slice('field '.length) } }
  // A key of the host's may have any other name.
  return key === 'PRIMARY' || (key.startsWith(prefix) && key.endsWith('_fkey')) ? { code: 'changed' } : null
}

/** What writers of units share in a transaction: the state that they have locked. */
export interface Turn {
  uniqueFields: readonly string[]
  position: number
  /** True: a lock of somebody else's is an outcome of its unit, and the others are made. False: it is thrown. */
  passesLocked: boolean
}

/** The result of a unit. `locked`: another transaction locks what it writes, so it did nothing. */
export type Made = Outcome | { code: 'locked', error: unknown }

/** What units have in common that can be made together; null: this one is made by itself. */
export const shapeOf = ({ writes, rewrites }: Unit): string | null =>
  rewrites.length > 0 || writes.length > TOGETHER_MAX ? null : writes.map(shapeOfWrite).join('; ')

/** Writes of which each list is one statement. */
type Steps = ReadonlyArray<readonly RowWrite[]>

/** The writes of units of one shape: the first of all, the second of all. */
function stepsOf (units: readonly Unit[]): Steps {
  const [first] = units
  if (first === undefined || units.length > 1) {
    return (first?.writes ?? []).map((_, i) => units.flatMap(({ writes }) => writes[i] ?? []))
  }
  const steps: RowWrite[][] = []
  let shape = ''
  for (const write of first.writes) {
    const own = shapeOfWrite(write)
    const last = steps.at(-1)
    if (last !== undefined && own === shape && last.length < TOGETHER_MAX) last.push(write)
    else steps.push([write])
    shape = own
  }
  return steps
}

/**
 * Makes units inside a transaction, which goes on whatever became of them. What is refused together, each unit tries by
 * itself, and at last write by write.
 */
export async function commitUnits (
  query: Query, tables: Tables, units: readonly Unit[], turn: Turn, steps = stepsOf(units)
): Promise<Made[]> {
  const { position } = turn
  const events = units.flatMap((unit) => unit.events)
  let at = 0
  await query('SAVEPOINT fastify_users_unit')
  try {
    // First, so that a transaction which a host commits too early leaves a gap, and no place twice.
    if (events.length > 0) {
      turn.position += events.length
      await query(`UPDATE ${tables.of('state')} SET position = ?`, [turn.position])
    }
    await count(query, tables, units)
    for (const writes of steps) {
      await make(query, tables, writes, turn.uniqueFields)
      at++
    }
    await addEvents(query, tables, events, position)
    for (const each of units.flatMap(({ rewrites }) => rewrites)) await rewriteEvents(query, tables, each, Infinity)
    // The next savepoint takes the place of this one.
    return units.map(() => ({ code: 'ok' }))
  } catch (thrown) {
    turn.position = position
    const refusal = refusalOf(thrown, tables)
    const error = refusal === null && thrown instanceof Violation ? thrown.toStorageError() : thrown
    // A deadlock, or a conflict of nodes, has removed the savepoint.
    await query('ROLLBACK TO SAVEPOINT fastify_users_unit').catch((failure: unknown) => {
      throw isStorageError(error) ? error : failure
    })
    const passes = turn.passesLocked && isLocked(error)
    if (!passes && isStorageError(error) && error.code === 'unavailable') throw error
    if (units.length > 1) {
      const outcomes: Made[] = []
      for (const unit of units) outcomes.push(...await commitUnits(query, tables, [unit], turn))
      return outcomes
    }
    if (passes) return [{ code: 'locked', error }]
    const single = units.flatMap(({ writes }) => writes.map((write) => [write]))
    if (single.length > steps.length) return commitUnits(query, tables, units, turn, single)
    if (refusal === null) throw error
    return [{ ...refusal, at }]
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
  // They are not among what is bounded, which is read in the order of an index.
  const mayLack = upTo?.member !== by
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
    by: by === undefined
      ? ['id']
      : [...mayLack ? [`(${snake(by)} IS ${order === 'asc' ? '' : 'NOT '}NULL)`] : [], snake(by), 'id'],
    order,
    limit,
    offset: 'offset' in from ? from.offset : 0
  }
}
