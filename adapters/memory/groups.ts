import { SortedMap } from './sorted-map.ts'

/** Values by the name of a group, each group sorted by the ids of its values. There is no empty group. */
export class Groups<Value extends { readonly id: string }> {
  readonly #groups = new Map<string, SortedMap<Value>>()

  add (name: string, value: Value): void {
    const group = this.#groups.get(name) ?? new SortedMap<Value>()
    group.set(value.id, value)
    this.#groups.set(name, group)
  }

  delete (name: string, { id }: Value): void {
    const group = this.#groups.get(name)
    group?.delete(id)
    if (group?.size === 0) this.#groups.delete(name)
  }

  /** The group with this name; an empty one if there is none. */
  get (name: string): SortedMap<Value> {
    return this.#groups.get(name) ?? new SortedMap<Value>()
  }

  /** How many values each group has. */
  sizes (): Map<string, number> {
    return new Map([...this.#groups].map(([name, { size }]) => [name, size]))
  }
}
