import { gather, type Several } from '../../lib/core/gather.ts'
import { isStorable } from '../../lib/core/text.ts'
import type {
  Page, PageRequest, SortedPageRequest, Storage, TenantPageRequest, UserFilter, UserRecord
} from '../../lib/storage/storage.ts'
import type { Reading } from './connection/executor.ts'
import type { Compaction } from './counting/hand-counting.ts'
import type { Dialect } from './dialects/dialect.ts'
import { beginsWith, ofTenant, pageOfFew, pageStatement, SEARCH_BOUND, searchStatement, toPage } from './pages.ts'
import { type Condition, fieldIs } from './schema/field-indexes.ts'
import { sortedStatement, toSortedPage } from './sorted-pages.ts'
import { USER_COLUMNS } from './tables/columns.ts'
import type { Names } from './tables/names.ts'
import { type Row, toUser, unpacked } from './tables/rows.ts'
import { hasOthers, otherConditions } from './user-filters.ts'

const SEARCHED = ['name_key', 'email_key']

// Literals: a plan that is kept for any value can't use the index of those who are suspended.
const HAS_STATUS = { active: "status = 'active'", suspended: "status = 'suspended'" } as const

/** The SQL condition of a filter; `null` if every user matches. */
export function conditionOf (dialect: Dialect, filter: UserFilter): Condition | null {
  const { emailKey, prefix, fields, status } = filter
  const parts: Condition[] = Object.entries(fields).map(([field, value]) => fieldIs(dialect, field, value))
  if (emailKey !== null) parts.push({ sql: 'email_key = ?', values: [emailKey] })
  if (prefix !== null) {
    const either = SEARCHED.map((column) => beginsWith(column, prefix))
    const sql = `(${either.map((each) => each.sql).join(' OR ')})`
    parts.push({ sql, values: either.flatMap(({ values }) => values) })
  }
  if (status !== undefined) parts.push({ sql: HAS_STATUS[status], values: [] })
  parts.push(...otherConditions(dialect, filter))
  const belongs = ofTenant(filter)
  if (belongs !== null) parts.push(belongs)
  if (parts.length === 0) return null
  return { sql: parts.map(({ sql }) => sql).join(' AND '), values: parts.flatMap(({ values }) => values) }
}

/** False if no stored text can match: a database stores no NUL and no lone surrogate, and refuses both. */
export function canMatch ({ emailKey, prefix, fields, tenant }: UserFilter): boolean {
  const texts = [emailKey, prefix, tenant, ...Object.values(fields)]
  return texts.every((text) => typeof text !== 'string' || isStorable(text))
}

/** A page of all users. Several callers may share its rows. */
interface CountedPage {
  rows: Row[]
  total: number
}

/**
 * Lists of users. Each page is read by one statement; a search may need a second one, if it finds more than the first
 * reads.
 */
