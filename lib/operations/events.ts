import type { FastifyRequest } from 'fastify'
import { UsersError, validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import type { PageSize } from '../core/paging.ts'
import { feedMeta } from '../events/in-process.ts'
import type { EventLogService, FeedPage } from '../events/log.ts'
import { feedParameters, historyParameters } from '../events/rules.ts'
import { callerKey, shareOf } from '../http/caller.ts'
import type { ConcurrencyLimits } from '../http/limits/concurrency-limit.ts'
import { sendStream, wantsStream } from '../http/streams/event-stream.ts'
import { appendHeader, header } from '../http/header-fields.ts'
import type { TakePlace } from '../http/streams/stream-places.ts'
import { userId } from '../openapi/component-parts.ts'
import { readCallOf, sendJson, sendPage } from './answers.ts'
import type { Operation, OperationCall } from './operation.ts'

export interface EventOperationsOptions {
  pageSize: PageSize
  limits: ConcurrencyLimits
  /** Throws once the caller of a request may no longer read events. */
  recheck: (request: FastifyRequest) => Promise<void>
  /** Takes a place for a stream of a caller. */
  takePlace: TakePlace
}

const LAST_EVENT_ID = 'last-event-id'

/** An error about `after`, which the header stood for, as one about that. `queryFaults`: what the query itself has. */
function aboutHeader (error: unknown, queryFaults: readonly Fault[]): unknown {
  if (!(error instanceof UsersError) || error.errors === undefined) return error
  const errors = error.errors.map((fault) => {
    const { parameter, code, detail } = fault
    return parameter === 'after' && !queryFaults.includes(fault) ? { header: LAST_EVENT_ID, code, detail } : fault
  })
  return error.code === 'validation_failed' ? validationFailed(errors) : new UsersError(error.code, { errors })
}

/** The path of the feed with all parameters but where it begins, and with another place. */
function feedPath ({ collection, pairs }: OperationCall, place: FeedPage['next']): string {
  const kept = pairs.filter(([name]) => name !== 'after' && name !== 'before')
  const query = new URLSearchParams(place === null ? kept : [...kept, [...place]]).toString()
  return query === '' ? collection : `${collection}?${query}`
}

/** Where whoever has missed events can read on. */
function withOldest (error: unknown, call: OperationCall): unknown {
  if (!(error instanceof UsersError) || error.code !== 'events_expired') return error
  return new UsersError('events_expired', { headers: { link: `<${feedPath(call, null)}>; rel="first"` } })
}

/** The operations on events. */
export function eventOperations (log: EventLogService, options: EventOperationsOptions): Operation[] {
  const { pageSize, limits, recheck, takePlace } = options

  async function sendFeed (call: OperationCall) {
    const { reply, query } = call
    const page = await limits.reads(() => log.feed(query, readCallOf(call)), shareOf(call.request))
    if (page.next !== null) reply.header('link', `<${feedPath(call, page.next)}>; rel="next"`)
    return sendJson(reply, { data: page.events, meta: feedMeta(page) })
  }

  async function openStream ({ request, reply, query, faults, tenant }: OperationCall) {
    // What a browser sends when it comes again is newer than what its URL says.
    const lastEventId = header(request, LAST_EVENT_ID)
    const from = lastEventId === undefined ? query : { ...query, after: lastEventId }
    const onClose = takePlace(callerKey(request))
    const follow = () => log.follow(from, { priorFaults: faults, tenant })
    const following = await limits.reads(follow, shareOf(request)).catch((error) => {
      onClose()
      throw lastEventId === undefined ? error : aboutHeader(error, faults)
    })
    return sendStream(request, reply, { ...following, recheck: () => recheck(request), onClose })
  }

  return [
    {
      tag: 'events',
      method: 'GET',
      path: '/events',
      scope: 'events:read',
      operationId: 'listEvents',
      summary: 'Read the event log',
      description: 'The events after the last one that you have seen, in commit order, each exactly ' +
        'once; with `order=desc`, newest first. With `Accept: text/event-stream`, the same events as Server-Sent ' +
        'Events, then new ones as they arrive; `Last-Event-ID` continues. Too many streams of a key get 429, and of ' +
        'all keys 503. HEAD works too.',
      query: feedParameters(pageSize),
      reads: ['Last-Event-ID'],
      success: { status: 200, description: 'The events.', is: 'EventList', stream: true, headers: ['Link', 'Vary'] },
      codes: ['validation_failed', 'position_unknown', 'events_expired', 'rate_limited'],
      // Not for all of the handler: that ends with the response, and a stream may last for days.
      limitsItself: true,
      async handler (call) {
        const { request, reply } = call
        appendHeader(reply, 'vary', 'Accept')
        const answer = wantsStream(request) ? openStream(call) : sendFeed(call)
        return answer.catch((error) => { throw withOldest(error, call) })
      }
    },
    {
      tag: 'events',
      method: 'GET',
      path: '/users/:id/events',
      id: userId,
      scope: 'events:read',
      operationId: 'listUserEvents',
      summary: 'Read the history of a user',
      description: 'Newest first, even for a deleted user. HEAD works too.',
      query: historyParameters(pageSize),
      success: { status: 200, description: 'The page.', is: 'UserEventList', headers: ['Link'] },
      codes: ['validation_failed', 'user_not_found'],
      async handler (call) {
        const { id } = call.request.params
        const page = await log.history(id, call.query, readCallOf(call))
        return sendPage(call, page, { path: `${call.collection}/${id}/events` })
      }
    }
  ]
}
