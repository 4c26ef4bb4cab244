import type { CheckedListQuery } from '../users/list-query.ts'

interface ListedPage {
  query: CheckedListQuery
  items: ReadonlyArray<{ id: string }>
  total: number
  more: boolean
}

/**
 * The Link field of a list (RFC 8288): `first`, `prev`, `next`, `last` of a page by number, `next` alone of a walk by `after`. Relative references
 * from the path, with every query parameter that was sent.
 */
export function linksOf (path: string, pairs: ReadonlyArray<[string, string]>, { query, items, total, more }: ListedPage): string {
  const to = (rel: string, name: 'page' | 'after', value: string): string => {
    const parameters = new URLSearchParams([...pairs])
    parameters.set(name, value)
    return `<${path}?${parameters}>; rel="${rel}"`
  }
  if ('after' in query.start) {
    const last = items.at(-1)
    return more && last !== undefined ? to('next', 'after', last.id) : ''
  }
  const { page } = query.start
  const lastPage = Math.max(1, Math.ceil(total / query.limit))
  return [
    to('first', 'page', '1'),
    ...(page > 1 ? [to('prev', 'page', String(Math.min(page - 1, lastPage)))] : []),
    ...(more ? [to('next', 'page', String(page + 1))] : []),
    to('last', 'page', String(lastPage))
  ].join(', ')
}
