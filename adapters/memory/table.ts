import { pageOfRows } from '../../lib/storage/selection.ts'
import { placeKey } from '../../lib/storage/user-order.ts'
import type { CollectionName, Outcome, Row, RowKey, RowsQuery, Stored } from '../../lib/storage/storage.ts'
import type { Page } from '../../lib/storage/storage.ts'
import { Groups } from './groups.ts'
import { pageOf, type Positions, positionsOf } from './positions.ts'
import { SortedMap } from './sorted-map.ts'

type Name = Exclude<CollectionName, 'users'>

interface Entry<Of extends Name> { readonly id: string, readonly row: Row<Of> }

/** The value of a member that rows are found or ordered by; null: none. */
function valueOf (row: { record: object }, member: string): string | null {
  const value: unknown = Reflect.get(row.record, member)
  return typeof value === 'string' ? value : null
}

/** The place of a row in the order of a member. Those without a value are in none. */
const placeOf = (value: string, id: string): string => placeKey({ value, id })

/** The place behind the last one within a bound. */
const endOf = ({ value, isBelow = false }: { value: string, isBelow?: boolean }): string =>
  `${placeOf(value, '')}${isBelow ? '' : '\u{ffff}'}`

/** What a commit needs of a collection. */
export interface RowTable<Of extends CollectionName> {
  /** The record that is there, which nobody changes. */
  present (id: string): Stored | null
  /** A copy of the row. */
  find (key: RowKey): Row<Of> | null
  /** What refuses a row; null: nothing. */
  refusalOf (row: Row<Of>): Refusal | null
  /** Writes a copy of a row that nothing refuses. */
  put (row: Row<Of>): void
  drop (id: string): void
}

export type Refusal = Omit<Outcome & { code: 'taken' }, 'at'>

/** A member whose values are unique, among all rows or among those of a tenant. */
const UNIQUE = { start: '', nameKey: 'in its tenant' } as const

/** The rows of a collection in memory, with an index of each member that was asked for. */
export class Table<Of extends Name> implements RowTable<Of> {
  readonly #unique: keyof typeof UNIQUE | null
  readonly #entries = new Map<string, Entry<Of>>()
  readonly #ordered = new SortedMap<Entry<Of>>()
  readonly #ofTenant = new Groups<Entry<Of>>()
  readonly #ofRow = new Groups<Entry<Of>>()
  readonly #idOfUnique = new Map<string, string>()
  readonly #byMember = new Map<string, { ordered: SortedMap<Entry<Of>>, groups: Groups<Entry<Of>> }>()

  constructor (unique: keyof typeof UNIQUE | null = null) {
    this.#unique = unique
  }

