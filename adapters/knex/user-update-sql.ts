import type { UserChanges, VersionGuard } from '../../lib/storage/storage.ts'
import type { Dialect, TypedColumn } from './dialects/dialect.ts'
import type { Param, Statement } from './drivers/driver.ts'
import { EVENT_TARGETS, EVENT_VALUES } from './events/event-writes.ts'
import { SHOWN_COLUMNS, WORD_LIST } from './tables/columns.ts'
import type { Names } from './tables/names.ts'
import { wordsText } from './tables/rows.ts'
import { markInForce, type WordList } from './schema/word-list.ts'

/** What a user must be for a write: of these versions, and of this tenant. */
export interface OwnedGuard extends VersionGuard {
  tenant?: string | undefined
  /** The user has this status already. */
  standing?: Standing | undefined
}

/** The status of a user, as its columns have it. */
export type Standing = ReadonlyArray<readonly [column: 'status' | 'status_reason', value: string]>

/** The columns that decide whether anything changes. */
const COMPARED = ['name', 'email', 'fields', 'status', 'status_reason']

/** The values that a guard names, in the order of `guardConditions`. */
function guardValues ({ ifVersion, unlessVersion, tenant, standing = [] }: OwnedGuard): Param[] {
  return [
    ...(ifVersion === null ? [] : [ifVersion]),
    ...(unlessVersion.length === 0 ? [] : [unlessVersion]),
    ...(tenant === undefined ? [] : [tenant]),
    ...standing.map(([, value]) => value)
  ]
}

/** The conditions of a guard. An absent one is omitted, since each costs a look-up. */
export function guardConditions (
  { isIn, p }: Dialect,
  { ifVersion, unlessVersion, tenant, standing = [] }: OwnedGuard,
  place: (value: Param) => number
): string[] {
  return [
    ...(ifVersion === null ? [] : [isIn('version', place(ifVersion), 'bigint')]),
    ...(unlessVersion.length === 0 ? [] : [`NOT ${isIn('version', place(unlessVersion), 'bigint')}`]),
    ...(tenant === undefined ? [] : [`tenant = ${p(place(tenant))}`]),
    ...standing.map(([column, value]) => `${column} = ${p(place(value))}`)
  ]
}

/** The value that an update stores in a column for the one that is given. */
function storedValue ({ schema: { json } }: Dialect, names: Names, column: string, given: string): string {
  if (column === 'fields') return `CAST(${given} AS ${json})`
  // The clock of the writer may be behind that of the one before.
  if (column === 'updated_at') return `(CASE WHEN updated_at > ${given} THEN updated_at ELSE ${given} END)`
  return column === WORD_LIST ? markInForce(names, given) : given
}

/**
 * The assignments of an update, and the condition that it changes something. It names only the columns that it sets:
 * SQLite writes the indexes of every column that an update names (a PATCH of the name: 40 became 30 µs).
 */
function assignments (
  dialect: Dialect,
  names: Names,
  valueOf: ReadonlyMap<string, string>
): { set: string, differs: string } {
  const { jsonText } = dialect
  const set = ['version = version + 1']
  const differs: string[] = []
  for (const [column, value] of valueOf) {
    const given = storedValue(dialect, names, column, value)
    set.push(`${column} = ${given}`)
    const text = column === 'fields' ? jsonText : (sql: string) => sql
    if (COMPARED.includes(column)) differs.push(`${text(column)} <> ${text(given)}`)
  }
  return { set: set.join(', '), differs: `(${differs.join(' OR ')})` }
}

/** The columns of the status that changes name. */
export function standingOf ({ status, statusReason }: UserChanges): Standing {
  return [
    ...(status === undefined ? [] : [['status', status] as const]),
    ...(statusReason === undefined ? [] : [['status_reason', statusReason ?? ''] as const])
  ]
}

/** The values that an update sets, by column. */
export function valuesOf (
  { name, email, fields, fieldWords, ...standing }: UserChanges,
  updatedAt: string,
  list: WordList
): Map<string, string> {
  const values = new Map([['updated_at', updatedAt]])
  if (name !== undefined) {
    values.set('name', name.value).set('name_key', name.key).set('name_words', wordsText(name.words))
  }
  if (email !== undefined) {
    values.set('email', email.value).set('email_key', email.key).set('email_words', wordsText(email.words))
  }
  if (fields !== undefined) {
    const listed = list.wordsOf(fields, fieldWords)
    values.set('fields', JSON.stringify(fields)).set('field_words', listed.words).set(WORD_LIST, listed.list)
  }
  for (const [column, value] of standingOf(standing)) values.set(column, value)
  return values
}

/** An update of one user. */
interface SingleUpdate { id: string, values: ReadonlyMap<string, string>, guard: OwnedGuard }

/** Makes the function that gives the statement of one update. Each text is built once: there are few. */
export function singleUpdates (
  dialect: Dialect,
  names: Names,
  returned: string
): (update: SingleUpdate) => Statement {
  const texts = new Map<string, string>()

  function textOf (columns: readonly string[], guard: OwnedGuard): string {
    let placed = 1
    const place = (): number => ++placed
    const { set, differs } = assignments(dialect, names, new Map(columns.map((column) => [column, dialect.p(place())])))
    const conditions = [`id = ${dialect.p(1)}`, differs, ...guardConditions(dialect, guard, place)]
    return dialect.returning(`UPDATE ${names.users} SET ${set} WHERE ${conditions.join(' AND ')}`, returned)
  }

  return ({ id, values, guard }) => {
    const { ifVersion, unlessVersion, tenant, standing = [] } = guard
    const columns = [...values.keys()]
    const kept = standing.map(([column]) => column)
    const kind = `${columns} ${ifVersion !== null} ${unlessVersion.length > 0} ${tenant !== undefined} ${kept}`
    const sql = texts.get(kind) ?? textOf(columns, guard)
    texts.set(kind, sql)
    return { sql, params: [id, ...values.values(), ...guardValues(guard)] }
  }
}

