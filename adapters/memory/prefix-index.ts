import { positionsOf, type Positions } from './pages.ts'
import { SortedMap } from './sorted-map.ts'

/** How many keys a search goes through one by one: a prefix of more keeps its items in order. */
const few = 256

/** How many keys come before the end of those that begin with this text. Keys are compared by UTF-16 units, as JavaScript compares texts. */
export function endOfPrefix (keys: SortedMap<unknown>, prefix: string): number {
  let end = prefix.length
  while (end > 0 && prefix.charCodeAt(end - 1) === 0xffff) end--
  return end === 0 ? keys.size : keys.rank(prefix.slice(0, end - 1) + String.fromCharCode(prefix.charCodeAt(end - 1) + 1))
}

/**
 * Finds the items of which a key begins with a text, in the order of their ids. Work is about logarithmic in the number of keys, whatever the text finds: one that finds
 * few is searched among the sorted keys, and one that finds many (there are few such) has a sorted map of its own.
 */
export class PrefixIndex<Item extends { readonly id: string }> {
  readonly #few: number
  /** By key, NUL (which no key holds), id. */
  readonly #terms = new SortedMap<Item>()
  readonly #common = new Map<string, SortedMap<Item>>()

  /** The bound, for tests. */
  constructor (bound = few) {
    this.#few = bound
  }

  /** Takes an item from the keys that it stands under (none where it is new) to those that it shall stand under (none where it goes). No key is empty. */
  move (item: Item, before: readonly string[], after: readonly string[]): void {
    this.#leave(item, before, after)
    this.#enter(item, before, after)
  }

  /** The items of which a key begins with this text, which is not empty. */
  matching (prefix: string): Positions<Item> {
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
        // Well below the bound at which it was made, so that a number going up and down there costs nothing.
        if (known.size < this.#few / 4) rare.push(prefix)
      }
    }
    // Only now: a key may be found by way of a prefix that the other one shares.
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

  /** Whether a prefix that has no map of its own needs one by now: then it has. */
  #collect (prefix: string): boolean {
    const found = endOfPrefix(this.#terms, prefix) - this.#terms.rank(prefix)
    if (found <= this.#few) return false
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
