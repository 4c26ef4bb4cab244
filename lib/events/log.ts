import type { ReadCall } from '../core/context.ts'
import { UsersError } from '../core/errors.ts'
import { gather } from '../core/gather.ts'
import { firstIdAt, isUserId, timeOfId } from '../core/ids.ts'
import { type ListedPage, type PageSize, readPage } from '../core/paging.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { EventLog, EventRecord, EventsPage, EventsRequest } from '../storage/storage.ts'
import { standingOf } from './missed.ts'
import { eventQueryChecks, NOW } from './rules.ts'
import type { Parts, Tail } from './tail.ts'
import type { LoggedEvent } from './types.ts'

export interface EventLogOptions {
  log: Pick<EventLog, 'read' | 'history' | 'pruned'>
  present: (record: EventRecord) => LoggedEvent
  pageSize: PageSize
  /** True if there is a user with this id, for this tenant. */
  hasUser: (id: string, tenant: string | undefined) => Promise<boolean>
  /** Wakes those who follow. */
  tail: Tail
  /** Seconds that events are kept at least. */
  retention: number
}

/** A page of the feed, and the request for it. */
export interface FeedPage {
  events: LoggedEvent[]
  more: boolean
  /**
   * The last event that was passed, of whatever type; newest first the newest one of the log, on the first page alone.
   * null: on the pages behind that one. Where there are no events, a place before all of them.
   */
  position: string | null
  /** How many there are that are asked for, on all pages. Newest first of a subject alone. */
  total?: number
  /** The parameter by which the next page begins, and its value; null: no more follows. */
  next: readonly ['after' | 'before', string] | null
  query: EventsRequest
}

/** Following the log from a place in it. */
export interface Following {
  /** Where it begins, for a reader that asked for what comes from now on: it has no id yet. */
  start: string | null
  parts: (signal: AbortSignal) => Parts
}

/** The operations on the event log, without HTTP. They throw UsersError alone. */
export interface EventLogService {
  /** @throws `validation_failed`, `position_unknown`, `events_expired`, `storage_unavailable` */
  feed (query: Readonly<Record<string, unknown>>, call?: ReadCall): Promise<FeedPage>
  /** @throws `validation_failed`, `user_not_found`, `storage_unavailable` */
  history (
    id: string,
    query: Readonly<Record<string, unknown>>,
    call?: ReadCall
  ): Promise<ListedPage<LoggedEvent>>
  /** Checks the parameters, and that none is gone of the events that are asked for; then follows the log. */
  follow (
    query: Readonly<Record<string, unknown>>,
    call?: ReadCall
  ): Promise<Following>
}

/** A reader tells it from a wrong request: its position is of a log that a backup has replaced, or of another one. */
function positionUnknown (parameter: 'after' | 'before'): UsersError {
  const errors = [{ parameter, code: 'unknown', detail: 'is not the id of an event' } as const]
  return new UsersError('position_unknown', { errors })
}

/** The place of a reader that finds no events at this moment: no event has an id without a random part. */
const startNow = (): string => firstIdAt('evt', Date.now())
const isStart = (id: string | null): id is string => id !== null && id === firstIdAt('evt', timeOfId(id))

/** Where the page after this one begins. */
function nextOf ({ order }: EventsRequest, events: readonly EventRecord[], position: string | null): FeedPage['next'] {
  const last = order === 'desc' ? events.at(-1)?.id ?? null : position
  return last === null ? null : [order === 'desc' ? 'before' : 'after', last]
}

