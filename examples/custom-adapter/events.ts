import { type Database } from 'lmdb'
import {
  afterPruning, belongsTo, erased, type EventLog, type EventRecord, type EventsRequest, forgotten, type PrunedEvents,
  withoutActorName
} from 'fastify-users/storage'
import { type LmdbDatabase, valueKey } from './database.ts'

export interface LmdbEvents extends EventLog {
  /** Records an event, in the write of its change. */
  add (event: EventRecord | null): void
  /** Takes the values of a user out of its events, in the write of its deletion. */
  eraseOf (userId: string, tenant?: string): number
  /** Takes the values out of at most so many events of a tenant, in the write of its removal; returns of how many. */
  forgetOf (tenant: string, limit: number): number
  /** Gives the events of a user to the user's tenant. */
  assignOf (userId: string, tenant: string): void
  /** The users who have events with values that belong to no tenant. */
  withoutTenant (): Generator<string>
}

/**
 * Recorded events in LMDB. There is one writer at a time, so the number of an event is its place in the order of
 * commits.
 */
export function lmdbEvents (database: LmdbDatabase): LmdbEvents {
  const { events, eventNumbers, subjects, actors, types, tenantEvents, prunedEvents, read, write } = database
  const lastNumber = (): number => [...events.getKeys({ reverse: true, limit: 1 })][0] ?? 0
  const isOf = (number: number, tenant: string | undefined): boolean => belongsTo(events.get(number) ?? {}, tenant)

  const leftOfPruned = (): PrunedEvents[] => [...prunedEvents.getRange().map(({ value }) => value)]

  /** The numbers behind a name, between two, which are left out. */
  function * numbersOf (
    index: Database<null, [string, number]>,
    name: string,
    low = 0,
    reverse = false,
    high = Infinity
  ): Generator<number> {
    const bounds = reverse
      ? { start: [name, high], exclusiveStart: true, end: [name, low] }
      : { start: [name, low + 1], end: [name, high] }
    for (const [, number] of index.getKeys({ ...bounds, reverse })) yield number
  }

  function take<Item> (items: Iterable<Item>, count: number): Item[] {
    const taken: Item[] = []
    for (const item of items) {
      if (taken.length === count) break
      taken.push(item)
    }
    return taken
  }

  function eventsAt (numbers: readonly number[]): EventRecord[] {
    return numbers.flatMap((number) => events.get(number) ?? [])
  }

  /** The numbers of the events of a user or key, newest first: none if it belongs to another tenant. */
  function seenBy (subject: string, tenant: string | undefined): number[] {
    return [...numbersOf(subjects, subject, 0, true)].filter((number) => isOf(number, tenant))
  }

  /** The numbers that may be meant behind one, or before it, by the index that has the fewest. */
  function * numbersFor (request: EventsRequest, known: number | undefined): Generator<number> {
    const { subject, actor, tenant, types: wanted } = request
    const reverse = request.order === 'desc'
    const [low, high] = reverse ? [0, known ?? Infinity] : [known ?? 0, Infinity]
    const behind = (index: typeof types, name: string) => numbersOf(index, name, low, reverse, high)
    if (subject !== undefined) yield * behind(subjects, subject)
    else if (actor !== undefined) yield * behind(actors, valueKey(actor))
    else if (tenant !== undefined) yield * behind(tenantEvents, tenant)
    else if (wanted?.length === 1) yield * behind(types, String(wanted[0]))
    else if (reverse) yield * events.getKeys({ reverse, ...(known !== undefined && { start: known - 1 }) })
    else yield * events.getKeys({ start: low + 1 })
  }

  function * meant (numbers: Iterable<number>, request: EventsRequest): Generator<number> {
    const { subject, actor, types: wanted, since = '', until, tenant } = request
    for (const number of numbers) {
      const event = events.get(number)
      if (
        event !== undefined &&
        (wanted === null || wanted.includes(event.type)) &&
        (subject === undefined || event.subject === subject) &&
        (actor === undefined || event.actor?.id === actor) &&
        event.timestamp >= since &&
        (until === undefined || event.timestamp < until) &&
        belongsTo(event, tenant)
      ) {
        yield number
      }
    }
  }

  function eraseOf (userId: string, tenant?: string): number {
    const numbers = seenBy(userId, tenant)
    for (const number of numbers) {
      const event = events.get(number)
      if (event !== undefined) events.putSync(number, erased(event))
    }
    let others = 0
    for (const number of numbersOf(actors, valueKey(userId))) {
      const event = events.get(number)
      if (event === undefined || event.subject === userId || !belongsTo(event, tenant)) continue
      events.putSync(number, withoutActorName(event))
      others++
    }
    return numbers.length + others
  }

  return {
    add (event) {
      if (event === null) return
      const number = lastNumber() + 1
      events.putSync(number, event)
      eventNumbers.putSync(event.id, number)
      subjects.putSync([event.subject, number], null)
      types.putSync([event.type, number], null)
      if (event.tenant !== undefined) tenantEvents.putSync([event.tenant, number], null)
      if (event.actor !== null) actors.putSync([valueKey(event.actor.id), number], null)
    },

    find: (id) => read(() => events.get(eventNumbers.get(id) ?? -1) ?? null),

    eraseOf,

    forgetOf (tenant, limit) {
      const numbers = take(numbersOf(tenantEvents, tenant, 0), limit)
      for (const number of numbers) {
        const event = events.get(number)
        if (event !== undefined) events.putSync(number, forgotten(event))
        tenantEvents.removeSync([tenant, number])
      }
      return numbers.length
    },

    assignOf (userId, tenant) {
      for (const number of seenBy(userId, undefined)) {
        const event = events.get(number)
        if (event === undefined || event.tenant !== undefined) continue
        events.putSync(number, { ...event, tenant })
        tenantEvents.putSync([tenant, number], null)
      }
    },

    * withoutTenant () {
      for (const [subject, number] of subjects.getKeys({ start: ['usr_'], end: ['usr`'] })) {
        const { tenant, data } = events.get(number) ?? {}
        if (tenant === undefined && data !== undefined && data['name'] !== null) yield subject
      }
    },

    read: (request) =>
      read(() => {
        const { after, limit, order, subject, tenant } = request
        const known = after === null ? undefined : eventNumbers.get(after)
        if (after !== null && (known === undefined || !isOf(known, tenant))) return null
        const numbers = take(meant(numbersFor(request, known), request), limit + 1)
        const more = numbers.length > limit
        const newest = tenant === undefined ? lastNumber() : take(numbersOf(tenantEvents, tenant, 0, true), 1)[0]
        const hasTotal = subject !== undefined && order === 'desc'
        const passed = more ? numbers[limit - 1] : newest
        const last = order === 'desc' ? (after === null ? newest : undefined) : passed
        return {
          events: eventsAt(numbers.slice(0, limit)),
          more,
          position: (last !== undefined && events.get(last)?.id) || null,
          ...(hasTotal && { total: [...meant(numbersOf(subjects, subject), request)].length })
        }
      }),

    history: (subject, { offset, limit, types: wanted, tenant }) =>
      read(() => {
        const numbers = seenBy(subject, tenant)
          .filter((number) => wanted?.includes(events.get(number)?.type ?? '') ?? true)
        return { items: eventsAt(numbers.slice(offset, offset + limit)), total: numbers.length }
      }),

    erase: (userId, tenant) => write(() => eraseOf(userId, tenant)),

    prune: (before, limit) =>
      write(() => {
        const oldest = [...events.getRange({ limit: limit + 1 })]
        const kept = oldest.findIndex(({ value }, i) => {
          const next = oldest[i + 1]
          return next === undefined || value.timestamp >= before || next.value.timestamp >= before
        })
        const pruned = oldest.slice(0, kept)
        for (const { key, value } of pruned) {
          events.removeSync(key)
          eventNumbers.removeSync(value.id)
          subjects.removeSync([value.subject, key])
          types.removeSync([value.type, key])
          tenantEvents.removeSync([value.tenant ?? '', key])
          actors.removeSync([valueKey(value.actor?.id ?? ''), key])
        }
        const left = afterPruning(
          leftOfPruned(),
          pruned.map(({ value }) => value)
        )
        left.forEach((each, place) => prunedEvents.putSync(place, each))
        return pruned.length
      }),

    pruned: () => read(leftOfPruned)
  }
}
