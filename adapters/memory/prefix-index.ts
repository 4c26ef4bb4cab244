import { positionsOf, type Positions } from './pages.ts'
import { SortedSet } from './sorted-set.ts'

/** How many keys a search goes through one by one: a prefix of more keeps its ids in order. */
const few = 256

/** How many keys of a set come before the end of those that begin with this text. Keys are compared by UTF-16 units, as JavaScript compares texts. */
export function endOfPrefix (keys: SortedSet, prefix: string): number {
  let end = prefix.length
  while (end > 0 && prefix.charCodeAt(end - 1) === 0xffff) end--
  return end === 0 ? keys.size : keys.rank(prefix.slice(0, end - 1) + String.fromCharCode(prefix.charCodeAt(end - 1) + 1))
}

/**
 * Finds the ids of which a key begins with a text, in the order of the ids. Work is logarithmic in the number of keys, whatever the text finds: one that finds few
 * is searched among the sorted keys, and one that finds many (there are few such) has a sorted set of its own.
 */
export class PrefixIndex {
  readonly #few: number
  /** Key, NUL (which no key holds), id. */
  readonly #terms = new SortedSet()
  readonly #common = new Map<string, SortedSet>()

  /** The bound, for tests. */
  constructor (bound = few) {
    this.#few = bound
  }

  /** Adds an id under its keys, which are not empty. It is not there yet. */
  add (id: string, keys: readonly string[]): void {
    for (const key of keys) this.#terms.add(`${key}\0${id}`)
    for (const key of keys) {
      for (let length = 1; length <= key.length; length++) {
        const prefix = key.slice(0, length)
        const known = this.#common.get(prefix)
        if (known !== undefined) known.add(id)
        else if (!this.#collect(prefix)) break
      }
    }
  }

  /** Removes an id, by the keys that it was added under. */
  delete (id: string, keys: readonly string[]): void {
    const rare: string[] = []
    for (const key of keys) {
      this.#terms.delete(`${key}\0${id}`)
      for (let length = 1; length <= key.length; length++) {
        const prefix = key.slice(0, length)
        const known = this.#common.get(prefix)
        if (known === undefined) break
        known.delete(id)
        // Well below the bound at which it was made, so that a number going up and down there costs nothing.
        if (known.size < this.#few / 4) rare.push(prefix)
      }
    }
    // Only now: a key may be found by way of a prefix that the other one shares.
    for (const prefix of rare) this.#common.delete(prefix)
  }

  /** The ids of which a key begins with this text, which is not empty. */
  matching (prefix: string): Positions {
    return this.#common.get(prefix) ?? positionsOf(this.#search(prefix))
  }

  /** Whether a prefix that has no set of its own needs one by now: then it has. */
  #collect (prefix: string): boolean {
    const found = endOfPrefix(this.#terms, prefix) - this.#terms.rank(prefix)
    if (found <= this.#few) return false
    const ids = new SortedSet()
    for (const id of this.#search(prefix)) ids.add(id)
    this.#common.set(prefix, ids)
    return true
  }

  #search (prefix: string): string[] {
    const start = this.#terms.rank(prefix)
    const found = this.#terms.range(start, endOfPrefix(this.#terms, prefix) - start)
    return [...new Set(found.map((term) => term.slice(term.indexOf('\0') + 1)))].sort()
  }
}
