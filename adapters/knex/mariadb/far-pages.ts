// Pages of all users, or of a tenant's, that are far from the first one: found by the counted ranges, in one snapshot.

import type { Page, UserFilter, UserPageRequest, UserRecord } from '../../../lib/storage/storage.ts'
import type { accessTo } from './connections.ts'
import { blockAt, divide, FAR, isLarge } from './counting.ts'
import { ofTenant, readPart, sqlOf } from './sql.ts'
import type { Tables } from './tables.ts'
import { userIn, usersPages } from './users.ts'

const DIVIDE_MS = 10_000

/** True if a filter asks for all users, or for those of a tenant. */
export function asksForAll (filter: UserFilter): boolean {
  const { emailKey, words, fields, tenant: _, anyOf = {}, exists = {}, ranges = [], ...others } = filter
  return emailKey === null && words === null && ranges.length === 0 &&
    [fields, anyOf, exists].every((each) => Object.keys(each).length === 0) &&
    Object.values(others).every((each) => each === undefined)
}

/** Reads a page that is far from the first user; null: the page is near, or of another kind. */
export type ReadFar = (filter: UserFilter, page: UserPageRequest) => Promise<Page<UserRecord>> | null

/** Makes what reads such pages by the blocks, in their order or turned around. */
export function farPages (
  { consistent, write }: Pick<ReturnType<typeof accessTo>, 'consistent' | 'write'>, tables: Tables
): ReadFar {
  const usersPage = usersPages(tables)
  let dividing: Promise<unknown> | null = null
  return (filter, { order, limit, from, sort }) => {
    if (sort !== undefined || !('offset' in from) || from.offset < FAR || !asksForAll(filter)) return null
    const { tenant } = filter
    const scope = tenant ?? ''
    return consistent(async (query) => {
      const { sql, values } = ofTenant(tenant)
      const { rows: [row] } = await query(
        `SELECT coalesce(sum(users), 0) AS total FROM ${tables.of('userCounts')} WHERE ${sql}`, values)
      const total = Number(row?.['total'])
      const count = Math.min(limit, total - from.offset)
      if (count <= 0) return { items: [], total }
      const place = order === 'asc' ? from.offset : total - from.offset - count
      const block = await blockAt(query, tables, scope, place)
      if (isLarge(block)) {
        dividing ??= write((on) => divide(on, tables, scope, block.firstId), { extraMs: DIVIDE_MS })
          .catch(() => {}).finally(() => { dividing = null })
      }
      const rows = await readPart(query, {
        ...usersPage(filter, { order: 'asc', limit: count, from: { offset: place - block.before } }),
        behind: sqlOf('u.id >= ?', block.firstId)
      })
      const items = rows.map(userIn)
      return { items: order === 'asc' ? items : items.reverse(), total }
    })
  }
}
