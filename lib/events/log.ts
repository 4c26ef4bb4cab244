import { UsersError, validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { gather } from '../core/gather.ts'
import { isUserId, timeOfId } from '../core/ids.ts'
import { type ListedPage, type PageSize, readPage } from '../core/paging.ts'
import { fromStorage } from '../core/storage-errors.ts'
import type { EventLog, EventRecord, EventsPage, EventsRequest } from '../core/storage.ts'
import { eventQueryChecks } from './rules.ts'
import { createTail, type Parts, type Tail } from './tail.ts'
import type { LoggedEvent } from './types.ts'

export interface EventLogOptions {
  log: EventLog
  present: (record: EventRecord) => LoggedEvent
  pageSize: PageSize
  /** True if there is a user with this id. */
  hasUser: (id: string) => Promise<boolean>
}

/** A page of the feed, and the request for it. */
export interface FeedPage {
  events: LoggedEvent[]
  more: boolean
  query: EventsRequest
}

/** The operations on the event log, without HTTP. They throw UsersError alone. */
export interface EventLogService {
  /** @throws `validation_failed`, `events_expired`, `storage_unavailable` */
  feed (query: Readonly<Record<string, unknown>>, priorFaults?: readonly Fault[]): Promise<FeedPage>
  /** @throws `validation_failed`, `user_not_found`, `storage_unavailable` */
  history (
    id: string,
    query: Readonly<Record<string, unknown>>,
    priorFaults?: readonly Fault[]
  ): Promise<ListedPage<LoggedEvent>>
  /** Checks the parameters, and that the events after the given one are kept; then follows the log from there. */
  follow (
    query: Readonly<Record<string, unknown>>,
    priorFaults?: readonly Fault[]
  ): Promise<(signal: AbortSignal) => Parts>
  tail: Tail
}

/** Makes the operations on an event log. */
export function createEventLog ({ log, present, pageSize, hasUser }: EventLogOptions): EventLogService {
  const check = eventQueryChecks(pageSize)
  const tail = createTail()
  const read = (request: EventsRequest): Promise<EventsPage | null> => fromStorage(() => log.read(request))

  /** Why there is no event with an id: it is older than what is kept, or there never was one. */
  async function unknown (after: string): Promise<UsersError> {
    const oldest = (await read({ after: null, limit: 1, types: null }))?.events[0]
    // Of a log without events nothing was pruned: the newest event always stays.
    if (oldest !== undefined && timeOfId(after) <= Date.parse(oldest.timestamp)) return new UsersError('events_expired')
    return validationFailed([{ parameter: 'after', code: 'unknown', detail: 'is the id of no event' }])
  }

  async function pageOf (request: EventsRequest): Promise<EventsPage> {
    const page = await read(request)
    if (page !== null) return page
    throw await unknown(String(request.after))
  }

  // Most of those who follow wait at the end of the log, and all are woken by an event.
  const pageForAll = gather(1, (request: EventsRequest) => JSON.stringify(request), async ([request]) =>
    [await pageOf(request)])

  /** A page for one who follows. Nobody else has its records. */
  async function pageOfOne (request: EventsRequest): Promise<EventRecord[]> {
    return structuredClone((await pageForAll(request)).events)
  }

  return {
    tail,

    async feed (query, priorFaults = []) {
      const request = check.feed(query, priorFaults)
      const { events, more } = await pageOf(request)
      return { events: events.map(present), more, query: request }
    },

    async history (id, query, priorFaults = []) {
      const paging = check.history(query, priorFaults)
      const page = await readPage(paging, ({ from, limit }) => fromStorage(async () => isUserId(id)
        ? log.history(id, { offset: 'offset' in from ? from.offset : 0, limit })
        : { items: [], total: 0 }))
      if (page.total === 0 && !(isUserId(id) && await hasUser(id))) throw new UsersError('user_not_found')
      return { ...page, items: page.items.map(present) }
    },

    async follow (query, priorFaults = []) {
      const request = { ...check.feed(query, priorFaults), limit: pageSize.max }
      await pageOf({ ...request, limit: 1 })
      const { types } = request
      return (signal) => tail.follow(async (after) => {
        let events = await pageOfOne({ ...request, after })
        let last = events.at(-1)
        if (last === undefined && types !== null) {
          // It goes on past events of other types: the last one of its own may be pruned before the next one comes.
          const others = await pageOfOne({ ...request, types: null, after })
          last = others.at(-1)
          events = others.filter(({ type }) => types.includes(type))
        }
        return { events: events.map(present), last: last?.id ?? null }
      }, request.after, signal)
    }
  }
}
