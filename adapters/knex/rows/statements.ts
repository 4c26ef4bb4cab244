import type { CollectionName } from '../../../lib/storage/storage.ts'
import type { TypedColumn } from '../dialects/batch-sql.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { markInForce } from '../schema/word-list.ts'
import { WORD_LIST } from '../tables/columns.ts'
import type { Names } from '../tables/names.ts'
import { batchTypeOf, hasTenant, type SqlCollections, type StoredColumn, storedValue } from './collections.ts'

const COLLECTIONS = ['apiKeys', 'webhooks', 'userGroups', 'users'] as const

/** What rows of a statement have in common. */
export interface Shape {
  in: CollectionName
  /** The columns that are set, of those that the collection has: of an insertion all, of a deletion none. */
  set: readonly number[]
  kind: 'insert' | 'update' | 'drop'
}

/** The column of a value that a row must have, as a batch calls it. */
const sameAs = (column: string): string => `was_${column}`

/** The statements that write rows. Each returns the ids of those that it has written. */
export function rowStatements (dialect: Dialect, names: Names, collections: SqlCollections) {
  const { batch } = dialect

  // Whoever takes the owner away waits, and takes the row too.
  const keepsOwner = dialect.forUpdate === '' ? '' : ' FOR KEY SHARE'

  // The ids are the first list.
  const byIds = batch.idCondition === '' ? ` AND ${dialect.isIn('id', 1, 'text')}` : batch.idCondition

  /** The collections that rows of one are added beside, with the columns of their ids. */
  const ownersOf = (name: CollectionName): Array<[CollectionName, string]> => {
    const { beside = {} } = collections[name]
    return COLLECTIONS.flatMap((each) => beside[each] === undefined ? [] : [[each, beside[each]]])
  }

  const columnsOf = (shape: Shape): StoredColumn[] => {
    const all = collections[shape.in].columns
    return shape.kind === 'insert' ? [...all] : [0, ...shape.set].flatMap((i) => all[i] ?? [])
  }

  /** The columns of a batch: what is set, and what a row must be. */
  function given (shape: Shape): TypedColumn[] {
    const set = columnsOf(shape).map((each): TypedColumn => [each.column, batchTypeOf(each)])
    return shape.kind === 'insert' ? set : [...set, ...guardOf(shape)]
  }

  /** What a row must have: the version, the tenant, and what else its collection compares. */
  function guardOf (shape: Shape): TypedColumn[] {
    const collection = collections[shape.in]
    const also = collection.alsoSame?.column
    return [
      [sameAs('version'), 'bigint'],
      ...hasTenant(collection) ? [[sameAs('tenant'), 'text'] as const] : [],
      ...also === undefined ? [] : [[sameAs(also.column), batchTypeOf(also)] as const]
    ]
  }

  function valueOf (column: StoredColumn): string {
    const value = storedValue(dialect, column, `q_${column.column}`)
    return column.column === WORD_LIST ? markInForce(names, value) : value
  }

  function holds (shape: Shape, alias = ''): string {
    const same = guardOf(shape).map(([name]) => ` AND ${alias}${name.replace('was_', '')} = q_${name}`)
    return `${alias}id = q_id${same.join('')}`
  }

  /** `rows`: the table expression of the batch. `isStrict`: what is there already is an error. */
  function insertFrom (shape: Shape, rows: string, isStrict: boolean): string {
    const { table, columns } = collections[shape.in]
    const owners = ownersOf(shape.in).map(([owner, column]) => `(q_${column} = '' OR EXISTS (SELECT 1 FROM ` +
      `${collections[owner].table(names)} AS o WHERE o.id = q_${column}${keepsOwner}))`)
    return `INSERT INTO ${table(names)} (${columns.map(({ column }) => column).join(', ')}) ` +
      `SELECT ${columns.map(valueOf).join(', ')} FROM ${rows} WHERE ${owners.join(' AND ') || 'true'}` +
      `${batch.order(shape.in === 'users' ? 'q_email_key' : 'q_id')}${isStrict ? '' : ' ON CONFLICT DO NOTHING'} ` +
      'RETURNING id'
  }

  function updateFrom (shape: Shape, rows: string, condition: string): string {
    const { table } = collections[shape.in]
    const set = columnsOf(shape).slice(1).map((each) => `${each.column} = ${valueOf(each)}`).join(', ')
    const target = shape.in === 'users' ? dialect.usersBy('id', names) : table(names)
    return `UPDATE ${target} SET ${set} FROM ${rows} WHERE ${condition} RETURNING id`
  }

  /** `byId`: a condition by which the rows are looked up. */
  function dropFrom (shape: Shape, rows: string, byId: string): string {
    const table = collections[shape.in].table(names)
    return `DELETE FROM ${table} WHERE EXISTS (SELECT 1 FROM ${rows} WHERE ${holds(shape, `${table}.`)})${byId} ` +
      'RETURNING id'
  }

  /** A statement of its own: its values are those of the batch. `isBounded`: it waits for no lock for long. */
  function statement (
    shape: Shape, { isStrict, isBounded, one: row }: { isStrict: boolean, isBounded: boolean, one: string | null }
  ): string {
    const rows = row ?? `${isBounded ? batch.lockTimeout : ''}${batch.rows(given(shape))}`
    if (shape.kind === 'insert') return insertFrom(shape, rows, isStrict)
    if (shape.kind === 'drop') return dropFrom(shape, rows, row === null ? byIds : ` AND id = ${dialect.p(1)}`)
    return updateFrom(shape, rows, `${holds(shape)}${row === null ? batch.idCondition : ''}`)
  }

  return { given, columnsOf, guardOf, holds, insertFrom, updateFrom, dropFrom, statement }
}

export type RowStatements = ReturnType<typeof rowStatements>
