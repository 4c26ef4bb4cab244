import type { ListedPage } from '../paging.ts'

/**
 * The Link field of a list (RFC 8288): `first`, `prev`, `next`, `last` of a page by number, `next` alone of a walk by `after`. Relative references
 * from the path, with every query parameter that was sent.
 */
export function linksOf (path: string, pairs: ReadonlyArray<[string, string]>, { query, items, total, more }: ListedPage<{ id: string }>): string {
  const name = 'after' in query.start ? 'after' : 'page'
  const place = pairs.findIndex(([each]) => each === name)
  // What stands around the place is encoded once for all links.
  const before = pairs.slice(0, place === -1 ? pairs.length : place)
  const behind = pairs.slice(before.length + 1)
  const head = before.length === 0 ? '' : `${new URLSearchParams(before)}&`
  const tail = behind.length === 0 ? '' : `&${new URLSearchParams(behind)}`
  const to = (rel: string, value: string | number): string => `<${path}?${head}${name}=${value}${tail}>; rel="${rel}"`
  if ('after' in query.start) {
    const last = items.at(-1)
    return more && last !== undefined ? to('next', last.id) : ''
  }
  const { page } = query.start
  const lastPage = Math.max(1, Math.ceil(total / query.limit))
  return [
    to('first', 1),
    ...(page > 1 ? [to('prev', Math.min(page - 1, lastPage))] : []),
    ...(more ? [to('next', page + 1)] : []),
    to('last', lastPage)
  ].join(', ')
}
