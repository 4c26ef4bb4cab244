import type { Row } from '../../../adapters/knex/tables/rows.ts'
import type { HistoryDatabase } from './databases.ts'

type Query = (sql: string, params?: readonly unknown[]) => Promise<Row[]>

export interface CheckedPages {
  order: 'asc' | 'desc'
  /** Where one of the pages begins, from 0 to 9999, as a share of all users. */
  at: number
  limit: number
  /** Whose users; those of all if there is none. */
  tenant: string | undefined
}

/**
 * Compares pages with `count(*)` and OFFSET. In its transaction a connection sees one snapshot, or no other connection
 * commits meanwhile. @throws Error for a wrong total or page
 */
export async function checkPages (database: HistoryDatabase, query: Query, checked: CheckedPages): Promise<void> {
  const { table, page } = database
  const { order, at, limit, tenant } = checked
  const from = `FROM ${table}${tenant === undefined ? '' : ` WHERE tenant = '${tenant}'`}`
  const total = Number((await query(`SELECT count(*) AS n ${from}`))[0]?.['n'])
  for (const offset of [0, Math.floor(at / 9999 * total), Math.max(0, total - limit), total + 3]) {
    const expected = await query(`SELECT id ${from} ORDER BY id ${order} LIMIT ${limit} OFFSET ${offset}`)
    const { sql, params } = page({ order, limit, offset, tenant })
    const [row] = await query(sql, params)
    const items = row?.['items'] ?? []
    // pg parses JSON by itself.
    const list: unknown[][] = typeof items === 'string' ? JSON.parse(items) : Object(items)
    const ids = list.map(([id]) => id)
    const counted = Number(row?.['counted']) + Number(row?.['tail'])
    if (counted === total && JSON.stringify(ids) === JSON.stringify(expected.map(({ id }) => id))) continue
    const [first] = expected
    throw new Error(`page of ${tenant ?? 'all'} ${order} from ${offset}, ${limit} long: ` +
      `total ${counted} instead of ${total}, ` +
      `${ids.length} instead of ${expected.length} users, from ${String(ids[0])} instead of ${String(first?.['id'])}`)
  }
}
