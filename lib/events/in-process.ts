import { type ListMeta, listMeta } from '../core/paging.ts'
import type { UserFields } from '../users/types.ts'
import type { Listening } from './emitter.ts'
import type { EventLogService } from './log.ts'
import type { FeedQuery } from './rules.ts'
import type { EventFilter, LoggedEvent } from './types.ts'

/** Options of following the log in process. */
export interface FollowOptions {
  /** Only events of this type, such as `user.updated`, or of all that begin so, such as `user.*`. */
  type?: EventFilter
  /** Ends it when it is aborted. */
  signal?: AbortSignal
}

/** `app.users.events`. All but `on` need the option `eventLog`, and throw a TypeError without it. */
export interface Events<Fields = UserFields> extends Listening<Fields> {
  /**
   * A page of the recorded events after one, in the order of their commits.
   * @throws `validation_failed`, `events_expired`, `storage_unavailable`
   */
  list (query?: FeedQuery): Promise<{ data: LoggedEvent[], meta: { limit: number, more: boolean } }>
  /**
   * Iterates over the recorded events after the one with this id (null: from the oldest one that is kept), then over
   * those that come, until the signal is aborted or the server closes. Each comes exactly once; a storage that is
   * unavailable is asked again. Keep the id of the last event that you have dealt with.
   * @throws `validation_failed`, `events_expired`
   */
  after (id?: string | null, options?: FollowOptions):
  AsyncGenerator<LoggedEvent, void, undefined>
  /**
   * The recorded events of one user, newest first, also of a deleted one.
   * @throws `validation_failed`, `user_not_found`, `storage_unavailable`
   */
  ofUser (id: string, query?: { page?: number, limit?: number }): Promise<{ data: LoggedEvent[], meta: ListMeta }>
}

/** Makes `app.users.events`. `log`: null without the option `eventLog`. */
export function createEvents (on: Listening['on'], log: EventLogService | null): Events {
  function logOf (method: string): EventLogService {
    if (log !== null) return log
    throw new TypeError(`fastify-users: events.${method}() needs the option eventLog`)
  }

  async function * after (
    id: string | null = null,
    options: FollowOptions = {}
  ): AsyncGenerator<LoggedEvent, void, undefined> {
    // Of a copy: then `null` is no option, and what is no option is an unknown parameter.
    const { signal = new AbortController().signal, ...query } = { ...options }
    const faults = signal instanceof AbortSignal
      ? []
      : [{ parameter: 'signal', code: 'type', detail: 'must be an AbortSignal' }]
    const parts = await logOf('after').follow({ ...query, ...(id !== null && { after: id }) }, faults)
    for await (const { events } of parts(signal)) yield * events
  }

  return Object.freeze({
    on,
    async list (query: FeedQuery = {}) {
      const { events, more, query: { limit } } = await logOf('list').feed({ ...query })
      return { data: events, meta: { limit, more } }
    },
    after,
    async ofUser (id: string, query: { page?: number, limit?: number } = {}) {
      const page = await logOf('ofUser').history(id, { ...query })
      return { data: page.items, meta: listMeta(page) }
    }
  })
}
