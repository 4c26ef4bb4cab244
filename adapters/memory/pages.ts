import type { PageRequest } from '../../lib/storage.ts'
import type { SortedSet } from './sorted-set.ts'

/** The part of a sorted set that a page asks for, in the page's order. */
export function pageOf (ids: SortedSet, { order, limit, from }: PageRequest): string[] {
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

/** The first text, in the order of UTF-16 units, behind all that begin with this one. */
export function behindPrefix (prefix: string): string {
  let end = prefix.length
  while (end > 0 && prefix.charCodeAt(end - 1) === 0xffff) end--
  return end === 0 ? '\uffff' : prefix.slice(0, end - 1) + String.fromCharCode(prefix.charCodeAt(end - 1) + 1)
}
