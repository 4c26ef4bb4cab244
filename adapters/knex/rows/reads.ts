import { gather, type Several } from '../../../lib/core/gather.ts'
import { isStorable } from '../../../lib/core/text.ts'
import type { CollectionName, Row, RowKey, RowsQuery } from '../../../lib/storage/storage.ts'
import type { Page } from '../../../lib/storage/storage.ts'
import type { Executor } from '../connection/executor.ts'
import { createValues, toPage, whereOf } from '../pages.ts'
import type { Condition } from '../dialects/value-sql.ts'
import type { Names } from '../tables/names.ts'
import { type Row as Read, unpacked } from '../tables/rows.ts'
import type { SqlCollection, SqlCollections } from './collections.ts'

// A longer list would keep the first look-up waiting.
const TOGETHER_MAX = 64

type Other = Exclude<CollectionName, 'users'>

/** Finds the rows of a collection by their ids, or by another unique column. With batching, look-ups are combined. */
function finder<Name extends CollectionName> (
  { read, batching, dialect }: Executor, names: Names, { table, read: columns, toRow }: SqlCollection<Name>,
  column: 'id' | 'start'
): (values: readonly string[]) => Promise<Array<Row<Name> | null>> {
  const of = table(names)
  const one = `SELECT ${dialect.select(columns)} FROM ${of} WHERE ${column} = ${dialect.p(1)}`
  const all = [{ name: 'found', column, kind: 'plain' } as const, ...columns]
  const among = `SELECT * FROM ${of === names.users ? dialect.usersBy('id', names) : of} ` +
    `WHERE ${dialect.isIn(column, 1, 'text')}`
  const many = `SELECT ${dialect.packed(all, among)} AS items`

  async function find (values: readonly string[]): Promise<Array<Read | null>> {
    const [only = ''] = values
    if (values.length === 1) {
      const [row = null] = await read(one, [only])
      return [row]
    }
    const [row] = await read(many, [values])
    const found = new Map(unpacked(all, row?.['items']).map((each) => [String(each['found']), each]))
    return values.map((value) => found.get(value) ?? null)
  }

  const together = batching === null
    ? null
    : gather(TOGETHER_MAX, (value: string) => value, (values: Several<string>) => find(values))
  // Several callers may share what is read, and each gets a row of its own.
  const own = (row: Read | null | undefined): Row<Name> | null => row == null ? null : toRow(row)
  // No row has a text that can't be stored.
  return async (values) => {
    const [only] = values
    if (only !== undefined && values.length === 1 && together !== null) {
      return [isStorable(only) ? own(await together(only)) : null]
    }
    const storable = values.filter(isStorable)
    const rows = storable.length === 0 ? [] : await find(storable)
    const found = new Map(storable.map((value, i) => [value, rows[i]]))
    return values.map((value) => own(found.get(value)))
  }
}

/** The look-ups of all collections. */
export function rowFinders (executor: Executor, names: Names, collections: SqlCollections) {
  const of = <Name extends CollectionName>(name: Name) => finder(executor, names, collections[name], 'id')
  const byId: { [Name in CollectionName]: (ids: readonly string[]) => Promise<Array<Row<Name> | null>> } = {
    users: of('users'),
    trash: of('trash'),
    apiKeys: of('apiKeys'),
    keyUses: of('keyUses'),
    webhooks: of('webhooks'),
    deliveries: of('deliveries'),
    userGroups: of('userGroups'),
    memberships: of('memberships'),
    idempotency: of('idempotency'),
    marks: of('marks')
  }
  const byStart = finder(executor, names, collections.apiKeys, 'start')

  return async <Name extends CollectionName>(
    name: Name, keys: readonly RowKey[]
  ): Promise<Array<Row<Name> | null>> => {
    const starts = keys.flatMap((key) => 'start' in key ? key.start : [])
    if (starts.length > 0) {
      const found: unknown[] = await byStart(starts)
      const others = await byId[name](keys.flatMap((key) => 'id' in key ? key.id : []))
      return Object(keys.map((key) => 'start' in key ? found.shift() : others.shift()))
    }
    return byId[name](keys.map((key) => 'id' in key ? key.id : ''))
  }
}

/** Makes the function that lists rows. One statement is one snapshot. */
export function rowLists ({ read, dialect }: Executor, names: Names, collections: SqlCollections) {
  function conditionsOf (name: Other, { tenant, of, where, upTo, without }: RowsQuery): Condition[] {
    const { members, of: owner } = collections[name]
    const columnOf = (member: string): string => members[member] ?? 'id'
    return [
      ...tenant === null ? [{ sql: "tenant = ''", values: [] }] : [],
      // The second part lets the planner use the partial indexes.
      ...typeof tenant === 'string' ? [{ sql: "tenant = ? AND tenant <> ''", values: [tenant] }] : [],
      ...of === undefined || owner === null ? [] : [{ sql: `${owner} = ?`, values: [of] }],
      ...where === undefined
        ? []
        : [{
            sql: `${columnOf(where.member)} IN (${where.values.map(() => '?').join(', ') || 'NULL'})`,
            values: where.values
          }],
      ...upTo === undefined
        ? []
        : [{
            sql: `${columnOf(upTo.member)} IS NOT NULL AND ` +
              `${columnOf(upTo.member)} ${upTo.isBelow === true ? '<' : '<='} ?`,
            values: [upTo.value]
          }],
      ...without === undefined ? [] : [{ sql: `${columnOf(without)} IS NULL`, values: [] }]
    ]
  }

  return async <Name extends Other>(name: Name, query: RowsQuery): Promise<Page<Row<Name>>> => {
    const { tenant, of, where, upTo, by, page: { order, limit, from } } = query
    const texts = [tenant ?? '', of ?? '', ...where?.values ?? [], 'after' in from ? from.after : '']
    if (!texts.every(isStorable)) return { items: [], total: 0 }
    const { table, read: columns, toRow, members, columns: stored } = collections[name]
    const { params, numbered, limit: placed } = createValues(dialect)
    const conditions = conditionsOf(name, query)
    const counted = whereOf(conditions.map(numbered))
    const [direction, follows] = order === 'asc' ? ['ASC', '>'] : ['DESC', '<']
    const behind = 'after' in from ? [{ sql: `id ${follows} ?`, values: [from.after] }] : []
    const listed = whereOf([...conditions, ...behind].map(numbered))
    const column = by === undefined ? undefined : members[by]
    // Those without a value are not among what is bounded.
    const mayLack = upTo?.member !== by && stored.some((each) => each.column === column && each.nullable === true)
    const last = mayLack ? ' NULLS LAST' : ''
    const sorted = column === undefined ? `id ${direction}` : `${column} ${direction}${last}, id ${direction}`
    const rows = `SELECT * FROM ${table(names)}${listed} ORDER BY ${sorted} LIMIT ${placed(limit)} ` +
      `OFFSET ${placed('offset' in from ? from.offset : 0)}`
    const total = `(SELECT count(*) FROM ${table(names)}${counted})`
    const found = await read(`SELECT ${total} AS total, ${dialect.packed(columns, rows)} AS items`, params, {
      keepPlan: where === undefined || where.values.length < 2
    })
    return toPage(found, columns, toRow)
  }
}
