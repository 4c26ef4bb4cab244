// Rows that are looked up by what one of them has. Those of one turn of the event loop are looked up together: a batch
// of an import asks for hundreds, and each would wait for a connection.

import { gather } from '../../../lib/core/gather.ts'
import type {
  CollectionName, Page, RowKey, UserFilter, UserPageRequest, UserRecord
} from '../../../lib/storage/storage.ts'
import type { Access } from './connections.ts'
import { asksForAll } from './far-pages.ts'
import { findRows, rowIn } from './rows.ts'
import { isIn, type Row } from './sql.ts'
import type { Tables } from './tables.ts'
import { userIn, userRow } from './users.ts'

const TOGETHER_MAX = 32

interface Asked { name: CollectionName, key: RowKey }

/** Makes what looks rows up. Callers may change what they get, so each makes its own of a row. */
export function lookUps ({ read }: Pick<Access, 'read'>, tables: Tables) {
  const rowBy = gather(TOGETHER_MAX, (asked: Asked) => JSON.stringify(asked), (all) => read(async (query) => {
    const found = new Map<Asked, Row | null>()
    for (const name of new Set(all.map((each) => each.name))) {
      const asked = all.filter((each) => each.name === name)
      const rows = await findRows(query, tables, name, asked.map(({ key }) => key))
      for (const [i, each] of asked.entries()) found.set(each, rows[i] ?? null)
    }
    return all.map((each) => found.get(each) ?? null)
  }))
  const userBy = gather(TOGETHER_MAX, (id: string) => id, (ids) => read(async (query) => {
    const { sql } = isIn('id', ids)
    const { rows } = await query(`SELECT id, record FROM ${tables.of('users')} WHERE ${sql}`, ids)
    const found = new Map(rows.map((row) => [String(row['id']), row]))
    return ids.map((id) => found.get(id) ?? null)
  }))
  const usersBy = gather(TOGETHER_MAX, (emailKey: string) => emailKey, (keys) => read(async (query) => {
    const { sql } = isIn('email_key', keys)
    const { rows } = await query(`SELECT email_key, record FROM ${tables.of('users')} WHERE ${sql} ORDER BY id`, keys)
    return keys.map((key) => rows.filter((row) => row['email_key'] === key))
  }))

  return {
    async find (name: CollectionName, keys: readonly RowKey[]) {
      const [key, ...others] = keys
      const rows = key === undefined || others.length > 0
        ? await read((query) => findRows(query, tables, name, keys))
        : [await rowBy({ name, key })]
      return rows.map((row) => row === null ? null : name === 'users' ? userRow(row) : rowIn(row))
    },
    user: (id: string) => userBy(id).then((row) => row === null ? null : userIn(row)),
    /** The first page of the users with an address; null: other users are asked for, or another page. */
    byEmail (filter: UserFilter, { order, limit, from, sort }: UserPageRequest): Promise<Page<UserRecord>> | null {
      const { emailKey, tenant } = filter
      const isFirst = sort === undefined && order === 'asc' && 'offset' in from && from.offset === 0
      if (emailKey === null || !isFirst || !asksForAll({ ...filter, emailKey: null })) return null
      return usersBy(emailKey).then((rows) => {
        const users = rows.map(userIn).filter((user) => tenant === undefined || (user.tenant ?? '') === tenant)
        return { items: users.slice(0, limit), total: users.length }
      })
    }
  }
}
