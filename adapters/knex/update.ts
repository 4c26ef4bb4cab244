import type { UserChanges, VersionGuard } from '../../lib/storage.ts'
import type { Dialect, TypedColumn } from './dialect.ts'
import type { Param, Row, Statement } from './drivers/driver.ts'
import { type GroupedWrite, groupWrites } from './group-commit.ts'
import type { Names } from './names.ts'
import type { Session } from './session.ts'

/** The conditions of a guard, each of which is worth its look only where it asks for something. */
export function guardedBy (dialect: Dialect, { ifVersion, unlessVersion }: VersionGuard, place: (value: Param) => number): string[] {
  return [
    ...(ifVersion === null ? [] : [dialect.in('version', place(ifVersion), 'bigint')]),
    ...(unlessVersion.length === 0 ? [] : [`NOT ${dialect.in('version', place(unlessVersion), 'bigint')}`])
  ]
}

/**
 * What an update sets, and in which case: each value in SQL, by its column. It names just the columns that it sets: SQLite writes the indexes of every column that an
 * update names, changed or not, and each look at a guard is a table of its own (a PATCH of the name: 40 became 30 µs).
 */
function assignments ({ jsonType, read }: Dialect, valueOf: ReadonlyMap<string, string>): { set: string, differs: string } {
  const set = ['version = version + 1']
  const differs: string[] = []
  for (const [column, value] of valueOf) {
    const given = column === 'fields' ? `CAST(${value} AS ${jsonType})` : value
    set.push(`${column} = ${given}`)
    const text = column === 'fields' ? read.json.alone : (sql: string) => sql
    if (COMPARED.has(column)) differs.push(`${text(column)} <> ${text(given)}`)
  }
  return { set: set.join(', '), differs: `(${differs.join(' OR ')})` }
}

/** The columns that tell whether anything is changed. */
const COMPARED = new Set(['name', 'email', 'fields'])

/** The values that an update sets, by their columns. */
function valuesOf ({ name, email, fields }: UserChanges, updatedAt: string): Map<string, string> {
  const values = new Map([['updated_at', updatedAt]])
  if (name !== undefined) values.set('name', name.value).set('name_key', name.key)
  if (email !== undefined) values.set('email', email.value).set('email_key', email.key)
  if (fields !== undefined) values.set('fields', JSON.stringify(fields))
  return values
}

/** Updates a user where one of the values is another and the guard holds: the row as it is then, undefined where nothing was done. */
export type Update = (id: string, changes: UserChanges, updatedAt: string, guard: VersionGuard) => Promise<Row | undefined>

/** Makes the update of a session. Those that no constraint refuses, and that ask for one version at most, go together where they come at once. */
export function updater ({ dialect, run, once, attempt, lanes }: Session, { users: table, usersTable }: Names, returned: string): Update {
  const { many } = dialect
  const groups = new Map<string, GroupedWrite>()

  function statementFor (id: string, values: ReadonlyMap<string, string>, guard: VersionGuard): Statement {
    const params: Param[] = [id]
    const place = (value: Param): number => params.push(value)
    const { set, differs } = assignments(dialect, new Map([...values].map(([column, value]) => [column, dialect.p(place(value))])))
    const conditions = [`id = ${dialect.p(1)}`, differs, ...guardedBy(dialect, guard, place)]
    return { sql: `UPDATE ${table} SET ${set} WHERE ${conditions.join(' AND ')} RETURNING ${returned}`, params }
  }

  /** The update of many users at once that set the same columns; `guarded`: each has the version that it asks for. */
  function statementForAll (columns: readonly string[], guarded: boolean): string {
    const { set, differs } = assignments(dialect, new Map(columns.map((column) => [column, `q_${column}`])))
    const given: TypedColumn[] = [['id', 'text'], ...columns.map((column) => [column, column === 'updated_at' ? 'timestamptz' : 'text'] as const)]
    if (guarded) given.push(['version', 'bigint'])
    return `UPDATE ${dialect.by('id', table, usersTable)} SET ${set} FROM ${many.lockTimeout}${many.rows(given)} ` +
      `WHERE id = q_id${many.among} AND ${differs}${guarded ? ' AND version = q_version' : ''} RETURNING ${returned}`
  }

  /** Those that go together with an update of these columns. */
  function groupFor (columns: readonly string[], guarded: boolean): GroupedWrite {
    const kind = `${columns} ${guarded}`
    const known = groups.get(kind)
    if (known !== undefined) return known
    const sql = statementForAll(columns, guarded)
    const group = groupWrites(lanes, (all) => once(sql, many.values(all), many.keep))
    groups.set(kind, group)
    return group
  }

  return async (id, changes, updatedAt, guard) => {
    const values = valuesOf(changes, updatedAt)
    // Nothing but the moment.
    if (values.size === 1) return undefined
    const mayBeRefused = changes.email !== undefined
    const alone = async (): Promise<Row | undefined> => {
      const { sql, params } = statementFor(id, values, guard)
      return (await (mayBeRefused ? attempt : run)(sql, params))[0]
    }
    const { ifVersion, unlessVersion } = guard
    if (lanes === 0 || mayBeRefused || unlessVersion.length > 0 || (ifVersion !== null && ifVersion.length !== 1)) return alone()
    return groupFor([...values.keys()], ifVersion !== null)(id, [id, ...values.values(), ...(ifVersion ?? [])], alone)
  }
}