  /** The unique value of a row; null: the collection has none. */
  #uniqueIn (row: Row<Of>): string | null {
    if (this.#unique === null) return null
    const value = valueOf(row, this.#unique) ?? ''
    return UNIQUE[this.#unique] === '' ? value : `${row.record.tenant ?? ''}/${value}`
  }

  present (id: string): Stored | null {
    return this.#entries.get(id)?.row.record ?? null
  }

  find (key: RowKey): Row<Of> | null {
    const id = 'id' in key ? key.id : this.#idOfUnique.get(key.start) ?? ''
    return structuredClone(this.#entries.get(id)?.row ?? null)
  }

  refusalOf (row: Row<Of>): Refusal | null {
    if (this.#unique === null) return null
    const holder = this.#idOfUnique.get(this.#uniqueIn(row) ?? '')
    return holder === undefined || holder === row.record.id ? null : { code: 'taken', member: this.#unique }
  }

  put (given: Row<Of>): void {
    const row = structuredClone(given)
    const { id, tenant = '' } = row.record
    this.drop(id)
    const entry = { id, row }
    this.#entries.set(id, entry)
    this.#ordered.set(id, entry)
    this.#ofTenant.add(tenant, entry)
    if (row.of !== null) this.#ofRow.add(row.of, entry)
    const unique = this.#uniqueIn(row)
    if (unique !== null) this.#idOfUnique.set(unique, id)
    for (const member of this.#byMember.keys()) this.#enter(member, entry)
  }

  drop (id: string): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    const { row } = entry
    this.#entries.delete(id)
    this.#ordered.delete(id)
    this.#ofTenant.delete(row.record.tenant ?? '', entry)
    if (row.of !== null) this.#ofRow.delete(row.of, entry)
    this.#idOfUnique.delete(this.#uniqueIn(row) ?? '')
    for (const [member, { ordered, groups }] of this.#byMember) {
      const value = valueOf(row, member)
      if (value === null) continue
      ordered.delete(placeOf(value, id))
      groups.delete(value, entry)
    }
  }

  /** Drops the rows that go with a row. Returns what puts them back. */
  dropOf (id: string): () => void {
    const group = this.#ofRow.get(id)
    const rows = group.range(0, group.size).map(({ row }) => row)
    for (const { record } of rows) this.drop(record.id)
    return () => rows.forEach((row) => this.put(row))
  }

  /** The rows that belong to one. */
  of (id: string): Positions<Entry<Of>> {
    return this.#ofRow.get(id)
  }

  /** The rows whose member has this value. */
  having (member: string, value: string): Positions<Entry<Of>> {
    return this.#withValues(member, [value])
  }

  /** The tenants that have rows. */
  tenants (): string[] {
    return [...this.#ofTenant.sizes().keys()].filter((tenant) => tenant !== '')
  }

  list (query: RowsQuery): Page<Row<Of>> {
    const { tenant, of, where, upTo, without, by, page } = query
    if ([tenant, of, where, without].every((each) => each === undefined) && by !== undefined) {
      const found = this.#inOrder(by, upTo)
      if (found !== null) return { items: pageOf(found, page).map(({ row }) => row), total: found.size }
    }
    const parts: Array<Positions<Entry<Of>>> = []
    if (tenant !== undefined) parts.push(this.#ofTenant.get(tenant ?? ''))
    if (of !== undefined) parts.push(this.#ofRow.get(of))
    if (where !== undefined) parts.push(this.#withValues(where.member, where.values))
    if (upTo !== undefined) {
      const { ordered } = this.#indexOf(upTo.member)
      parts.push(positionsOf(ordered.range(0, ordered.rank(endOf(upTo)))))
    }
    const [first = this.#ordered] = parts.sort((a, b) => a.size - b.size)
    const isPlain = parts.length < 2 && by === undefined && upTo === undefined && without === undefined
    if (isPlain) return { items: pageOf(first, page).map(({ row }) => row), total: first.size }
    return pageOfRows(first.range(0, first.size).map(({ row }) => row), query)
  }

  /** The rows in the order of a member, up to a value of it; null: there is no index of just these. */
  #inOrder (by: string, upTo: RowsQuery['upTo']): Positions<Entry<Of>> | null {
    const { ordered } = this.#indexOf(by)
    if (upTo === undefined) return ordered.size === this.#entries.size ? ordered : null
    if (upTo.member !== by) return null
    const size = ordered.rank(endOf(upTo))
    return {
      size,
      rank: (key) => Math.min(size, ordered.rank(key)),
      range: (start, count) => ordered.range(start, Math.min(count, size - start))
    }
  }

  #withValues (member: string, values: readonly string[]): Positions<Entry<Of>> {
    const { groups } = this.#indexOf(member)
    const [only = '', ...more] = new Set(values)
    if (more.length === 0) return groups.get(only)
    const all = [only, ...more].flatMap((value) => groups.get(value).range(0, groups.get(value).size))
    return positionsOf(all.sort((a, b) => a.id < b.id ? -1 : 1))
  }

  /** The index of a member, which is made if there was none. */
  #indexOf (member: string) {
    const known = this.#byMember.get(member)
    if (known !== undefined) return known
    const made = { ordered: new SortedMap<Entry<Of>>(), groups: new Groups<Entry<Of>>() }
    this.#byMember.set(member, made)
    for (const entry of this.#entries.values()) this.#enter(member, entry)
    return made
  }

  #enter (member: string, entry: Entry<Of>): void {
    const value = valueOf(entry.row, member)
    if (value === null) return
    this.#byMember.get(member)?.ordered.set(placeOf(value, entry.id), entry)
    this.#byMember.get(member)?.groups.add(value, entry)
  }
}
