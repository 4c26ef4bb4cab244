import { isStorable } from '../../lib/text.ts'
import type { Row } from './drivers/driver.ts'
import { gatherFinds } from './gathering.ts'
import type { Names } from './names.ts'
import { type Column, listed, packed, unpacked, USER_COLUMNS } from './rows.ts'
import type { Session } from './session.ts'

/** Looks up the row of the one user whose column has a value; where reads may share connections, all that are asked for at once go together. */
export function finderBy ({ read, lanes, dialect }: Session, { users, usersTable }: Names, column: 'id' | 'email_key'): (value: string) => Promise<Row | undefined> {
  const selectOne = `SELECT ${listed(dialect, USER_COLUMNS)} FROM ${users} WHERE ${column} = ${dialect.p(1)}`
  const columns: readonly Column[] = [{ name: 'found', column, kind: 'plain' }, ...USER_COLUMNS]
  const selectMany = `SELECT ${packed(dialect, columns, `SELECT * FROM ${dialect.by(column, users, usersTable)} WHERE ${dialect.in(column, 1, 'text')}`)} AS items`

  async function findOne (value: string): Promise<Row | undefined> {
    return (await read(selectOne, [value]))[0]
  }

  async function findMany (values: string[]): Promise<Map<unknown, Row>> {
    const [row] = await read(selectMany, [values])
    return new Map(unpacked(columns, row?.['items']).map((each) => [each['found'], each]))
  }

  const find = lanes > 0 ? gatherFinds(findOne, findMany) : findOne
  // What can't be kept is nobody's.
  return async (value) => isStorable(value) ? find(value) : undefined
}
