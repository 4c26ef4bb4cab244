import { LINKS_MAX } from '../../core/limits.ts'
import type { ListedPage } from '../../core/paging.ts'

/**
 * The Link field of a list (RFC 8288): `first`, `prev`, `next` and `last` of a numbered page, only `next` of a walk. In
 * any order but `createdAt`, `next` of a numbered page begins a walk, by `cursor` or else by `after`: new records would
 * shift the pages. The references are paths with every query parameter that was sent. Where they are long, `first` and
 * `last` are left out, then `prev`. Never `next`: a client that follows it would take one page for all.
 */
export function linksOf (
  path: string,
  pairs: ReadonlyArray<[string, string]>,
  { query, items, total, more, next: cursor }: ListedPage<{ id: string }>
): string {
  const [name = 'page'] = Object.keys(query.start)
  const index = pairs.findIndex(([each]) => each === name)
  // The parameters before and after this one are encoded once for all links.
  const before = pairs.slice(0, index === -1 ? pairs.length : index)
  const following = pairs.slice(before.length + 1)
  const head = before.length === 0 ? '' : `${new URLSearchParams(before)}&`
  const tail = following.length === 0 ? '' : `&${new URLSearchParams(following)}`
  const link = (rel: string, value: string | number, as = name): string =>
    `<${path}?${head}${as}=${value}${tail}>; rel="${rel}"`
  if (!('page' in query.start)) {
    const last = items.at(-1)
    return more && last !== undefined ? link('next', cursor ?? last.id) : ''
  }
  const { page } = query.start
  const lastPage = Math.max(1, Math.ceil(total / query.limit))
  const first = link('first', 1)
  const prev = page > 1 ? [link('prev', Math.min(page - 1, lastPage))] : []
  const last = items.at(-1)
  const walk = (): string => query.order === 'desc' && last !== undefined
    ? link('next', last.id, 'after')
    : link('next', page + 1)
  const next = more ? [cursor === undefined ? walk() : link('next', cursor, 'cursor')] : []
  const joined = (links: string[]): string | null => {
    const text = links.join(', ')
    return text.length <= LINKS_MAX ? text : null
  }
  return joined([first, ...prev, ...next, link('last', lastPage)]) ?? joined([...prev, ...next]) ?? next.join()
}
