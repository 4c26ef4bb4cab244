import { gather, type Several } from '../../lib/core/gather.ts'
import { isStorable } from '../../lib/core/text.ts'
import type {
  Page, PageRequest, SortedPageRequest, TenantPageRequest, UserFilter, UserReads, UserRecord, Words
} from '../../lib/storage/storage.ts'
import type { SplitWords, WordSplitter } from './common-words.ts'
import type { Reading } from './connection/executor.ts'
import type { Compaction } from './counting/hand-counting.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { Statement } from './drivers/driver.ts'
import { membersStatement, ofGroup, ofTenant, pageOfFew, pageStatement, searchStatement, toPage } from './pages.ts'
import type { Condition } from './dialects/value-sql.ts'
import { fieldIs } from './schema/field-indexes.ts'
import { sortedStatement, toSortedPage } from './sorted-pages.ts'
import { USER_COLUMNS, USER_WORDS } from './tables/columns.ts'
import type { Names } from './tables/names.ts'
import { type Row, toUser, unpacked } from './tables/rows.ts'
import { hasOthers, otherConditions } from './user-filters.ts'
import type { FindByEmailKey } from './user-lookup.ts'

// Literals: a plan that is kept for any value can't use the index of those who are suspended.
const HAS_STATUS = { active: "status = 'active'", suspended: "status = 'suspended'" } as const

/** The condition that the words of a row are those of a search, for users that are read anyway. */
function hasWords ({ contains }: Dialect, lists: ReadonlyArray<Words>): Condition {
  const each = lists.map((words) => words.map(() => contains(`(' ' || ${USER_WORDS})`, '?')).join(' AND '))
  return { sql: `(${each.map((sql) => `(${sql})`).join(' OR ')})`, values: lists.flat().map((word) => ` ${word}`) }
}

/** The condition that a row has the words of a search by their index, and others that it is compared with. */
function foundBy (dialect: Dialect, names: Names, lists: readonly SplitWords[]): Condition {
  const { has, query } = dialect.words
  const byIndex = (words: ReadonlyArray<Words>): Condition => ({ sql: has(names), values: [query(words)] })
  if (lists.every(({ compared }) => compared.length === 0)) return byIndex(lists.map(({ indexed }) => indexed))
  const each = lists.map(({ indexed, compared }) =>
    [byIndex([indexed]), ...compared.length === 0 ? [] : [hasWords(dialect, [compared])]])
  return {
    sql: `(${each.map((parts) => `(${parts.map(({ sql }) => sql).join(' AND ')})`).join(' OR ')})`,
    values: each.flat().flatMap(({ values }) => values)
  }
}

/**
 * The SQL condition of a filter; `null` if every user matches. `found`: the words of a search for their index; null:
 * users are read in order, so the words are compared with those of each.
 */
export function conditionOf (
  dialect: Dialect, names: Names, filter: UserFilter, found: readonly SplitWords[] | null
): Condition | null {
  const { emailKey, words, fields, status, group } = filter
  const parts: Condition[] = Object.entries(fields).map(([field, value]) => fieldIs(dialect, field, value))
  if (emailKey !== null) parts.push({ sql: 'email_key = ?', values: [emailKey] })
  if (words !== null) parts.push(found === null ? hasWords(dialect, words) : foundBy(dialect, names, found))
  if (status !== undefined) parts.push({ sql: HAS_STATUS[status], values: [] })
  if (group !== undefined) parts.push(ofGroup(names, group))
  parts.push(...otherConditions(dialect, filter))
  const belongs = ofTenant(filter)
  if (belongs !== null) parts.push(belongs)
  if (parts.length === 0) return null
  return { sql: parts.map(({ sql }) => sql).join(' AND '), values: parts.flatMap(({ values }) => values) }
}

/** False if no stored text can match: a database stores no NUL and no lone surrogate, and refuses both. */
export function canMatch ({ emailKey, words, fields, tenant, group }: UserFilter): boolean {
  const texts = [emailKey, ...words?.flat() ?? [], tenant, group, ...Object.values(fields)]
  // No tenant has an empty name. In the table of counts, the empty name stands for all users.
  return tenant !== '' && texts.every((text) => typeof text !== 'string' || isStorable(text))
}

/** Of those without a condition there are few: their plans are kept. */
interface SortedStatement extends Statement { keepPlan: boolean }

