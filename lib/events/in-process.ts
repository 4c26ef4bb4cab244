import { type ListMeta, listMeta } from '../core/paging.ts'
import type { UserEventType } from '../users/rules.ts'
import type { UserFields } from '../users/types.ts'
import type { Listening } from './emitter.ts'
import type { EventLogService, FeedPage } from './log.ts'
import type { EventQuery, FeedQuery } from './rules.ts'
import type { EventFilter, LoggedEvent, TypesOf } from './types.ts'

/** Options of following the log in process. */
export interface FollowOptions<Filter extends EventFilter = EventFilter> extends EventQuery<Filter> {
  /** Ends it when it is aborted. */
  signal?: AbortSignal
  /**
   * Called, and awaited, with each position that was passed, once all requested events up to it have been dealt with.
   * Begin after it next time. With `now`, the first call gets the position where it begins.
   */
  onPosition?: (position: string) => unknown
}

/** What a page of the log says of itself. */
export interface FeedMeta {
  limit: number
  /** True if more follows. */
  more: boolean
  /**
   * The last event that was passed, of whatever type: to read on after it. Newest first it is on the first page alone:
   * what comes after it is on none of the pages. It is there if the log is empty, too.
   */
  position?: string
  /** How many events there are that are asked for, on all pages. Newest first with a `subject` alone. */
  total?: number
}

/** `app.users.events`. All but `on` need the option `eventLog`, and throw a TypeError without it. */
export interface Events<Fields = UserFields> extends Listening<Fields> {
  /**
   * A page of the recorded events: after one, in the order of their commits, or newest first.
   * @throws `validation_failed`, `position_unknown`, `events_expired`, `storage_unavailable`
   */
  list<Filter extends EventFilter = EventFilter>(
    query?: FeedQuery<Filter>
  ): Promise<{ data: Array<LoggedEvent<TypesOf<Filter>, Fields>>, meta: FeedMeta }>
  /**
   * Iterates over the recorded events after the one with this id or after this position (null: from the oldest one that
   * is kept; `now`: only those that come from here on), then over those that come, until the signal is aborted or the
   * server closes. Each comes exactly once; a storage that is unavailable is asked again. Keep the id of the last event
   * that you have dealt with, or what `onPosition` gets.
   * @throws `validation_failed`, `position_unknown`, `events_expired`
   */
  after<Filter extends EventFilter = EventFilter>(
    id?: string | null,
    options?: FollowOptions<Filter>
  ): AsyncGenerator<LoggedEvent<TypesOf<Filter>, Fields>, void, undefined>
  /**
   * The recorded events of one user, newest first, also of a deleted one.
   * @throws `validation_failed`, `user_not_found`, `storage_unavailable`
   */
  ofUser (
    id: string,
    query?: { page?: number, limit?: number, type?: EventFilter }
  ): Promise<{ data: Array<LoggedEvent<UserEventType, Fields>>, meta: ListMeta }>
}

/** The `meta` of a page of the log. */
export function feedMeta ({ query: { limit }, more, position, total }: FeedPage): FeedMeta {
  return { limit, more, ...(position !== null && { position }), ...(total !== undefined && { total }) }
}

/** Makes `app.users.events`. `log`: null without the option `eventLog`. `tenant`: of one alone. */
export function createEvents (on: Listening['on'], log: EventLogService | null, tenant?: string): Events {
  function logOf (method: string): EventLogService {
    if (log !== null) return log
    throw new TypeError(`fastify-users: events.${method}() needs the option eventLog`)
  }

  async function * after (
    id: string | null = null,
    options: FollowOptions = {}
  ): AsyncGenerator<LoggedEvent, void, undefined> {
    // Copied, so that `null` is allowed; unknown options become unknown parameters.
    const { signal = new AbortController().signal, onPosition = () => {}, ...query } = { ...options }
    const faults = [
      ...signal instanceof AbortSignal ? [] : [{ parameter: 'signal', code: 'type', detail: 'must be an AbortSignal' }],
      ...typeof onPosition === 'function'
        ? []
        : [{ parameter: 'onPosition', code: 'type', detail: 'must be a function' }]
    ]
    const from = { ...query, ...(id !== null && { after: id }) }
    const { start, parts } = await logOf('after').follow(from, { priorFaults: faults, tenant })
    if (start !== null) await onPosition(start)
    for await (const { events, last } of parts(signal)) {
      yield * events
      if (last !== null) await onPosition(last)
    }
  }

  // The filter narrows the types of events, which no compiler can follow.
  return Object.freeze(Object({
    on,
    async list (query: FeedQuery = {}) {
      const page = await logOf('list').feed({ ...query }, { tenant })
      return { data: page.events, meta: feedMeta(page) }
    },
    after,
    async ofUser (id: string, query: { page?: number, limit?: number, type?: EventFilter } = {}) {
      const page = await logOf('ofUser').history(id, { ...query }, { tenant })
      return { data: page.items, meta: listMeta(page) }
    }
  }))
}
