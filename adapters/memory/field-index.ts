import { StorageError } from '../../lib/storage/storage-error.ts'
import type { JsonObject, SchemaRequirements } from '../../lib/storage/storage.ts'
import { positionsOf, type Positions } from './positions.ts'
import { SortedMap } from './sorted-map.ts'

interface Indexed { readonly id: string, readonly record: { readonly fields: JsonObject, readonly tenant?: string } }

/** Finds the items whose field has a value, in the order of their ids, for the fields that are indexed. */
export class FieldIndex<Item extends Indexed> {
  /** By field, then by the value's JSON text, which distinguishes `1` from `"1"`. */
  readonly #fields = new Map<string, Map<string, SortedMap<Item>>>()

  readonly #unique = new Set<string>()

  /**
   * Indexes these fields, for all existing items.
   * @throws StorageError `field_taken` if two of them have the same value of a unique field
   */
  index ({ filterable = [], unique = [] }: SchemaRequirements, items: () => Iterable<Item>): void {
    for (const field of filterable) this.#valuesOf(field, items)
    for (const field of unique) {
      for (const found of this.#valuesOf(field, items).values()) {
        const tenants = new Set(found.range(0, found.size).map(({ record }) => record.tenant))
        if (tenants.size < found.size) throw new StorageError('field_taken', 'users have the same value', { field })
      }
      this.#unique.add(field)
    }
  }

  /** The values of a field, which is indexed if it was not. */
  #valuesOf (field: string, items: () => Iterable<Item>): Map<string, SortedMap<Item>> {
    const known = this.#fields.get(field)
    if (known !== undefined) return known
    const values = new Map<string, SortedMap<Item>>()
    this.#fields.set(field, values)
    for (const item of items()) this.#enter(field, item.record.fields, item)
    return values
  }

  /** The unique field whose value another item of the tenant has; null: there is none. */
  takenIn (id: string, fields: JsonObject, tenant: string | undefined): string | null {
    for (const field of this.#unique) {
      const holders = this.#fields.get(field)?.get(this.#textOf(fields, field))
      const isTaken = holders?.range(0, holders.size)
        .some((holder) => holder.id !== id && holder.record.tenant === tenant) === true
      if (isTaken) return field
    }
    return null
  }

  /** Moves an item from its fields before a change (none if it is new) to those after it (none if it is deleted). */
  move (item: Item, before: JsonObject, after: JsonObject): void {
    for (const [field, values] of this.#fields) {
      const old = this.#textOf(before, field)
      if (old === this.#textOf(after, field)) continue
      const items = values.get(old)
      items?.delete(item.id)
      if (items?.size === 0) values.delete(old)
      this.#enter(field, after, item)
    }
  }

  /** The items whose indexed field is this value. */
  matching (field: string, value: string | number | boolean): Positions<Item> {
    return this.#fields.get(field)?.get(JSON.stringify(value)) ?? positionsOf([])
  }

  /** The items whose indexed field is one of these values. */
  matchingAny (field: string, values: ReadonlyArray<string | number | boolean>): Positions<Item> {
    const found = [...new Set(values)].map((value) => this.matching(field, value))
    const items = found.flatMap((each) => each.range(0, each.size))
    return positionsOf(items.sort((a, b) => a.id < b.id ? -1 : 1))
  }

  #enter (field: string, fields: JsonObject, item: Item): void {
    const text = this.#textOf(fields, field)
    if (text === '') return
    const values = this.#fields.get(field)
    const items = values?.get(text) ?? new SortedMap<Item>()
    items.set(item.id, item)
    values?.set(text, items)
  }

  /** The JSON text of a field; '' if nothing is found by it. */
  #textOf (fields: JsonObject, field: string): string {
    const value = Object.hasOwn(fields, field) ? fields[field] : null
    return typeof value === 'object' ? '' : JSON.stringify(value)
  }
}
