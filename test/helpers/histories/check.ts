import type { Row } from '../../../adapters/knex/tables/rows.ts'
import type { HistoryDatabase } from './databases.ts'

/** The tenants that some of the users belong to. */
export const TENANTS = ['acme', 'beta'] as const

type Query = (sql: string, params?: readonly unknown[]) => Promise<Row[]>

export interface CheckedPages {
  order: 'asc' | 'desc'
  /** Where one of the pages begins, from 0 to 9999, as a share of all users. */
  at: number
  limit: number
}

/** The ids of the users of a page. */
function idsOf (row: Row | undefined): unknown[] {
  const items = row?.['items'] ?? []
  // pg parses JSON by itself.
  const list: unknown[][] = typeof items === 'string' ? JSON.parse(items) : Object(items)
  return list.map(([id]) => id)
}

function isSame (ids: unknown[], expected: readonly Row[]): boolean {
  return JSON.stringify(ids) === JSON.stringify(expected.map(({ id }) => id))
}

/**
 * Compares pages, of all and of each tenant, with `count(*)` and OFFSET. In its transaction a connection sees one
 * snapshot, or no other connection commits meanwhile. @throws Error for a wrong total or page
 */
export async function checkPages (database: HistoryDatabase, query: Query, checked: CheckedPages): Promise<void> {
  const { table, page, tenantPage } = database
  const { order, at, limit } = checked
  for (const tenant of TENANTS) {
    const where = `FROM ${table} WHERE tenant = '${tenant}'`
    const total = Number((await query(`SELECT count(*) AS n ${where}`))[0]?.['n'])
    const offset = Math.floor(at / 9999 * total)
    const expected = await query(`SELECT id ${where} ORDER BY id ${order} LIMIT ${limit} OFFSET ${offset}`)
    const { sql, params } = tenantPage(tenant, { order, limit, offset })
    const [row] = await query(sql, params)
    if (Number(row?.['total']) === total && isSame(idsOf(row), expected)) continue
    throw new Error(`page ${order} of ${tenant} from ${offset}, ${limit} long: total ${row?.['total']} ` +
      `instead of ${total}, or other users`)
  }
  const total = Number((await query(`SELECT count(*) AS n FROM ${table}`))[0]?.['n'])
  for (const offset of [0, Math.floor(at / 9999 * total), Math.max(0, total - limit), total + 3]) {
    const expected = await query(`SELECT id FROM ${table} ORDER BY id ${order} LIMIT ${limit} OFFSET ${offset}`)
    const { sql, params } = page({ order, limit, offset })
    const [row] = await query(sql, params)
    const ids = idsOf(row)
    const counted = Number(row?.['counted']) + Number(row?.['tail'])
    if (counted === total && isSame(ids, expected)) continue
    const [first] = expected
    throw new Error(`page ${order} from ${offset}, ${limit} long: total ${counted} instead of ${total}, ` +
      `${ids.length} instead of ${expected.length} users, from ${String(ids[0])} instead of ${String(first?.['id'])}`)
  }
}
