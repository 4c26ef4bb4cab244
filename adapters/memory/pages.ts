import type { PageRequest } from '../../lib/storage.ts'
import type { SortedSet } from './sorted-set.ts'

/** Texts in order that know their positions: a {@link SortedSet}, or the few that a filter leaves of one. */
export type Positions = Pick<SortedSet, 'size' | 'rank' | 'range'>

/** A sorted list as {@link Positions}. */
export function positionsOf (sorted: readonly string[]): Positions {
  return {
    size: sorted.length,
    rank: (key) => sorted.reduce((before, each) => each < key ? before + 1 : before, 0),
    range: (start, count) => sorted.slice(start, start + count)
  }
}

/** The part of a sorted set that a page asks for, in the page's order. */
export function pageOf (ids: Positions, { order, limit, from }: PageRequest): string[] {
  if (order === 'asc') {
    // The text right behind an id is the id and a NUL.
    const start = 'offset' in from ? from.offset : ids.rank(`${from.after}\0`)
    return ids.range(start, limit)
  }
  const end = 'offset' in from ? Math.max(0, ids.size - from.offset) : ids.rank(from.after)
  const start = Math.max(0, end - limit)
  return ids.range(start, end - start).reverse()
}

/** Copies of the records with these ids. */
export function pick<Record, Item> (records: ReadonlyMap<string, Record>, ids: readonly string[], copy: (record: Record) => Item): Item[] {
  const items: Item[] = []
  for (const id of ids) {
    const record = records.get(id)
    if (record !== undefined) items.push(copy(record))
  }
  return items
}
