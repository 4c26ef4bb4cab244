import type { Capabilities } from '../api/types.ts'
import { namedIn, withoutSecret } from '../state/pasted.ts'
import { absoluteBound, allBounds } from './bounds.ts'

const PAGE_SIZES = [20, 50, 100]
const OF_EVERY_USER = ['createdAt', 'updatedAt', 'name', 'email']
const USUAL_SORT = '-createdAt'
const COLUMNS = 'columns'

/** What the list shows, as it stands in the page's address. */
export interface ListState {
  page: number
  limit: number
  sort: string
  q: string
  filters: Readonly<Record<string, string>>
  /** Null: the usual ones. */
  columns: readonly string[] | null
}

/** The sizes of a page that the API allows. */
export function pageSizes ({ pageSize }: Capabilities): number[] {
  const sizes = PAGE_SIZES.filter((size) => size <= pageSize.max)
  return sizes.length === 0 ? [pageSize.max] : sizes
}

/** The columns that `sort` takes, each also from the end with a minus before it. */
export function sortable ({ filterable }: Capabilities): string[] {
  return [...OF_EVERY_USER, ...filterable]
}

function wholeNumber (text: string | null, usual: number): number {
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : usual
}

/** True unless a field that the host can filter by has the name of the parameter. */
const hasColumns = ({ filterable }: Capabilities): boolean => !filterable.includes(COLUMNS)

export function readState (query: URLSearchParams, capabilities: Capabilities): ListState {
  const sizes = pageSizes(capabilities)
  const [smallest = capabilities.pageSize.max] = sizes
  const limit = wholeNumber(query.get('limit'), smallest)
  const bounds = allBounds(capabilities).map(({ name }) => name)
  const filters = ['status', ...capabilities.filterable, ...bounds].flatMap((name) => {
    const value = query.get(name)
    return value === null || value === '' ? [] : [[name, value] as const]
  })
  const sort = query.get('sort') ?? ''
  const columns = hasColumns(capabilities) ? query.get(COLUMNS) : null
  return {
    page: wholeNumber(query.get('page'), 1),
    limit: sizes.includes(limit) ? limit : smallest,
    sort: sortable(capabilities).includes(sort.replace(/^-/, '')) ? sort : USUAL_SORT,
    q: query.get('q') ?? '',
    filters: Object.fromEntries(filters),
    columns: columns === null ? null : columns.split(',')
  }
}

/** The state for the page's address: what is usual is left out. */
export function writeState (
  { page, limit, sort, q, filters, columns }: ListState,
  capabilities: Capabilities
): URLSearchParams {
  const [smallest] = pageSizes(capabilities)
  return new URLSearchParams({
    ...(page > 1 && { page: String(page) }),
    ...(limit !== smallest && { limit: String(limit) }),
    ...(sort !== USUAL_SORT && { sort }),
    ...(q !== '' && { q }),
    ...filters,
    ...(columns !== null && hasColumns(capabilities) && { [COLUMNS]: columns.join(',') })
  })
}

const UNSEARCHED = /[^\p{L}\p{N}]/gu
const SYLLABLE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/**
 * What the API is asked to narrow the list by. The id of a user, and an address with one, finds that user. Another
 * search needs two letters or digits, or one of Han, Hangul or kana.
 */
export function filterQuery ({ q, filters }: Pick<ListState, 'q' | 'filters'>): Record<string, string> {
  const absolute = Object.fromEntries(Object.entries(filters).map(([name, value]) =>
    [name, name === 'createdAt[gte]' ? absoluteBound(value) : value]))
  const named = namedIn(q)
  if (named?.is === 'usr') return { ...absolute, ids: named.text }
  const text = withoutSecret(q).trim()
  const seen = text.normalize('NFKD').replace(UNSEARCHED, '')
  return { ...absolute, ...((SYLLABLE.test(seen) || [...seen].length >= 2) && { q: text }) }
}

/** True if the list is narrowed by anything. */
export function isFiltered (state: Pick<ListState, 'q' | 'filters'>): boolean {
  return Object.keys(filterQuery(state)).length > 0
}
