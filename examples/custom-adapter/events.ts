import {
  afterPruning, belongsTo, type EventLog, type EventRecord, type EventsRequest, isAskedEvent, type PrunedEvents,
  type Rewrite
} from 'fastify-users/storage'
import { type Entry, type LmdbDatabase, Table } from './database.ts'

type Asked = Omit<EventsRequest, 'after' | 'limit'>
export type LmdbEvents = Pick<ReturnType<typeof lmdbEvents>, 'add' | 'rewriteNow'>

const entriesOf = ({ id, type, subject, actor, tenant = '' }: EventRecord): Entry[] => [
  ['all', ''], ['id', id], ['type', type], ['subject', subject], ['tenant', tenant], ['actor', actor?.id ?? '']
]

/** The index that has the fewest of the events that are asked for, as far as one can know. */
function indexFor ({ subject, actor, tenant, types }: Asked): Entry {
  if (subject !== undefined) return ['subject', subject]
  if (actor !== undefined) return ['actor', actor]
  if (tenant !== undefined) return ['tenant', tenant]
  return types?.length === 1 ? ['type', types.join()] : ['all', '']
}

/** Recorded events. There is one writer at a time, so their positions are in the order of commits. */
export function lmdbEvents ({ root, read, write }: LmdbDatabase) {
  const table = new Table<EventRecord, number>(root, 'events', entriesOf)
  const pruned = new Table<PrunedEvents[], string>(root, 'pruned')

  function add (event: EventRecord): void {
    const [last = 0] = table.ids('all', '', { reverse: true })
    table.put(last + 1, event)
  }

  function rewriteNow ({ of, make }: Rewrite, limit: number): number {
    const [index = '', text] = Object.entries(of)[0] ?? []
    let count = 0
    for (const position of [...table.ids(index, text ?? '')]) {
      const before = table.get(position)
      if (before === undefined || count >= limit) break
      const after = make(before)
      if (after === before) continue
      table.put(position, after)
      count++
    }
    return count
  }

  /** The first events that are asked for, behind a position. */
  function found (asked: Asked, count = Infinity, after: number | null = null): EventRecord[] {
    const all: EventRecord[] = []
    const isAsked = isAskedEvent(asked)
    for (const position of table.ids(...indexFor(asked), { after, reverse: asked.order === 'desc' })) {
      const event = table.get(position)
      if (event !== undefined && isAsked(event)) all.push(event)
      if (all.length === count) break
    }
    return all
  }

  const log: EventLog = {
    read: ({ after, limit, ...asked }) => read(() => {
      const { order, subject, tenant } = asked
      const [place = null] = after === null ? [] : table.ids('id', after)
      const known = place === null ? undefined : table.get(place)
      if (after !== null && (known === undefined || !belongsTo(known, tenant))) return null
      const events = found(asked, limit + 1, place)
      const [more, shown] = [events.length > limit, events.slice(0, limit)]
      const [last] = found({ types: null, order: 'desc', ...(tenant !== undefined && { tenant }) }, 1)
      const passed = order === 'desc' ? (after === null ? last : null) : more ? shown.at(-1) : last
      const hasTotal = order === 'desc' && subject !== undefined
      return { events: shown, more, position: passed?.id ?? null, ...(hasTotal && { total: found(asked).length }) }
    }),

    history: (subject, { offset, limit, types = null, tenant }) => read(() => {
      const all = found({ subject, types, order: 'desc', ...(tenant !== undefined && { tenant }) })
      return { items: all.slice(offset, offset + limit), total: all.length }
    }),

    find: (id) => read(() => {
      const [position = 0] = table.ids('id', id)
      return table.get(position) ?? null
    }),

    before: (id, tenant) => read(() => {
      const all = found({ types: null, ...(tenant !== undefined && { tenant }) })
      const first = all.findIndex((event) => event.id >= id)
      return (first === -1 ? all.at(-1) : all[first - 1])?.id ?? null
    }),

    rewrite: (rewrite, limit) => write(() => rewriteNow(rewrite, limit)),

    prune: (before, limit) => write(() => {
      const oldest = found({ types: null }, limit + 1)
      const isOld = (event: EventRecord | undefined): boolean => event !== undefined && event.timestamp < before
      const gone = oldest.slice(0, oldest.findIndex((event, i) => !isOld(event) || !isOld(oldest[i + 1])))
      for (const { id } of gone) for (const position of [...table.ids('id', id)]) table.drop(position)
      pruned.put('all', afterPruning(pruned.get('all') ?? [], gone))
      return gone.length
    }),

    pruned: () => read(() => pruned.get('all') ?? [])
  }

  return { log, add, rewriteNow }
}
