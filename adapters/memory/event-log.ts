import { afterPruning } from '../../lib/storage/recorded-events.ts'
import { isAskedEvent } from '../../lib/storage/selection.ts'
import { belongsTo } from '../../lib/storage/storage-rules.ts'
import type { EventLog, EventRecord, EventsRequest, PrunedEvents, Rewrite } from '../../lib/storage/storage.ts'

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
  readonly #ofActor = new Map<string, Entry[]>()

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
  #listsOf ({ subject, type, tenant, actor }: EventRecord): Array<readonly [Map<string, Entry[]>, name: string]> {
    return [
      [this.#ofSubject, subject],
      [this.#ofType, type],
      ...tenant === undefined ? [] : [[this.#ofTenant, tenant] as const],
      ...actor === null ? [] : [[this.#ofActor, actor.id] as const]
    ]
  }

  async read (request: EventsRequest): ReturnType<EventLog['read']> {
    const { after, limit, order, subject, tenant } = request
    const place = after === null ? null : this.#positionOf.get(after)
    if (place === undefined || (after !== null && !belongsTo(this.#find(after) ?? {}, tenant))) return null
    const isAsked = isAskedEvent(request)
    const isMeant = ({ event }: Entry): boolean => isAsked(event)
    const lists = this.#listsFor(request)
    const found = lists.flatMap((list) => walk(list, place, order === 'desc', limit + 1, isMeant))
    if (lists.length > 1) found.sort((a, b) => order === 'desc' ? b.position - a.position : a.position - b.position)
    const last = (tenant === undefined ? this.#entries : this.#ofTenant.get(tenant) ?? []).at(-1)
    const more = found.length > limit
    const events = found.slice(0, limit)
    const passed = order === 'desc' ? after === null && last : more ? events.at(-1) : last
    return {
      events: events.map(copy),
      more,
      position: passed ? passed.event.id : null,
      ...(subject !== undefined && order === 'desc' && { total: lists.flat().filter(isMeant).length })
    }
  }

  /** The shortest lists that have all that is asked for. */
  #listsFor ({ subject, actor, types, tenant }: EventsRequest): Array<readonly Entry[]> {
    if (subject !== undefined) return [this.#ofSubject.get(subject) ?? []]
    if (actor !== undefined) return [this.#ofActor.get(actor) ?? []]
    // A tenant's are few beside all that have a type.
    if (tenant !== undefined) return [this.#ofTenant.get(tenant) ?? []]
    return types === null ? [this.#entries] : [...new Set(types)].map((type) => this.#ofType.get(type) ?? [])
  }

  async history (
    subject: string,
    { offset, limit, types, tenant }: Parameters<EventLog['history']>[1]
  ): ReturnType<EventLog['history']> {
    const list = this.#seenBy(subject, tenant).filter(({ event }) => types?.includes(event.type) ?? true)
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

  async before (id: string, tenant?: string): Promise<string | null> {
    const entries = tenant === undefined ? this.#entries : this.#ofTenant.get(tenant) ?? []
    const first = entries.findIndex(({ event }) => event.id >= id)
    return (first === -1 ? entries.at(-1) : entries[first - 1])?.event.id ?? null
  }

  /** The events of a user or key that belong to the tenant: a user of another one may have had the id before. */
  #seenBy (subject: string, tenant: string | undefined): Entry[] {
    const list = this.#ofSubject.get(subject) ?? []
    return tenant === undefined ? list : list.filter(({ event }) => belongsTo(event, tenant))
  }

  async rewrite (rewrite: Rewrite, limit: number): Promise<number> {
    return this.rewriteNow(rewrite, limit)
  }

  /** The same within the step of a unit. */
  rewriteNow ({ of, make }: Rewrite, limit = Infinity): number {
    let count = 0
    for (const entry of this.#allOf(of)) {
      if (count === limit) break
      const before = entry.event
      const event = make(before)
      if (event === before) continue
      count++
      entry.event = structuredClone(event)
      if (event.tenant !== before.tenant) this.#move(entry, before.tenant)
    }
    return count
  }

  /** The events of a rewriting, in a list of its own. */
  #allOf (of: Rewrite['of']): Entry[] {
    if ('subject' in of) return [...this.#ofSubject.get(of.subject) ?? []]
    if ('actor' in of) return [...this.#ofActor.get(of.actor) ?? []]
    if (of.tenant !== null) return [...this.#ofTenant.get(of.tenant) ?? []]
    return this.#entries.filter(({ event }) => event.tenant === undefined)
  }

  /** Puts an event into the list of the tenant that it has now. */
  #move (entry: Entry, before: string | undefined): void {
    const left = before === undefined ? [] : this.#ofTenant.get(before) ?? []
    if (left.length > 0) left.splice(left.indexOf(entry), 1)
    if (before !== undefined && left.length === 0) this.#ofTenant.delete(before)
    const { tenant } = entry.event
    if (tenant === undefined) return
    const list = this.#ofTenant.get(tenant) ?? []
    list.splice(firstAfter(list, entry.position), 0, entry)
    this.#ofTenant.set(tenant, list)
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
    forget(this.#ofActor, pruned.flatMap(({ actor }) => actor?.id ?? []))
    return count
  }

  async pruned (): Promise<PrunedEvents[]> {
    return structuredClone(this.#pruned)
  }
}

/** The first entries of a list that are meant, behind a position in one of the two directions; null: from its end. */
function walk (
  list: readonly Entry[], place: number | null, isDesc: boolean, count: number, isMeant: (entry: Entry) => boolean
): Entry[] {
  const found: Entry[] = []
  const step = isDesc ? -1 : 1
  const from = isDesc
    ? (place === null ? list.length : firstAfter(list, place - 1)) - 1
    : place === null ? 0 : firstAfter(list, place)
  for (let at = from; found.length < count; at += step) {
    const entry = list[at]
    if (entry === undefined) break
    if (isMeant(entry)) found.push(entry)
  }
  return found
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