/** Makes the operations on an event log. */
export function createEventLog (options: EventLogOptions): EventLogService {
  const { log, present, pageSize, hasUser, tail, retention } = options
  const check = eventQueryChecks(pageSize)
  const read = (request: EventsRequest): Promise<EventsPage | null> => fromStorage(() => log.read(request))
  // Those of others would tell when others had events.
  const prunedFor = async ({ tenant }: EventsRequest) =>
    tenant === undefined ? fromStorage(() => log.pruned()) : []
  const requestIn = (request: EventsRequest, tenant: string | undefined): EventsRequest =>
    tenant === undefined ? request : { ...request, tenant }

  /**
   * True if an id is older than the oldest event that is kept. Where none is kept, every id of the past is: a tenant's
   * newest event is pruned too, and what else was pruned would tell of other tenants.
   */
  async function isOld (id: string, { tenant }: EventsRequest): Promise<boolean> {
    const oldest = (await read(requestIn({ after: null, limit: 1, types: null }, tenant)))?.events[0]
    return timeOfId(id) <= (oldest === undefined ? Date.now() : Date.parse(oldest.timestamp))
  }

  /** The page before an event that is not in the log: whatever came before it was pruned with it. */
  async function pageBefore (before: string, request: EventsRequest): Promise<EventsPage> {
    const standing = standingOf(before, null, await prunedFor(request))
    if (standing !== 'unknown' || await isOld(before, request)) return { events: [], more: false, position: null }
    throw positionUnknown('before')
  }

  /** True if nothing can have been pruned that came after a reader had found no events. */
  const isRecent = (start: string): boolean => Date.now() - timeOfId(start) < retention * 1000

  async function pageBehind (after: string, request: EventsRequest): Promise<EventsPage> {
    // All that were pruned come before the oldest. First the page, so that nothing of it is pruned before it is judged.
    const oldest = await read({ ...request, after: null })
    const standing = standingOf(after, request.types, await prunedFor(request))
    const isWhole = standing === 'complete' || (standing === 'unknown' && isStart(after) && isRecent(after))
    if (isWhole && oldest !== null) return oldest
    if (standing === 'expired' || isStart(after) || await isOld(after, request)) throw new UsersError('events_expired')
    throw positionUnknown('after')
  }

  async function pageOf (request: EventsRequest): Promise<EventsPage> {
    const { after, order } = request
    const isDesc = order === 'desc'
    const found = isStart(after) && !isDesc ? null : await read(request)
    const page = found ?? await (isDesc ? pageBefore : pageBehind)(String(after), request)
    if (page.position !== null || (isDesc && after !== null)) return page
    return { ...page, position: isStart(after) ? after : startNow() }
  }

  /** The request from a place in the log: the end, if what comes from now on is asked for. */
  async function located (request: EventsRequest): Promise<EventsRequest> {
    if (request.after !== NOW) return request
    const last = requestIn({ after: null, limit: 1, types: [] }, request.tenant)
    return { ...request, after: (await pageOf(last)).position }
  }

  // Most of those who follow wait at the end of the log, and all are woken by an event.
  const pageForAll = gather(1, (request: EventsRequest) => JSON.stringify(request), async ([request]) =>
    [await pageOf(request)])

  /** A page for one who follows. Nobody else has its records. */
  async function pageOfOne (request: EventsRequest): Promise<EventsPage> {
    return structuredClone(await pageForAll(request))
  }

  return {
    async feed (query, { priorFaults = [], tenant } = {}) {
      const request = requestIn(check.feed(query, priorFaults), tenant)
      const { events, more, position, total } = request.after === NOW
        ? await pageOf({ ...request, after: null, types: [] })
        : await pageOf(request)
      return {
        events: events.map(present),
        more,
        position,
        ...(total !== undefined && { total }),
        next: more ? nextOf(request, events, position) : null,
        query: request
      }
    },

    async history (id, query, { priorFaults = [], tenant } = {}) {
      const of = tenant === undefined ? {} : { tenant }
      const { types, ...paging } = check.history(query, priorFaults)
      const readHistory = (offset: number, limit: number, ofTypes: readonly string[] | null) =>
        fromStorage(async () => isUserId(id)
          ? log.history(id, { offset, limit, ...of, ...(ofTypes !== null && { types: ofTypes }) })
          : { items: [], total: 0 })
      const page = await readPage(paging, ({ from, limit }) =>
        readHistory('offset' in from ? from.offset : 0, limit, types))
      const isKnown = page.total > 0 || (isUserId(id) && await hasUser(id, tenant)) ||
        (types !== null && (await readHistory(0, 1, null)).total > 0)
      if (!isKnown) throw new UsersError('user_not_found')
      return { ...page, items: page.items.map(present) }
    },

    async follow (query, { priorFaults = [], tenant } = {}) {
      const asked = requestIn({ ...check.endless(query, priorFaults), limit: pageSize.max }, tenant)
      const request = await located(asked)
      await pageOf({ ...request, limit: 1 })
      return {
        start: asked.after === NOW ? request.after : null,
        parts: (signal) => tail.follow(async (after) => {
          // Whoever follows misses nothing, however long there are no events.
          const { events, position } = await pageOfOne({ ...request, after: isStart(after) ? null : after })
          const isSame = position === after || (isStart(position) && isStart(after))
          return { events: events.map(present), last: isSame ? null : position }
        }, request.after, signal)
      }
    }
  }
}
