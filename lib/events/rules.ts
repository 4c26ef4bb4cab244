import { validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { API_KEY_ID, EVENT_ID, GROUP_ID, USER_ID, WEBHOOK_ID } from '../core/ids.ts'
import { firstMillisecond } from '../core/moments.ts'
import { type PageSize, type Paging, pagingParameters, readPaging } from '../core/paging.ts'
import {
  choiceParameter, momentParameter, type Parameter, parameterFaults, type Parameters
} from '../core/parameters.ts'
import { isStorable } from '../core/text.ts'
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
    description: 'Only events after this one, or after this `meta.position`. `now`: only events recorded from now ' +
      'on. Default: from the oldest event that is kept.'
  },
  problem: (value) => typeof value === 'string' && (value === NOW || EVENT_ID.test(value))
    ? null
    : { code: 'format', detail: `must be the id of an event, or ${NOW}` }
}

const before: Parameter = {
  schema: {
    type: 'string',
    pattern: EVENT_ID.source,
    description: 'Only events before this one. Needs `order=desc`, whose `Link` contains it.'
  },
  problem: (value) => typeof value === 'string' && EVENT_ID.test(value)
    ? null
    : { code: 'format', detail: 'must be the id of an event' }
}

const SUBJECTS = [USER_ID, API_KEY_ID, GROUP_ID, WEBHOOK_ID]

const subject: Parameter = {
  schema: {
    type: 'string',
    pattern: SUBJECTS.map(({ source }) => source).join('|'),
    description: 'Only events of the user, API key, group or webhook with this id, even if it was deleted.'
  },
  problem: (value) => typeof value === 'string' && SUBJECTS.some((form) => form.test(value))
    ? null
    : { code: 'format', detail: 'must be the id of a user, an API key, a group or a webhook' }
}

const actor: Parameter = {
  schema: {
    type: 'string',
    minLength: 1,
    description: 'Only changes made by the API key with this id, the static key with this name, or the ' +
      'principal with this id.'
  },
  problem: (value) => typeof value === 'string' && value !== '' && isStorable(value)
    ? null
    : { code: 'format', detail: 'must be the id of an actor' }
}

const type: Parameter = {
  schema: { type: 'string', enum: TYPE_FILTERS, description: 'Only events of this type or group (e.g. `user.*`).' },
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
  return {
    order: choiceParameter(['asc', 'desc'], 'In commit order, or newest first.'),
    after,
    before,
    limit,
    type,
    subject,
    actor,
    since: momentParameter('Only events with this timestamp or a later one.'),
    until: momentParameter('Only events with a timestamp before this one.')
  }
}

/** Declares the parameters of a user's history. */
export function historyParameters (size: PageSize): Parameters {
  const { page, limit } = pagingParameters(size, EVENT_ID)
  return { page, limit, type }
}

/** Which events are meant, in process. All that is given must hold. */
export interface EventQuery<Filter extends EventFilter = EventFilter> {
  /** Only events of this type, such as `user.updated`, or of a group of types, such as `user.*`. */
  type?: Filter
  /** Only events of the user, API key, group or webhook with this id, even if it was deleted. */
  subject?: string
  /** Only changes by the API key or principal with this id, or by the static key with this name. */
  actor?: string
  /** Only events with this timestamp or a later one: RFC 3339. */
  since?: string
}

/** Parameters of the feed, in process. */
export interface FeedQuery<Filter extends EventFilter = EventFilter> extends EventQuery<Filter> {
  /** `asc`, in the order of commits (the default), or `desc`: the newest first. */
  order?: 'asc' | 'desc'
  /**
   * Only events after the one with this id, or after this `position`. `now`: only events recorded from now on. Default:
   * from the oldest event that is kept. Not with `order: 'desc'`.
   */
  after?: string
  /** Only events before the one with this id. Needs `order: 'desc'`. */
  before?: string
  /** 1 to `pageSize.max`; `pageSize.default` by default. */
  limit?: number
  /** Only events with a timestamp before this one: RFC 3339. */
  until?: string
}

type Query = Readonly<Record<string, unknown>>

/** The types that a parameter means; null, without one: all. */
function typesIn ({ type }: Query): readonly string[] | null {
  return typesOf(typeof type === 'string' ? [type] : [])
}

/** What is wrong between the order and where a page begins. */
function orderFaults ({ order, after, before }: Query): Fault[] {
  if (order === 'desc' && after !== undefined) {
    return [{ parameter: 'after', code: 'exclusive', detail: 'cannot be used with order=desc: use before instead' }]
  }
  if (order !== 'desc' && before !== undefined) {
    return [{ parameter: 'before', code: 'exclusive', detail: 'can only be used with order=desc' }]
  }
  return []
}

/** What says where a page ends, and means nothing where events go on coming. */
function endlessFaults ({ order, until }: Query): Fault[] {
  const faulty = [...order === 'desc' ? ['order'] : [], ...until === undefined ? [] : ['until']]
  return faulty.map((parameter) =>
    ({ parameter, code: 'exclusive', detail: 'cannot be used with a stream of events: read pages instead' }))
}

const momentOf = (value: unknown): string | null => typeof value === 'string' ? firstMillisecond(value) : null

/** Makes the checks of the parameters of events. All throw UsersError `validation_failed`. */
export function eventQueryChecks (size: PageSize) {
  const declaredFeed = feedParameters(size)
  const declaredHistory = historyParameters(size)

  function check (declared: Parameters, query: Query, priorFaults: readonly Fault[], between: readonly Fault[]) {
    const faults = [...priorFaults, ...parameterFaults(declared, query), ...between]
    const paging = readPaging({ ...query, after: undefined }, size, faults)
    if (faults.length > 0) throw validationFailed(faults)
    return paging
  }

  function feed (query: Query, priorFaults: readonly Fault[], between: readonly Fault[] = []): EventsRequest {
    const { limit } = check(declaredFeed, query, priorFaults, [...orderFaults(query), ...between])
    const { order, after, before, subject, actor } = query
    const [since, until] = [momentOf(query['since']), momentOf(query['until'])]
    const place = order === 'desc' ? before : after
    return {
      after: typeof place === 'string' ? place : null,
      limit,
      types: typesIn(query),
      ...(order === 'desc' && { order }),
      ...(typeof subject === 'string' && { subject }),
      ...(typeof actor === 'string' && { actor }),
      ...(since !== null && { since }),
      ...(until !== null && { until })
    }
  }

  return {
    feed,
    /** Of the feed, where events go on coming. */
    endless: (query: Query, priorFaults: readonly Fault[]): EventsRequest =>
      feed(query, priorFaults, endlessFaults(query)),
    history: (query: Query, priorFaults: readonly Fault[]): Paging & { types: readonly string[] | null } =>
      ({ ...check(declaredHistory, query, priorFaults, []), types: typesIn(query) })
  }
}
