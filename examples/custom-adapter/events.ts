import { type Database } from 'lmdb'
import { afterPruning, erased, type EventLog, type EventRecord, type PrunedEvents } from 'fastify-users/storage'
import type { LmdbDatabase } from './database.ts'

export interface LmdbEvents extends EventLog {
  /** Records an event, in the write of its change. */
  add (event: EventRecord | null): void
  /** Takes the values of a user out of its events, in the write of its deletion. */
  eraseOf (userId: string): number
}

/**
 * Recorded events in LMDB. There is one writer at a time, so the number of an event is its place in the order of
 * commits.
 */
export function lmdbEvents (database: LmdbDatabase): LmdbEvents {
  const { events, eventNumbers, subjects, types, prunedEvents, read, write } = database
  const lastNumber = (): number => [...events.getKeys({ reverse: true, limit: 1 })][0] ?? 0

  const leftOfPruned = (): PrunedEvents[] => [...prunedEvents.getRange().map(({ value }) => value)]

  /** The numbers behind a name, from one on. */
  function * numbersOf (
    index: Database<null, [string, number]>,
    name: string,
    after: number,
    reverse = false
  ): Generator<number> {
    const bounds = reverse
      ? { start: [name, Infinity], end: [name, 0] }
      : { start: [name, after + 1], end: [name, Infinity] }
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

  function eraseOf (userId: string): number {
    const numbers = [...numbersOf(subjects, userId, 0)]
    for (const number of numbers) {
      const event = events.get(number)
      if (event !== undefined) events.putSync(number, erased(event))
    }
    return numbers.length
  }

  return {
    add (event) {
      if (event === null) return
      const number = lastNumber() + 1
      events.putSync(number, event)
      eventNumbers.putSync(event.id, number)
      subjects.putSync([event.subject, number], null)
      types.putSync([event.type, number], null)
    },

    eraseOf,

    read: ({ after, limit, types: wanted }) =>
      read(() => {
        const known = after === null ? 0 : eventNumbers.get(after)
        if (known === undefined) return null
        const numbers =
          wanted === null
            ? take(events.getKeys({ start: known + 1 }), limit + 1)
            : [...new Set(wanted)]
                .flatMap((type) => take(numbersOf(types, type, known), limit + 1))
                .sort((a, b) => a - b)
        const more = numbers.length > limit
        const last = more ? numbers[limit - 1] : lastNumber()
        return {
          events: eventsAt(numbers.slice(0, limit)),
          more,
          position: (last !== undefined && events.get(last)?.id) || null
        }
      }),

    history: (subject, { offset, limit }) =>
      read(() => {
        const numbers = [...numbersOf(subjects, subject, 0, true)]
        return { items: eventsAt(numbers.slice(offset, offset + limit)), total: numbers.length }
      }),

    erase: (userId) => write(() => eraseOf(userId)),

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
