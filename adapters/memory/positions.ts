import type { PageRequest } from '../../lib/storage/storage.ts'
import type { SortedMap } from './sorted-map.ts'

/** Items in the order of their ids with known positions: a {@link SortedMap}, or the few that a filter matches. */
export type Positions<Item> = Pick<SortedMap<Item>, 'size' | 'rank' | 'range'>

/** A list sorted by id as {@link Positions}. */
export function positionsOf<Item extends { id: string }> (sorted: readonly Item[]): Positions<Item> {
  return {
    size: sorted.length,
    rank: (key) => sorted.reduce((before, { id }) => id < key ? before + 1 : before, 0),
    range: (start, count) => sorted.slice(start, start + count)
  }
}

/** The items of a page, in its order. */
export function pageOf<Item> (items: Positions<Item>, { order, limit, from }: PageRequest): Item[] {
  if (order === 'asc') {
    // The text that directly follows an id is the id and a NUL.
    const start = 'offset' in from ? from.offset : items.rank(`${from.after}\0`)
    return items.range(start, limit)
  }
  const end = 'offset' in from ? Math.max(0, items.size - from.offset) : items.rank(from.after)
  const start = Math.max(0, end - limit)
  return items.range(start, end - start).reverse()
}