/** A page of all users. Several callers may share its rows. */
interface CountedPage {
  rows: Row[]
  total: number
}

/** Lists of users. Each page is read by one statement. */
export function userLists (
  executor: Reading,
  names: Names,
  { onPage }: Compaction,
  findByEmailKey: FindByEmailKey,
  splitWords: WordSplitter
): UserReads['list'] {
  const { read, batching, dialect } = executor
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
    `${order} ${limit} ${'after' in from ? `after ${from.after}` : from.offset} ${tenant}`
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

  async function pageOfEmail (
    emailKey: string,
    tenant: string | undefined,
    page: PageRequest
  ): Promise<Page<UserRecord>> {
    return pageOfFew((await findByEmailKey(emailKey, tenant)).map(toUser), page)
  }

  const readSorted = ({ sql, params, keepPlan }: SortedStatement) => read(sql, params, { keepPlan })
  // Concurrent requests for the same page read it once.
  const sortedTogether = gather(
    1,
    ({ sql, params }: SortedStatement) => `${sql} ${JSON.stringify(params)}`,
    async ([statement]) => [await readSorted(statement)]
  )

  /** A page in another order. The number of all users, and of those of a tenant, is read as in the order of ids. */
  async function sortedPage (
    condition: Condition | null,
    page: SortedPageRequest,
    { countsAll, isSearch, tenant }: { countsAll: boolean, isSearch: boolean, tenant: string | undefined }
  ): Promise<Page<UserRecord>> {
    const of = tenant === undefined ? {} : { tenant }
    const statementOf = countedPages(names, tenant !== undefined, USER_COLUMNS)
    const counted = countsAll ? statementOf([{ order: 'asc', limit: 0, from: { offset: 0 }, ...of }]) : null
    const { sql, params } = sortedStatement(dialect, users, { condition, page, counted, isSearch })
    const statement = { sql, params, keepPlan: condition === null }
    const rows = await (batching === null ? readSorted(statement) : sortedTogether(statement))
    if (counted !== null) onPage(tenant, Number(rows[0]?.['tail']), Number(rows[0]?.['changes']))
    return toSortedPage(rows)
  }

  return async (filter, page) => {
    if (!canMatch(filter)) return { items: [], total: 0 }
    const { emailKey, words, fields, status, tenant, group } = filter
    const byFields = Object.keys(fields).length > 0 || hasOthers(filter)
    const isListed = byFields || words !== null || emailKey !== null || status !== undefined
    const isFiltered = isListed || group !== undefined
    if (page.sort === undefined && group !== undefined && !isListed && tenant === undefined) {
      const { sql, params } = membersStatement(dialect, names, USER_COLUMNS, group, page)
      return toPage(await read(sql, params, { keepPlan: true }), USER_COLUMNS, toUser)
    }
    if (page.sort === undefined && !isFiltered) return pageOfAll(tenant === undefined ? page : { ...page, tenant })
    const split = words === null ? [] : await splitWords(executor, words)
    const found = conditionOf(dialect, names, filter, split)
    if (page.sort !== undefined) {
      return sortedPage(found, page, { countsAll: !isFiltered, isSearch: words !== null, tenant })
    }
    const alone = !byFields && words === null && status === undefined && group === undefined
    if (alone && emailKey !== null) return pageOfEmail(emailKey, tenant, page)
    const walked = words === null ? null : conditionOf(dialect, names, filter, null)
    const isSearch = words !== null && emailKey === null && !byFields && tenant === undefined &&
      status === undefined && group === undefined && split.every(({ compared }) => compared.length === 0)
    const ofWords = isSearch ? dialect.words.numbers?.(names) ?? null : null
    const numbers = found === null || ofWords === null ? null : { sql: ofWords, values: found.values }
    const { sql, params } = found === null || walked === null
      ? pageStatement(dialect, users, USER_COLUMNS, found, page)
      : searchStatement(dialect, users, USER_COLUMNS, { found, walked, numbers }, page)
    // Each combination of fields has its own SQL text, and each number of words: too many to keep prepared.
    const isPlain = status === undefined && group === undefined && words?.length === 1
    const isOfFew = words === null || (isPlain && words.every(({ length }) => length <= 4))
    return toPage(await read(sql, params, { keepPlan: !byFields && isOfFew }), USER_COLUMNS, toUser)
  }
}