/** What a group of updates has in common. */
export interface UpdateKind {
  /** The columns that it sets. */
  columns: readonly string[]
  /** Each names the version that the user must have. */
  guarded: boolean
  /** Each names the tenant that the user must belong to. */
  owned: boolean
  /** The columns of the status that the user must have already. */
  standing: ReadonlyArray<Standing[number][0]>
}

/** The columns of a batch of updates, with those of its events. */
function givenColumns (
  { columns, guarded, owned, standing }: UpdateKind,
  event: readonly TypedColumn[]
): readonly TypedColumn[] {
  const typeOf = (column: string) => column === 'updated_at' ? 'timestamptz' : 'text'
  const set = columns.map((column) => [column, typeOf(column)] as const)
  const version = guarded ? [['version', 'bigint'] as const] : []
  const tenant = owned ? [['tenant', 'text'] as const] : []
  const kept = standing.map((column) => [column, 'text'] as const)
  return [['id', 'text'], ...set, ...version, ...tenant, ...kept, ...event]
}

/** The conditions on what each update of a batch names. */
function guardOf ({ guarded, owned, standing }: UpdateKind): string[] {
  return [
    ...guarded ? ['version = q_version'] : [],
    ...owned ? ['tenant = q_tenant'] : [],
    ...standing.map((column) => `${column} = q_${column}`)
  ]
}

/** The statement that updates the same columns of many users. */
export function groupUpdate (dialect: Dialect, names: Names, returned: string, kind: UpdateKind): string {
  const { batch } = dialect
  const { set, differs } = assignments(dialect, names, new Map(kind.columns.map((column) => [column, `q_${column}`])))
  const guard = guardOf(kind).map((condition) => ` AND ${condition}`).join('')
  return dialect.returning(`UPDATE ${dialect.usersBy('id', names)} SET ${set} FROM ${batch.lockTimeout}` +
    `${batch.rows(givenColumns(kind, []))} WHERE id = q_id${batch.idCondition} AND ${differs}${guard}`, returned)
}

/** What an event shows of the user: the record after the update, and the members before it that are others then. */
function recordedColumns (dialect: Dialect, names: Names, { columns }: UpdateKind): { data: string, before: string } {
  const { jsonText } = dialect
  const given = (column: string) => storedValue(dialect, names, column, `q_${column}`)
  const after = SHOWN_COLUMNS.map((each) => {
    if (each.column === 'version') return { ...each, column: '(version + 1)' }
    return columns.includes(each.column) ? { ...each, column: given(each.column) } : each
  })
  const before = SHOWN_COLUMNS.filter(({ column }) => COMPARED.includes(column) && columns.includes(column))
    .map((each) => {
      const text = each.kind === 'json' ? jsonText : (sql: string) => sql
      const { column } = each
      return { ...each, column: `CASE WHEN ${text(column)} <> ${text(given(column))} THEN ${column} END` }
    })
  return { data: dialect.object(after), before: dialect.object(before) }
}

/**
 * The statements that update the same columns of many users and record an event of each: one where the database can
 * write to two tables with one. The events come first: they have the values before. `conditions`: others that each user
 * must meet. `bounded`: do not wait for long for locks.
 */
export function recordedUpdate (
  dialect: Dialect,
  names: Names,
  returned: string,
  { conditions, bounded, ...kind }: UpdateKind & { conditions: readonly string[], bounded: boolean }
): string[] {
  const { batch } = dialect
  const { set, differs } = assignments(dialect, names, new Map(kind.columns.map((column) => [column, `q_${column}`])))
  const given = givenColumns(kind, EVENT_VALUES)
  const { data, before } = recordedColumns(dialect, names, kind)
  const rows = `${bounded ? batch.lockTimeout : ''}${batch.rows(given)}`
  const where = [`id = q_id${batch.idCondition}`, differs, ...guardOf(kind), ...conditions].join(' AND ')
  const insert = `INSERT INTO ${names.events} (${EVENT_TARGETS}, before)`
  const event = EVENT_VALUES.map(([name]) => `q_${name}`).join(', ')
  if (!dialect.writesTwoTables) {
    const users = dialect.usersBy('id', names)
    return [
      `${insert} SELECT ${event}, id, ${data}, tenant, ${before} FROM ${rows}, ${users} WHERE ${where}`,
      `UPDATE ${users} SET ${set} FROM ${rows} WHERE ${where} RETURNING ${returned}`
    ]
  }
  // The lock comes before the event has its place in the sequence: so a user's events are in the order of versions.
  const columns = given.map(([name]) => `q_${name}`).join(', ')
  const old = `SELECT ${columns}, ${data} AS event_data, tenant AS event_tenant, ${before} AS event_before ` +
    `FROM ${rows}, ${names.users} AS u WHERE ${where} FOR NO KEY UPDATE OF u`
  return [
    `WITH old AS MATERIALIZED (${old}), recorded AS (` +
    `${insert} SELECT ${event}, q_id, event_data, event_tenant, event_before FROM old) ` +
    `UPDATE ${names.users} SET ${set} FROM old WHERE id = q_id RETURNING ${returned}`
  ]
}