export function userLists (
  executor: Reading,
  names: Names,
  { onPage }: Compaction,
  findByEmailKey: (emailKey: string) => Promise<Row[]>
): Storage['listUsers'] {
  const { read, batching, prepares, dialect } = executor
  const { users } = names
  const { pages: countedPages, pagesTogether } = dialect.counting

  function toCountedPage (row: Row, { tenant }: TenantPageRequest): CountedPage {
    const tail = Number(row['tail'])
    onPage(tenant, tail, Number(row['changes']))
    return { rows: unpacked(USER_COLUMNS, row['items']), total: Number(row['counted']) + tail }
  }

  /** Pages of all users, or those of tenants. */
  function pagesReader (ofTenant: boolean) {
    const statementOf = countedPages(names, ofTenant, USER_COLUMNS)
    return async (pages: Several<TenantPageRequest>): Promise<CountedPage[]> => {
      const { sql, params } = statementOf(pages)
      const rows = await read(sql, params)
      return pages.flatMap((page, i) => rows.slice(i, i + 1).map((row) => toCountedPage(row, page)))
    }
  }

  const keyOf = ({ order, limit, from, tenant = '' }: TenantPageRequest): string =>
    `${order} ${limit} ${tenant} ${JSON.stringify(from)}`
  const listsOf = (ofTenant: boolean) => {
    const readPages = pagesReader(ofTenant)
    return { readPages, together: gather(pagesTogether, keyOf, readPages) }
  }
  const lists = { all: listsOf(false), ofTenants: listsOf(true) }

  /** With batching, concurrent requests for the same page read it once, and several pages share one statement. */
  async function readCounted (page: TenantPageRequest): Promise<CountedPage> {
    const { readPages, together } = page.tenant === undefined ? lists.all : lists.ofTenants
    // One text that can't be stored would make all requests fail.
    const canShare = !('after' in page.from) || isStorable(page.from.after)
    if (batching !== null && canShare) return together(page)
    const [counted = { rows: [], total: 0 }] = await readPages([page])
    return counted
  }

  async function pageOfAll (page: TenantPageRequest): Promise<Page<UserRecord>> {
    const { rows, total } = await readCounted(page)
    return { items: rows.map(toUser), total }
  }

  async function pageOfEmail (emailKey: string, page: PageRequest): Promise<Page<UserRecord>> {
    return pageOfFew((await findByEmailKey(emailKey)).map(toUser), page)
  }

  /** A page of a search by prefix only; `null` if it finds too many users, or is not available here. */
  async function boundedSearch (prefix: string, page: PageRequest): Promise<Page<UserRecord> | null> {
    if (!prepares || !dialect.triesBoundedSearch) return null
    const statement = searchStatement(dialect, users, USER_COLUMNS, SEARCHED, prefix, page)
    if (statement === null) return null
    const found = toPage(await read(statement.sql, statement.params), USER_COLUMNS, toUser)
    return found.total > SEARCH_BOUND ? null : found
  }

  /** A page in another order. The number of all users, and of those of a tenant, is read as in the order of ids. */
  async function sortedPage (
    condition: Condition | null,
    page: SortedPageRequest,
    countsAll: boolean,
    tenant: string | undefined
  ): Promise<Page<UserRecord>> {
    const of = tenant === undefined ? {} : { tenant }
    const statementOf = countedPages(names, tenant !== undefined, USER_COLUMNS)
    const counted = countsAll ? statementOf([{ order: 'asc', limit: 0, from: { offset: 0 }, ...of }]) : null
    const { sql, params } = sortedStatement(dialect, users, { condition, page, counted })
    const rows = await read(sql, params, { keepPlan: false })
    if (counted !== null) onPage(tenant, Number(rows[0]?.['tail']), Number(rows[0]?.['changes']))
    return toSortedPage(rows)
  }

  return async (filter, page) => {
    if (!canMatch(filter)) return { items: [], total: 0 }
    const { emailKey, prefix, fields, status, tenant } = filter
    const byFields = Object.keys(fields).length > 0 || hasOthers(filter)
    const isFiltered = byFields || prefix !== null || emailKey !== null || status !== undefined
    if (page.sort !== undefined) return sortedPage(conditionOf(dialect, filter), page, !isFiltered, tenant)
    const alone = !byFields && tenant === undefined && status === undefined
    if (alone && prefix === null && emailKey !== null) return pageOfEmail(emailKey, page)
    if (alone && prefix !== null && emailKey === null) {
      const few = await boundedSearch(prefix, page)
      if (few !== null) return few
    }
    if (!isFiltered) return pageOfAll(tenant === undefined ? page : { ...page, tenant })
    const condition = conditionOf(dialect, filter)
    const { sql, params } = pageStatement(dialect, users, USER_COLUMNS, condition, page)
    // Each combination of fields has its own SQL text: too many to keep prepared.
    return toPage(await read(sql, params, { keepPlan: !byFields }), USER_COLUMNS, toUser)
  }
}
