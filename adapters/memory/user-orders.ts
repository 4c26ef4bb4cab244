import { placeKey, sortValue } from '../../lib/storage/user-order.ts'
import type { SortedPageRequest, UserPlace, UserSort } from '../../lib/storage/storage.ts'
import { pageOf, type Positions } from './positions.ts'
import { SortedMap } from './sorted-map.ts'
import type { UserEntry } from './user-entry.ts'

/** Users in an order: those with a value by their places, and the others by their ids. */
class UserOrder {
  readonly #sort: UserSort
  readonly #placed = new SortedMap<UserEntry>()
  readonly #others = new SortedMap<UserEntry>()

  constructor (sort: UserSort, entries: Iterable<UserEntry>) {
    // A copy: the caller may change what it has passed.
    this.#sort = typeof sort === 'string' ? sort : { field: sort.field }
    for (const entry of entries) this.enter(entry)
  }

  enter (entry: UserEntry): void {
    const place = this.#placeOf(entry)
    this.#mapOf(place).set(placeKey(place), entry)
  }

  leave (entry: UserEntry): void {
    const place = this.#placeOf(entry)
    this.#mapOf(place).delete(placeKey(place))
  }

  /** The users of a page. */
  page ({ order, limit, from }: SortedPageRequest): UserEntry[] {
    const place = 'behind' in from ? from.behind : null
    const offset = 'offset' in from ? from.offset : 0
    const placed = place?.value === null
      ? []
      : pageOf(this.#placed, { order, limit, from: place === null ? { offset } : { after: placeKey(place) } })
    const rest = place?.value === null ? { after: place.id } : { offset: Math.max(0, offset - this.#placed.size) }
    return placed.concat(pageOf(this.#others, { order, limit: limit - placed.length, from: rest }))
  }

  #placeOf ({ id, record: user, nameKey, emailKey }: UserEntry): UserPlace {
    return { value: sortValue({ user, keys: { nameKey, emailKey } }, this.#sort), id }
  }

  #mapOf ({ value }: UserPlace): SortedMap<UserEntry> {
    return value === null ? this.#others : this.#placed
  }
}

/** The orders of all users that were asked for: each is kept from then on, and costs nothing before. */
export class UserOrders {
  readonly #entries: () => Iterable<UserEntry>
  readonly #orders = new Map<string, UserOrder>()

  constructor (entries: () => Iterable<UserEntry>) {
    this.#entries = entries
  }

  enter (entry: UserEntry): void {
    for (const order of this.#orders.values()) order.enter(entry)
  }

  leave (entry: UserEntry): void {
    for (const order of this.#orders.values()) order.leave(entry)
  }

  /** The users of a page of those that were found; null: of all. */
  page (found: Positions<UserEntry> | null, page: SortedPageRequest): UserEntry[] {
    const { sort } = page
    const order = found === null ? this.#ofAll(sort) : new UserOrder(sort, found.range(0, found.size))
    return order.page(page)
  }

  #ofAll (sort: UserSort): UserOrder {
    const name = JSON.stringify(sort)
    const known = this.#orders.get(name) ?? new UserOrder(sort, this.#entries())
    this.#orders.set(name, known)
    return known
  }
}
