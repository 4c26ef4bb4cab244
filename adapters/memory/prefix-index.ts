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
 * A text that many keys begin with, and the longest one that all of these begin with: where keys part. Its `branches`
 * are those of longer texts, by the character that follows.
 */
interface Branch<Item> {
  readonly prefix: string
  /** By id. */
  readonly items: SortedMap<Item>
  readonly branches: Branches<Item>
}

type Branches<Item> = Map<string, Branch<Item>>

/** The number of characters that two texts begin with. */
function sharedLength (a: string, b: string): number {
  let length = 0
  while (length < a.length && length < b.length && a.charCodeAt(length) === b.charCodeAt(length)) length++
  return length
}

/**
 * Finds the items with a key that begins with a text, in the order of their ids. The work is about logarithmic in the
 * number of keys: a text that matches few is searched in the sorted keys, and one that matches many (there are few
 * such texts) has a sorted map of its own, which it shares with the longer texts that the same keys begin with. So the
 * twenty characters that numbered names have in common cost as much as one.
 */
export class PrefixIndex<Item extends { readonly id: string }> {
  readonly #scanMax: number
  /** By key, NUL (which no key holds), id. */
  readonly #terms = new SortedMap<Item>()
  readonly #branches: Branches<Item> = new Map()

  /** `scanMax`: another bound, for tests. */
  constructor (scanMax = SCAN_MAX) {
    this.#scanMax = scanMax
  }

  /**
   * Moves an item from its keys before a change (none if it is new) to those after it (none if it is deleted). No key
   * is empty.
   */
  move (item: Item, before: readonly string[], after: readonly string[]): void {
    const gone = before.filter((key) => !after.includes(key))
    const come = after.filter((key) => !before.includes(key))
    for (const key of gone) this.#terms.delete(`${key}\0${item.id}`)
    for (const key of gone) this.#leave(item, key, after)
    for (const key of come) this.#terms.set(`${key}\0${item.id}`, item)
    for (const key of come) this.#enter(item, key, before)
  }

  /** The items with a key that begins with this text. None has a NUL, which would match what stands behind a key. */
  matching (prefix: string): Positions<Item> {
    if (prefix.includes('\0')) return positionsOf([])
    let branches = this.#branches
    let length = 0
    while (true) {
      const branch = branches.get(prefix.charAt(length))
      if (branch?.prefix.startsWith(prefix)) return branch.items
      if (branch === undefined || !prefix.startsWith(branch.prefix)) return positionsOf(this.#search(prefix))
      branches = branch.branches
      length = branch.prefix.length
    }
  }

  /** Takes an item out of the branches of a key, but for those of its keys after the change. */
  #leave (item: Item, key: string, after: readonly string[]): void {
    let branches = this.#branches
    let length = 0
    while (true) {
      const next = key.charAt(length)
      const branch = branches.get(next)
      if (branch === undefined || !key.startsWith(branch.prefix)) return
      if (!after.some((each) => each.startsWith(branch.prefix))) branch.items.delete(item.id)
      // Well below the bound at which it was made, so that a number that varies around that bound costs nothing.
      if (branch.items.size < this.#scanMax / 4) branches.delete(next)
      branches = branch.branches
      length = branch.prefix.length
    }
  }

  /** Puts an item into the branches of a key, and makes those that are missing. */
  #enter (item: Item, key: string, before: readonly string[]): void {
    let branches = this.#branches
    let length = 0
    while (length < key.length) {
      const next = key.charAt(length)
      const known = branches.get(next)
      if (known === undefined) {
        const made = this.#collect(key.slice(0, length + 1))
        if (made !== null) branches.set(next, made)
        return
      }
      const branch = this.#upTo(sharedLength(known.prefix, key), known)
      if (branch !== known) branches.set(next, branch)
      if (branch !== known || !before.some((each) => each.startsWith(branch.prefix))) branch.items.set(item.id, item)
      branches = branch.branches
      length = branch.prefix.length
    }
  }

  /** A branch, or a new one before it if a key has only so many characters of its prefix. */
  #upTo (length: number, branch: Branch<Item>): Branch<Item> {
    if (length === branch.prefix.length) return branch
    const branches = new Map([[branch.prefix.charAt(length), branch]])
    return { prefix: branch.prefix.slice(0, length), items: branch.items.copy(), branches }
  }

  /** Makes the branch of a text that many keys begin with by now; null: few do. */
  #collect (prefix: string): Branch<Item> | null {
    const start = this.#terms.rank(prefix)
    const end = endOfPrefix(this.#terms, prefix)
    if (end - start <= this.#scanMax) return null
    // In their order the first and the last one differ most.
    const [first = '', last = ''] = [this.#terms.keyAt(start), this.#terms.keyAt(end - 1)]
    const [shared = ''] = first.slice(0, sharedLength(first, last)).split('\0')
    const items = new SortedMap<Item>()
    for (const item of this.#search(prefix)) items.set(item.id, item)
    return { prefix: shared, items, branches: new Map() }
  }

  #search (prefix: string): Item[] {
    const start = this.#terms.rank(prefix)
    const found = this.#terms.range(start, endOfPrefix(this.#terms, prefix) - start)
    return [...new Set(found)].sort((a, b) => a.id < b.id ? -1 : 1)
  }
}
