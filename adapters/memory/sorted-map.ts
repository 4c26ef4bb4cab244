/** How many of these sorted texts come before this one. */
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

/** So many leaves, and they are made twice as large, up to the largest that a map is made for. */
const MANY = 64

/** Each two lists that stand side by side as one. */
function paired<Item> (lists: ReadonlyArray<readonly Item[]>): Item[][] {
  return Array.from({ length: Math.ceil(lists.length / 2) }, (_, i) => lists.slice(i * 2, i * 2 + 2).flat())
}

/**
 * Values under texts in order, that knows positions: leaves of some hundred keys or more, and the position at which each begins. A change moves the positions
 * behind it, and a position is looked for from where it would be if all leaves were as full: both are fast where leaves are large. Each key has as many values
 * as the map is wide, one behind the other.
 */
export class SortedMap<Value> {
  readonly #width: number
  readonly #largest: number
  #leafMax: number
  // Leaf by leaf, in lists of their own and not in objects: each more thing on the way, somewhere else in memory, is a fifth of the time of a page at random.
  #keys: string[][] = []
  #values: Value[][] = []
  /** The position at which each leaf begins, and last the size of the map. */
  #starts = [0]

  /** Each key has `width` values; a leaf at most `leafMax` keys, and where there are many leaves at most `largest`. */
  constructor ({ width = 1, leafMax = 512, largest = leafMax }: { width?: number, leafMax?: number, largest?: number } = {}) {
    this.#width = width
    this.#leafMax = leafMax
    this.#largest = largest
  }

  get size (): number {
    return this.#startOf(this.#keys.length)
  }

  /** Sets the values of a key, as many as the map is wide. */
  set (key: string, ...values: Value[]): void {
    const leaf = this.#leafOf(key)
    const [keys, kept] = [this.#keys[leaf], this.#values[leaf]]
    if (keys === undefined || kept === undefined) {
      // Not by `push`, which keeps room for sixteen more: an index by field is many maps of one key.
      this.#keys = [[key]]
      this.#values = [values]
      this.#recount()
      return
    }
    const at = position(keys, key)
    const isNew = keys[at] !== key
    kept.splice(at * this.#width, isNew ? 0 : this.#width, ...values)
    if (!isNew) return
    keys.splice(at, 0, key)
    if (keys.length > this.#leafMax) this.#split(leaf, keys, kept)
    else this.#add(leaf, 1)
  }

  /** Removes a key, if it is there. */
  delete (key: string): void {
    const leaf = this.#leafOf(key)
    const keys = this.#keys[leaf] ?? []
    const at = position(keys, key)
    if (keys[at] !== key) return
    keys.splice(at, 1)
    this.#values[leaf]?.splice(at * this.#width, this.#width)
    this.#add(leaf, -1)
    this.#shrink(leaf)
  }

  /** How many keys are smaller than this text, which need not be one of them. */
  rank (key: string): number {
    const leaf = this.#leafOf(key)
    return this.#startOf(leaf) + position(this.#keys[leaf] ?? [], key)
  }

  /** The values of at most so many keys, from the one at this position on, in the order of the keys. */
  range (start: number, count: number): Value[] {
    const found: Value[] = []
    this.visit(start, count, (values, from, to) => { found.push(...values.slice(from, to)) })
    return found
  }

  /** The same without a copy: shows them where they stand, from one place in a list to another, list by list. */
  visit (start: number, count: number, see: (values: readonly Value[], from: number, to: number) => void): void {
    const position = Math.min(Math.max(0, start), this.size)
    let leaf = this.#find(position)
    let from = (position - this.#startOf(leaf)) * this.#width
    let left = count * this.#width
    for (let values = this.#values[leaf]; left > 0 && values !== undefined; values = this.#values[++leaf]) {
      const to = Math.min(values.length, from + left)
      see(values, from, to)
      left -= to - from
      from = 0
    }
  }

  #startOf (leaf: number): number {
    return this.#starts[leaf] ?? Infinity
  }

  /** The leaf in which a position from 0 to the size is, or the one behind the last. Steps through the leaves are guessed well by a processor, those of a search by halves are not. */
  #find (position: number): number {
    const leaves = this.#keys.length
    let leaf = Math.min(leaves, Math.floor(position / Math.max(1, this.size) * leaves))
    while (this.#startOf(leaf) > position) leaf--
    while (this.#startOf(leaf + 1) <= position) leaf++
    return leaf
  }

  /** The leaf in which a key belongs. */
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

  #add (leaf: number, more: number): void {
    for (let behind = leaf + 1; behind < this.#starts.length; behind++) this.#starts[behind] = this.#startOf(behind) + more
  }

  #recount (): void {
    let sum = 0
    this.#starts = [0, ...this.#keys.map(({ length }) => { sum += length; return sum })]
  }

  /** Takes the upper part of a leaf that has grown too wide. What grows at its end (ids do) is cut there, so that full leaves stay full. */
  #split (leaf: number, keys: string[], values: Value[]): void {
    const cut = leaf === this.#keys.length - 1 ? keys.length - 1 : keys.length >>> 1
    this.#keys.splice(leaf + 1, 0, keys.splice(cut))
    this.#values.splice(leaf + 1, 0, values.splice(cut * this.#width))
    if (this.#keys.length > MANY && this.#leafMax < this.#largest) {
      this.#leafMax *= 2
      this.#keys = paired(this.#keys)
      this.#values = paired(this.#values)
    }
    this.#recount()
  }

  /** Drops a leaf that has run empty, or joins one that has grown small with its neighbour. */
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
