import { isUserId } from '../../lib/core/ids.ts'
import { afterPruning, erased, forgotten, isErased } from '../../lib/storage/recorded-events.ts'
import { belongsTo } from '../../lib/storage/storage-rules.ts'
import type { EventLog, EventRecord, EventsPage, PrunedEvents } from '../../lib/storage/storage.ts'

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
  readonly #ofTenant = new Map<string, Entry[]>()

  /** Records an event, in the step of its change. */
  add (event: EventRecord): void {
    const entry = { position: (this.#entries.at(-1)?.position ?? 0) + 1, event }
    this.#entries.push(entry)
    this.#positionOf.set(event.id, entry.position)
    for (const [lists, name] of this.#listsOf(event)) {
      const list = lists.get(name)
      if (list === undefined) lists.set(name, [entry])
      else list.push(entry)
    }
  }

  /** The lists that an event is in, each by its name. */
  #listsOf ({ subject, type, tenant }: EventRecord): Array<readonly [lists: Map<string, Entry[]>, name: string]> {
    const usual = [[this.#ofSubject, subject], [this.#ofType, type]] as const
    return tenant === undefined ? [...usual] : [...usual, [this.#ofTenant, tenant]]
  }

  /** Makes the function that undoes what is added from now on, as long as nothing is erased or pruned meanwhile. */
  keeping (): () => void {
    const count = this.#entries.length
    return () => {
      for (const { event } of this.#entries.splice(count)) {
        this.#positionOf.delete(event.id)
        for (const [lists, name] of this.#listsOf(event)) {
          const list = lists.get(name)
          list?.pop()
          if (list?.length === 0) lists.delete(name)
        }
      }
    }
  }

  async read ({ after, limit, types, tenant }: Parameters<EventLog['read']>[0]): ReturnType<EventLog['read']> {
    const position = after === null ? 0 : this.#positionOf.get(after)
    if (position === undefined || (after !== null && !belongsTo(this.#find(after) ?? {}, tenant))) return null
    if (tenant !== undefined) return this.#readOf(this.#ofTenant.get(tenant) ?? [], position, limit, types)
    const lists = types === null ? [this.#entries] : [...new Set(types)].map((type) => this.#ofType.get(type) ?? [])
    const found = lists.flatMap((list) => {
      const first = firstAfter(list, position)
      return list.slice(first, first + limit + 1)
    })
    if (lists.length > 1) found.sort((a, b) => a.position - b.position)
    return pageOf(found, limit, this.#entries.at(-1))
  }

  /** Reads the events of one tenant, which are few beside all that have a type. */
  #readOf (list: readonly Entry[], position: number, limit: number, types: readonly string[] | null): EventsPage {
    const found: Entry[] = []
    for (let at = firstAfter(list, position); at < list.length && found.length <= limit; at++) {
      const entry = list[at]
      if (entry !== undefined && (types === null || types.includes(entry.event.type))) found.push(entry)
    }
    return pageOf(found, limit, list.at(-1))
  }

  async history (
    subject: string,
    { offset, limit, tenant }: Parameters<EventLog['history']>[1]
  ): ReturnType<EventLog['history']> {
    const list = this.#seenBy(subject, tenant)
    const end = Math.max(0, list.length - offset)
    return { items: list.slice(Math.max(0, end - limit), end).reverse().map(copy), total: list.length }
  }

  async find (id: string): ReturnType<EventLog['find']> {
    return this.#find(id)
  }

  #find (id: string): EventRecord | null {
    const position = this.#positionOf.get(id)
    const entry = position === undefined ? undefined : this.#entries[position - (this.#entries[0]?.position ?? 0)]
    return entry === undefined ? null : copy(entry)
  }

  /** The id of the last event before the first one with this id or a greater one; of all, or of a tenant's. */
  before (id: string, tenant?: string): string | null {
    const entries = tenant === undefined ? this.#entries : this.#ofTenant.get(tenant) ?? []
    const first = entries.findIndex(({ event }) => event.id >= id)
    return (first === -1 ? entries.at(-1) : entries[first - 1])?.event.id ?? null
  }

  /** The events of a user or key that belong to the tenant: a user of another one may have had the id before. */
  #seenBy (subject: string, tenant: string | undefined): Entry[] {
    const list = this.#ofSubject.get(subject) ?? []
    return tenant === undefined ? list : list.filter(({ event }) => belongsTo(event, tenant))
  }

  async erase (userId: string, tenant?: string): Promise<number> {
    return eraseAll(this.#seenBy(userId, tenant))
  }

  /** The same within the step of a deletion. `tenant`: that of the user; null: it belongs to none. */
  eraseOf (userId: string, tenant: string | null): void {
    eraseAll((this.#ofSubject.get(userId) ?? []).filter(({ event }) => (event.tenant ?? null) === tenant))
  }

  /** Takes the values out of events of a tenant that is removed, at most `limit`, and returns of how many. */
  forget (tenant: string, limit: number): number {
    const list = this.#ofTenant.get(tenant) ?? []
    const going = list.splice(0, limit)
    for (const entry of going) entry.event = forgotten(entry.event)
    if (list.length === 0) this.#ofTenant.delete(tenant)
    return going.length
  }

  /** Gives the events of a user, which belong to no tenant, to one. */
  assign (userId: string, tenant: string): void {
    const moved = (this.#ofSubject.get(userId) ?? []).filter(({ event }) => event.tenant === undefined)
    for (const entry of moved) entry.event = { ...entry.event, tenant }
    const list = this.#ofTenant.get(tenant) ?? []
    const isBehind = (list.at(-1)?.position ?? 0) < (moved[0]?.position ?? 0)
    list.push(...moved)
    if (!isBehind) list.sort((a, b) => a.position - b.position)
    if (list.length > 0) this.#ofTenant.set(tenant, list)
  }

  /** The users who have events with values that belong to no tenant. */
  * withoutTenant (): Generator<string> {
    for (const [subject, [first]] of this.#ofSubject) {
      if (first !== undefined && isUserId(subject) && first.event.tenant === undefined && !isErased(first.event)) {
        yield subject
      }
    }
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
    forget(this.#ofTenant, pruned.flatMap(({ tenant }) => tenant ?? []))
    return count
  }

  async pruned (): Promise<PrunedEvents[]> {
    return structuredClone(this.#pruned)
  }
}

/** Takes the values out of events, and returns how many they are. */
function eraseAll (entries: readonly Entry[]): number {
  for (const entry of entries) entry.event = erased(entry.event)
  return entries.length
}

/** A page of what was found, which is one more than its limit if more follows. `last`: of all that can be read. */
function pageOf (found: readonly Entry[], limit: number, last: Entry | undefined): EventsPage {
  const more = found.length > limit
  const events = found.slice(0, limit)
  const passed = more ? events.at(-1) : last
  return { events: events.map(copy), more, position: passed?.event.id ?? null }
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
