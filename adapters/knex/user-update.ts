import type { UserChanges, VersionGuard } from '../../lib/core/storage.ts'
import { type GroupedWrite, groupCommits } from './batching/group-commit.ts'
import type { Executor } from './connection/executor.ts'
import type { Dialect, TypedColumn } from './dialects/dialect.ts'
import type { Param, Statement } from './drivers/driver.ts'
import type { Names } from './tables/names.ts'
import type { Row } from './tables/rows.ts'

/** The columns that decide whether anything changes. */
const COMPARED = ['name', 'email', 'fields']

/** The conditions of a guard. An absent one is omitted, since each costs a look-up. */
export function guardConditions (
  { isIn }: Dialect,
  { ifVersion, unlessVersion }: VersionGuard,
  place: (value: Param) => number
): string[] {
  return [
    ...(ifVersion === null ? [] : [isIn('version', place(ifVersion), 'bigint')]),
    ...(unlessVersion.length === 0 ? [] : [`NOT ${isIn('version', place(unlessVersion), 'bigint')}`])
  ]
}

/**
 * The assignments of an update, and the condition that it changes something. It names only the columns that it sets:
 * SQLite writes the indexes of every column that an update names (a PATCH of the name: 40 became 30 µs).
 */
function assignments (
  { schema: { json }, jsonText }: Dialect,
  valueOf: ReadonlyMap<string, string>
): { set: string, differs: string } {
  const set = ['version = version + 1']
  const differs: string[] = []
  for (const [column, value] of valueOf) {
    const isJson = column === 'fields'
    const given = isJson ? `CAST(${value} AS ${json})` : value
    set.push(`${column} = ${given}`)
    const text = isJson ? jsonText : (sql: string) => sql
    if (COMPARED.includes(column)) differs.push(`${text(column)} <> ${text(given)}`)
  }
  return { set: set.join(', '), differs: `(${differs.join(' OR ')})` }
}

/** The values that an update sets, by column. */
function valuesOf ({ name, email, fields }: UserChanges, updatedAt: string): Map<string, string> {
  const values = new Map([['updated_at', updatedAt]])
  if (name !== undefined) values.set('name', name.value).set('name_key', name.key)
  if (email !== undefined) values.set('email', email.value).set('email_key', email.key)
  if (fields !== undefined) values.set('fields', JSON.stringify(fields))
  return values
}

/** The statement of one update. */
function singleUpdate (
  dialect: Dialect,
  { users }: Names,
  returned: string,
  { id, values, guard }: { id: string, values: ReadonlyMap<string, string>, guard: VersionGuard }
): Statement {
  const params: Param[] = [id]
  const place = (value: Param): number => params.push(value)
  const placed = new Map([...values].map(([column, value]) => [column, dialect.p(place(value))]))
  const { set, differs } = assignments(dialect, placed)
  const conditions = [`id = ${dialect.p(1)}`, differs, ...guardConditions(dialect, guard, place)]
  return { sql: `UPDATE ${users} SET ${set} WHERE ${conditions.join(' AND ')} RETURNING ${returned}`, params }
}

/** The statement that updates the same columns of many users. `guarded`: each names the version that it must have. */
function groupUpdate (
  dialect: Dialect,
  names: Names,
  returned: string,
  { columns, guarded }: { columns: readonly string[], guarded: boolean }
): string {
  const { batch } = dialect
  const { set, differs } = assignments(dialect, new Map(columns.map((column) => [column, `q_${column}`])))
  const typeOf = (column: string) => column === 'updated_at' ? 'timestamptz' : 'text'
  const given: TypedColumn[] = [['id', 'text'], ...columns.map((column) => [column, typeOf(column)] as const)]
  if (guarded) given.push(['version', 'bigint'])
  const version = guarded ? ' AND version = q_version' : ''
  return `UPDATE ${dialect.usersBy('id', names)} SET ${set} FROM ${batch.lockTimeout}${batch.rows(given)} ` +
    `WHERE id = q_id${batch.idCondition} AND ${differs}${version} RETURNING ${returned}`
}

/** Updates a user if a value differs and the guard holds. Returns the row after it; undefined if nothing was done. */
export type Update = (
  id: string,
  changes: UserChanges,
  updatedAt: string,
  guard: VersionGuard
) => Promise<Row | undefined>

/**
 * Makes the update of an executor. With batching, concurrent updates that no constraint can refuse, and that ask for
 * at most one version, are combined.
 */
export function userUpdate (executor: Executor, names: Names, returned: string): Update {
  const { dialect, query, batching } = executor
  const groups = new Map<string, GroupedWrite>()

  function groupFor (columns: readonly string[], guarded: boolean, concurrent: number): GroupedWrite {
    const kind = `${columns} ${guarded}`
    const known = groups.get(kind)
    if (known !== undefined) return known
    const sql = groupUpdate(dialect, names, returned, { columns, guarded })
    const options = { retry: false, keepPlan: dialect.batch.keepsPlan }
    const group = groupCommits(concurrent, (all, since) =>
      query(sql, dialect.batch.values(all), { ...options, since }))
    groups.set(kind, group)
    return group
  }

  return async (id, changes, updatedAt, guard) => {
    const values = valuesOf(changes, updatedAt)
    const changesNothing = values.size === 1
    if (changesNothing) return undefined
    const mayBeRefused = changes.email !== undefined
    const alone = async (since: number): Promise<Row | undefined> => {
      const { sql, params } = singleUpdate(dialect, names, returned, { id, values, guard })
      return (await query(sql, params, { savepoint: mayBeRefused, waitsFor: id, since }))[0]
    }
    const { ifVersion, unlessVersion } = guard
    const isPlain = unlessVersion.length === 0 && (ifVersion === null || ifVersion.length === 1)
    if (batching === null || mayBeRefused || !isPlain) return alone(performance.now())
    const group = groupFor([...values.keys()], ifVersion !== null, batching.groups)
    return group(id, [id, ...values.values(), ...(ifVersion ?? [])], alone)
  }
}
