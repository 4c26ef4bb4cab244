import { afterPruning, erased } from '../../lib/storage/recorded-events.ts'
import type { EventLog, EventRecord, PrunedEvents } from '../../lib/storage/storage.ts'

/** An event, and its place in the order of commits, from 1. */
interface Entry {
  position: number
  event: EventRecord
}

const copy = ({ event }: Entry): EventRecord => structuredClone(event)

/** The recorded events in memory. */
export class MemoryEvents implements EventLog {
  /** Those that are kept: positions without a gap, oldest first. */
  #entries: Entry[] = []
  #pruned: PrunedEvents[] = []
  readonly #positionOf = new Map<string, number>()
  readonly #ofSubject = new Map<string, Entry[]>()
  readonly #ofType = new Map<string, Entry[]>()

  /** Records an event, in the step of its change. */
  add (event: EventRecord): void {
    const entry = { position: (this.#entries.at(-1)?.position ?? 0) + 1, event }
    this.#entries.push(entry)
    this.#positionOf.set(event.id, entry.position)
    for (const [lists, name] of [[this.#ofSubject, event.subject], [this.#ofType, event.type]] as const) {
      const list = lists.get(name)
      if (list === undefined) lists.set(name, [entry])
      else list.push(entry)
    }
  }

  /** Makes the function that undoes what is added from now on, as long as nothing is erased or pruned meanwhile. */
  keeping (): () => void {
    const count = this.#entries.length
    return () => {
      for (const { event: { id, subject, type } } of this.#entries.splice(count)) {
        this.#positionOf.delete(id)
        for (const [lists, name] of [[this.#ofSubject, subject], [this.#ofType, type]] as const) {
          const list = lists.get(name)
          list?.pop()
          if (list?.length === 0) lists.delete(name)
        }
      }
    }
  }

  async read ({ after, limit, types }: Parameters<EventLog['read']>[0]): ReturnType<EventLog['read']> {
    const position = after === null ? 0 : this.#positionOf.get(after)
    if (position === undefined) return null
    const lists = types === null ? [this.#entries] : [...new Set(types)].map((type) => this.#ofType.get(type) ?? [])
    const found = lists.flatMap((list) => {
      const first = firstAfter(list, position)
      return list.slice(first, first + limit + 1)
    })
    if (lists.length > 1) found.sort((a, b) => a.position - b.position)
    const more = found.length > limit
    const events = found.slice(0, limit)
    const last = more ? events.at(-1) : this.#entries.at(-1)
    return { events: events.map(copy), more, position: last?.event.id ?? null }
  }

  async history (
    subject: string,
    { offset, limit }: { offset: number, limit: number }
  ): ReturnType<EventLog['history']> {
    const list = this.#ofSubject.get(subject) ?? []
    const end = Math.max(0, list.length - offset)
    return { items: list.slice(Math.max(0, end - limit), end).reverse().map(copy), total: list.length }
  }

  /** The event with this id. */
  find (id: string): EventRecord | null {
    const position = this.#positionOf.get(id)
    const entry = position === undefined ? undefined : this.#entries[position - (this.#entries[0]?.position ?? 0)]
    return entry === undefined ? null : copy(entry)
  }

  /** The id of the last event before the first one with this id or a greater one. */
  before (id: string): string | null {
    const first = this.#entries.findIndex(({ event }) => event.id >= id)
    return (first === -1 ? this.#entries.at(-1) : this.#entries[first - 1])?.event.id ?? null
  }

  async erase (userId: string): Promise<number> {
    return this.eraseOf(userId)
  }

  /** The same within the step of a deletion. */
  eraseOf (userId: string): number {
    const list = this.#ofSubject.get(userId) ?? []
    for (const entry of list) entry.event = erased(entry.event)
    return list.length
  }

  async prune (before: string, limit: number): Promise<number> {
    const isOld = (index: number): boolean => (this.#entries[index]?.event.timestamp ?? before) < before
    let count = 0
    while (count < limit && isOld(count) && isOld(count + 1)) count++
    const pruned = this.#entries.splice(0, count).map(({ event }) => event)
    this.#pruned = afterPruning(this.#pruned, pruned)
    for (const { id } of pruned) this.#positionOf.delete(id)
    forget(this.#ofSubject, pruned.map(({ subject }) => subject))
    forget(this.#ofType, pruned.map(({ type }) => type))
    return count
  }

  async pruned (): Promise<PrunedEvents[]> {
    return structuredClone(this.#pruned)
  }
}

/** The index of the first entry behind a position. */
function firstAfter (entries: readonly Entry[], position: number): number {
  let [from, to] = [0, entries.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((entries[middle]?.position ?? 0) > position) to = middle
    else from = middle + 1
  }
  return from
}

/**
 * Takes entries off the beginnings of lists: as many of each as its name comes, since the oldest of all are the oldest
 * of their lists. Each list is cut once: in a long one that moves all that is left.
 */
function forget (lists: Map<string, Entry[]>, names: readonly string[]): void {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  for (const [name, count] of counts) {
    const list = lists.get(name)
    list?.splice(0, count)
    if (list?.length === 0) lists.delete(name)
  }
}
