import { positionsOf, type Positions } from './positions.ts'
import { SortedMap } from './sorted-map.ts'

/** Keys that a search reads one by one. A prefix with more keeps its items in order. */
const SCAN_MAX = 256

/**
 * The number of keys before the end of those that begin with this text. Keys are compared by UTF-16 units, as in
 * JavaScript.
 */
export function endOfPrefix (keys: SortedMap<unknown>, prefix: string): number {
  let end = prefix.length
  while (end > 0 && prefix.charCodeAt(end - 1) === 0xffff) end--
  if (end === 0) return keys.size
  const next = String.fromCharCode(prefix.charCodeAt(end - 1) + 1)
  return keys.rank(prefix.slice(0, end - 1) + next)
}

/**
 * Finds the items with a key that begins with a text, in the order of their ids. The work is about logarithmic in the
 * number of keys: a text that matches few is searched in the sorted keys, and one that matches many (there are few
 * such texts) has a sorted map of its own.
 */
export class PrefixIndex<Item extends { readonly id: string }> {
  readonly #scanMax: number
  /** By key, NUL (which no key holds), id. */
  readonly #terms = new SortedMap<Item>()
  readonly #common = new Map<string, SortedMap<Item>>()

  /** `scanMax`: another bound, for tests. */
  constructor (scanMax = SCAN_MAX) {
    this.#scanMax = scanMax
  }

  /**
   * Moves an item from its keys before a change (none if it is new) to those after it (none if it is deleted). No key
   * is empty.
   */
  move (item: Item, before: readonly string[], after: readonly string[]): void {
    this.#leave(item, before, after)
    this.#enter(item, before, after)
  }

  /** The items with a key that begins with this text. None has a NUL, which would match what stands behind a key. */
  matching (prefix: string): Positions<Item> {
    if (prefix.includes('\0')) return positionsOf([])
    return this.#common.get(prefix) ?? positionsOf(this.#search(prefix))
  }

  #leave (item: Item, before: readonly string[], after: readonly string[]): void {
    const rare: string[] = []
    for (const key of before) {
      if (!after.includes(key)) this.#terms.delete(`${key}\0${item.id}`)
      for (let length = 1; length <= key.length; length++) {
        const prefix = key.slice(0, length)
        const known = this.#common.get(prefix)
        if (known === undefined) break
        if (after.some((each) => each.startsWith(prefix))) continue
        known.delete(item.id)
        // Well below the bound at which it was made, so that a number that varies around that bound costs nothing.
        if (known.size < this.#scanMax / 4) rare.push(prefix)
      }
    }
    // Only now: the loop above reaches longer prefixes of a key through shorter ones.
    for (const prefix of rare) this.#common.delete(prefix)
  }

  #enter (item: Item, before: readonly string[], after: readonly string[]): void {
    for (const key of after) if (!before.includes(key)) this.#terms.set(`${key}\0${item.id}`, item)
    for (const key of after) {
      for (let length = 1; length <= key.length; length++) {
        const prefix = key.slice(0, length)
        const known = this.#common.get(prefix)
        if (known === undefined && !this.#collect(prefix)) break
        if (!before.some((each) => each.startsWith(prefix))) known?.set(item.id, item)
      }
    }
  }

  /** Makes a map for a prefix that matches many by now. True if it did. */
  #collect (prefix: string): boolean {
    const found = endOfPrefix(this.#terms, prefix) - this.#terms.rank(prefix)
    if (found <= this.#scanMax) return false
    const items = new SortedMap<Item>()
    for (const item of this.#search(prefix)) items.set(item.id, item)
    this.#common.set(prefix, items)
    return true
  }

  #search (prefix: string): Item[] {
    const start = this.#terms.rank(prefix)
    const found = this.#terms.range(start, endOfPrefix(this.#terms, prefix) - start)
    return [...new Set(found)].sort((a, b) => a.id < b.id ? -1 : 1)
  }
}
