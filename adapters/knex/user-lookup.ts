import { isStorable } from '../../lib/core/text.ts'
import { batchLookups } from './batching/batch-lookups.ts'
import type { Executor } from './connection/executor.ts'
import { type Column, USER_COLUMNS } from './tables/columns.ts'
import type { Names } from './tables/names.ts'
import { type Row, unpacked } from './tables/rows.ts'

/** Looks up the row of the user with this value in a unique column. With batching, concurrent look-ups are combined. */
export function userLookup (
  { read, batching, dialect }: Executor,
  names: Names,
  column: 'id' | 'email_key'
): (value: string) => Promise<Row | undefined> {
  const selectOne = `SELECT ${dialect.select(USER_COLUMNS)} FROM ${names.users} WHERE ${column} = ${dialect.p(1)}`
  const columns: readonly Column[] = [{ name: 'found', column, kind: 'plain' }, ...USER_COLUMNS]
  const rows = `SELECT * FROM ${dialect.usersBy(column, names)} WHERE ${dialect.isIn(column, 1, 'text')}`
  const selectMany = `SELECT ${dialect.packed(columns, rows)} AS items`

  async function findOne (value: string): Promise<Row | undefined> {
    return (await read(selectOne, [value]))[0]
  }

  async function findMany (values: string[]): Promise<Map<unknown, Row>> {
    const [row] = await read(selectMany, [values])
    return new Map(unpacked(columns, row?.['items']).map((each) => [each['found'], each]))
  }

  const find = batching === null ? findOne : batchLookups(findOne, findMany)
  // A text that can't be stored is nobody's.
  return async (value) => isStorable(value) ? find(value) : undefined
}
