/** A leaf holds keys in order and the value of each in the same place, a branch holds children in order, and their sizes beside them; `size` is the number of keys below. */
interface Node<Value> {
  leaf: boolean
  keys: string[]
  values: Value[]
  children: Array<Node<Value>>
  /** Of the children: to ask sixty of them, each somewhere else in memory, costs more than a page. */
  sizes: number[]
  size: number
}

const leafOf = <Value>(keys: string[], values: Value[]): Node<Value> => ({ leaf: true, keys, values, children: [], sizes: [], size: keys.length })
const sum = (sizes: readonly number[]): number => sizes.reduce((before, size) => before + size, 0)

function branchOf<Value> (children: Array<Node<Value>>): Node<Value> {
  const sizes = children.map(({ size }) => size)
  return { leaf: false, keys: [], values: [], children, sizes, size: sum(sizes) }
}

const width = ({ leaf, keys, children }: Node<unknown>): number => leaf ? keys.length : children.length

/** The smallest key below a node, or the text that sorts before every other where there is none. */
function first (node: Node<unknown>): string {
  let smallest = ''
  for (let at: Node<unknown> | undefined = node; at !== undefined; at = at.children[0]) {
    if (at.keys[0] !== undefined) smallest = at.keys[0]
  }
  return smallest
}

/** How many keys come before this one. */
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

/** The place of the child in which a key belongs. */
function childFor (children: ReadonlyArray<Node<unknown>>, key: string): number {
  let low = 0
  let high = children.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    const child = children[middle]
    if (child !== undefined && first(child) <= key) low = middle
    else high = middle - 1
  }
  return low
}

/** Takes the upper part of a node that has grown too wide. What grows at its end (ids do) is cut there, so that full nodes stay full. */
function split<Value> (node: Node<Value>, atEnd: boolean): Node<Value> {
  const cut = atEnd ? width(node) - 1 : width(node) >>> 1
  const upper = node.leaf ? leafOf(node.keys.splice(cut), node.values.splice(cut)) : branchOf(node.children.splice(cut))
  node.sizes.splice(cut)
  node.size -= upper.size
  return upper
}

/** Values under texts in order, that knows positions: a B+ tree with counts, so that every step is logarithmic in its size. */
export class SortedMap<Value> {
  readonly #leafMax: number
  readonly #branchMax: number
  #root: Node<Value> = leafOf([], [])

  /** The widths of nodes, for tests: trees of few keys are deep where nodes are narrow. */
  constructor (leafMax = 512, branchMax = 64) {
    this.#leafMax = leafMax
    this.#branchMax = branchMax
  }

  get size (): number {
    return this.#root.size
  }

  /** Adds a key with its value; one that is there keeps its own. */
  add (key: string, value: Value): void {
    this.#insert(this.#root, key, value)
    if (width(this.#root) > this.#max(this.#root)) {
      const upper = split(this.#root, true)
      this.#root = branchOf([this.#root, upper])
    }
  }

  /** Removes a key, if it is there. */
  delete (key: string): void {
    this.#remove(this.#root, key)
    const [only] = this.#root.children
    if (this.#root.children.length === 1 && only !== undefined) this.#root = only
  }

  /** How many keys are smaller than this text, which need not be one of them. */
  rank (key: string): number {
    let before = 0
    let at: Node<Value> | undefined = this.#root
    while (at !== undefined) {
      before += position(at.keys, key)
      const child: number = childFor(at.children, key)
      before += sum(at.sizes.slice(0, child))
      at = at.children[child]
    }
    return before
  }

  /** The values from this position on, at most so many, in the order of their keys. */
  range (start: number, count: number): Value[] {
    const found: Value[] = []
    const collect = ({ values, children, sizes }: Node<Value>, skip: number): void => {
      found.push(...values.slice(skip, skip + count - found.length))
      for (let at = 0; at < children.length && found.length < count; at++) {
        const [child, size = 0] = [children[at], sizes[at]]
        if (skip < size && child !== undefined) collect(child, skip)
        skip = Math.max(0, skip - size)
      }
    }
    collect(this.#root, start)
    return found
  }

  #max ({ leaf }: Node<Value>): number {
    return leaf ? this.#leafMax : this.#branchMax
  }

  /** Whether the key was added: it was not there. */
  #insert (node: Node<Value>, key: string, value: Value): boolean {
    if (node.leaf) {
      const at = position(node.keys, key)
      if (node.keys[at] === key) return false
      node.keys.splice(at, 0, key)
      node.values.splice(at, 0, value)
    } else {
      const at = childFor(node.children, key)
      const child = node.children[at]
      if (child === undefined || !this.#insert(child, key, value)) return false
      if (width(child) > this.#max(child)) {
        const upper = split(child, at === node.children.length - 1)
        node.children.splice(at + 1, 0, upper)
        node.sizes.splice(at + 1, 0, upper.size)
      }
      node.sizes[at] = child.size
    }
    node.size++
    return true
  }

  /** Whether the key was removed: it was there. */
  #remove (node: Node<Value>, key: string): boolean {
    if (node.leaf) {
      const at = position(node.keys, key)
      if (node.keys[at] !== key) return false
      node.keys.splice(at, 1)
      node.values.splice(at, 1)
    } else {
      const at = childFor(node.children, key)
      const child = node.children[at]
      if (child === undefined || !this.#remove(child, key)) return false
      node.sizes[at] = child.size
      this.#shrink(node, at)
    }
    node.size--
    return true
  }

  /** Drops a child that has run empty, or joins one that has grown small with its neighbour. */
  #shrink ({ children, sizes }: Node<Value>, at: number): void {
    if (children.length > 1 && children[at]?.size === 0) {
      children.splice(at, 1)
      sizes.splice(at, 1)
      return
    }
    const left = Math.max(0, at - 1)
    const [a, b] = children.slice(left, left + 2)
    if (a === undefined || b === undefined || width(a) + width(b) > this.#max(a) / 2) return
    sizes.splice(left, 2, a.size + b.size)
    children.splice(left, 2, a.leaf ? leafOf([...a.keys, ...b.keys], [...a.values, ...b.values]) : branchOf([...a.children, ...b.children]))
  }
}
