/** The number of sorted texts that precede a key. */
function position (keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const probe = keys[middle]
    if (probe !== undefined && probe < key) low = middle + 1
    else high = middle
  }
  return low
}

/** The most keys in a leaf. A change moves the keys after it in its leaf, and the start of every later leaf. */
const LEAF_MAX = 512

/**
 * A map sorted by its text keys, in which keys have positions. It has leaves of a few hundred keys, and the position at
 * which each leaf begins. The search for a position starts where it would be if all leaves were equally full.
 */
export class SortedMap<Value> {
  readonly #leafMax: number
  #keys: string[][] = []
  #values: Value[][] = []
  /** The position at which each leaf begins, followed by the size of the map. */
  #starts = [0]

  /** `leafMax`: a different leaf size, for tests. */
  constructor (leafMax = LEAF_MAX) {
    this.#leafMax = leafMax
  }

  get size (): number {
    return this.#startOf(this.#keys.length)
  }

  set (key: string, value: Value): void {
    const leaf = this.#leafOf(key)
    const [keys, values] = [this.#keys[leaf], this.#values[leaf]]
    if (keys === undefined || values === undefined) {
      // No `push`, which reserves room for sixteen more: the index of a field has many maps with one key each.
      this.#keys = [[key]]
      this.#values = [[value]]
      this.#recount()
      return
    }
    const at = position(keys, key)
    const isNew = keys[at] !== key
    values.splice(at, isNew ? 0 : 1, value)
    if (!isNew) return
    keys.splice(at, 0, key)
    if (keys.length > this.#leafMax) this.#split(leaf, keys, values)
    else this.#shift(leaf, 1)
  }

  /** Removes a key, if it is there. */
  delete (key: string): void {
    const leaf = this.#leafOf(key)
    const keys = this.#keys[leaf] ?? []
    const at = position(keys, key)
    if (keys[at] !== key) return
    keys.splice(at, 1)
    this.#values[leaf]?.splice(at, 1)
    this.#shift(leaf, -1)
    this.#shrink(leaf)
  }

  /** The number of keys smaller than this text, which need not be a key. */
  rank (key: string): number {
    const leaf = this.#leafOf(key)
    return this.#startOf(leaf) + position(this.#keys[leaf] ?? [], key)
  }

  /** The key at a position, if there is one. */
  keyAt (position: number): string | undefined {
    const leaf = this.#leafAt(position)
    return this.#keys[leaf]?.[position - this.#startOf(leaf)]
  }

  /** A map with the same keys and values. */
  copy (): SortedMap<Value> {
    const copied = new SortedMap<Value>(this.#leafMax)
    copied.#keys = this.#keys.map((keys) => keys.slice())
    copied.#values = this.#values.map((values) => values.slice())
    copied.#recount()
    return copied
  }

  /** The values of at most `count` keys from position `start` on, in the order of the keys. */
  range (start: number, count: number): Value[] {
    const found: Value[] = []
    const first = Math.min(Math.max(0, start), this.size)
    let leaf = this.#leafAt(first)
    let from = first - this.#startOf(leaf)
    for (let values = this.#values[leaf]; found.length < count && values !== undefined; values = this.#values[++leaf]) {
      found.push(...values.slice(from, from + count - found.length))
      from = 0
    }
    return found
  }

  #startOf (leaf: number): number {
    return this.#starts[leaf] ?? Infinity
  }

  /**
   * The leaf that contains a position from 0 to the size, or the index after the last leaf. Processors predict a walk
   * through the leaves well, and a binary search badly.
   */
  #leafAt (position: number): number {
    const leaves = this.#keys.length
    let leaf = Math.min(leaves, Math.floor(position / Math.max(1, this.size) * leaves))
    while (this.#startOf(leaf) > position) leaf--
    while (this.#startOf(leaf + 1) <= position) leaf++
    return leaf
  }

  /** The leaf that a key belongs to. */
  #leafOf (key: string): number {
    let low = 0
    let high = this.#keys.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      const first = this.#keys[middle]?.[0]
      if (first !== undefined && first <= key) low = middle
      else high = middle - 1
    }
    return low
  }

  /** Moves the start of each leaf after this one. */
  #shift (leaf: number, by: number): void {
    for (let next = leaf + 1; next < this.#starts.length; next++) this.#starts[next] = this.#startOf(next) + by
  }

  #recount (): void {
    let sum = 0
    this.#starts = [0, ...this.#keys.map(({ length }) => { sum += length; return sum })]
  }

  /**
   * Splits a leaf that is too large. New ids come last, so the last leaf is split at its end and stays full.
   */
  #split (leaf: number, keys: string[], values: Value[]): void {
    const at = leaf === this.#keys.length - 1 ? keys.length - 1 : keys.length >>> 1
    this.#keys.splice(leaf + 1, 0, keys.splice(at))
    this.#values.splice(leaf + 1, 0, values.splice(at))
    this.#recount()
  }

  /** Removes an empty leaf, or merges a small one with its neighbour. */
  #shrink (leaf: number): void {
    const left = Math.max(0, leaf - 1)
    const [a, b] = this.#keys.slice(left, left + 2)
    if (this.#keys[leaf]?.length === 0) {
      this.#keys.splice(leaf, 1)
      this.#values.splice(leaf, 1)
    } else if (a !== undefined && b !== undefined && a.length + b.length <= this.#leafMax / 2) {
      this.#keys.splice(left, 2, a.concat(b))
      this.#values.splice(left, 2, this.#values.slice(left, left + 2).flat())
    } else return
    this.#recount()
  }
}
