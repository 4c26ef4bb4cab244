import { validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { EVENT_ID } from '../core/ids.ts'
import { type PageSize, type Paging, pagingParameters, readPaging } from '../core/paging.ts'
import { type Parameter, parameterFaults, type Parameters } from '../core/parameters.ts'
import type { EventsRequest } from '../storage/storage.ts'
import { EVENT_TYPES, type EventFilter } from './types.ts'

/** What `type` may be: a type, or the first part of some with `.*` behind it. */
export const TYPE_FILTERS: readonly string[] = [
  ...EVENT_TYPES, ...new Set(EVENT_TYPES.map((type) => `${type.split('.')[0]}.*`))
]

/** In place of an id: what comes from now on. */
export const NOW = 'now'

const after: Parameter = {
  schema: {
    type: 'string',
    pattern: `${EVENT_ID.source}|^${NOW}$`,
    description: 'Only events after this one, or after this `meta.position`; `now`: only those that come from here ' +
      'on. Absent: from the oldest one that is kept.'
  },
  problem: (value) => typeof value === 'string' && (value === NOW || EVENT_ID.test(value))
    ? null
    : { code: 'format', detail: `must be the id of an event, or ${NOW}` }
}

const type: Parameter = {
  schema: { type: 'string', enum: TYPE_FILTERS, description: 'Only events of this type, or of all that begin so.' },
  problem: (value) => TYPE_FILTERS.some((filter) => filter === value)
    ? null
    : { code: 'choice', detail: `must be ${TYPE_FILTERS.join(' or ')}` }
}

/** True if a filter means this type. */
export function isOfType (filter: string, each: string): boolean {
  return filter.endsWith('.*') ? each.startsWith(filter.slice(0, -1)) : each === filter
}

/** The types that some filters mean; null, without a filter: all. */
export function typesOf (filters: readonly string[]): readonly string[] | null {
  if (filters.length === 0) return null
  return EVENT_TYPES.filter((each) => filters.some((filter) => isOfType(filter, each)))
}

/** Declares the parameters of the feed. */
export function feedParameters (size: PageSize): Parameters {
  const { limit } = pagingParameters(size, EVENT_ID)
  return { after, limit, type }
}

/** Declares the parameters of a user's history. */
export function historyParameters (size: PageSize): Parameters {
  const { page, limit } = pagingParameters(size, EVENT_ID)
  return { page, limit }
}

/** Parameters of the feed, in process. */
export interface FeedQuery<Filter extends EventFilter = EventFilter> {
  /**
   * Only events after the one with this id, or after this `position`; `now`: only those that come from here on. Absent:
   * from the oldest one that is kept.
   */
  after?: string
  /** 1 to `pageSize.max`; `pageSize.default` by default. */
  limit?: number
  /** Only events of this type, such as `user.updated`, or of all that begin so, such as `user.*`. */
  type?: Filter
}

type Query = Readonly<Record<string, unknown>>

/** Makes the checks of the parameters of events. Both throw UsersError `validation_failed`. */
export function eventQueryChecks (size: PageSize) {
  const feed = feedParameters(size)
  const history = historyParameters(size)

  function check (declared: Parameters, query: Query, priorFaults: readonly Fault[]): Paging {
    const faults = priorFaults.concat(parameterFaults(declared, query))
    const paging = readPaging({ ...query, after: undefined }, size, faults)
    if (faults.length > 0) throw validationFailed(faults)
    return paging
  }

  return {
    feed (query: Query, priorFaults: readonly Fault[]): EventsRequest {
      const { limit } = check(feed, query, priorFaults)
      const { after, type } = query
      const types = typesOf(typeof type === 'string' ? [type] : [])
      return { after: typeof after === 'string' ? after : null, limit, types }
    },
    history: (query: Query, priorFaults: readonly Fault[]): Paging => check(history, query, priorFaults)
  }
}
