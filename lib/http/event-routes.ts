import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { UsersError, validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { listMeta } from '../core/paging.ts'
import { feedMeta } from '../events/in-process.ts'
import type { EventLogService, FeedPage } from '../events/log.ts'
import { feedParameters, historyParameters } from '../events/rules.ts'
import { eventOperations } from '../openapi/event-operations.ts'
import { JSON_TYPE } from './body.ts'
import { callerKey } from './caller.ts'
import { NO_LIMITS } from './concurrency-limit.ts'
import { sendStream, wantsStream } from './event-stream.ts'
import { appendHeader, header } from './header-fields.ts'
import { linksOf } from './links.ts'
import {
  collectionPaths, handlersUnder, parsedQuery, refuseOtherMethods, routeReads, type RouteSettings, typedParameters
} from './routing.ts'
import { createStreamPlaces, type StreamBounds } from './stream-places.ts'

export interface EventRoutesOptions extends RouteSettings {
  /** Throws once the caller of a request may no longer read events. */
  recheck: (request: FastifyRequest) => Promise<void>
  /** How many streams may be open. */
  eventStreams: StreamBounds
}

type Pairs = ReadonlyArray<[string, string]>

const LAST_EVENT_ID = 'last-event-id'

/** An error about `after`, which the header stood for, as one about that. `queryFaults`: what the query itself has. */
function aboutHeader (error: unknown, queryFaults: readonly Fault[]): unknown {
  if (!(error instanceof UsersError) || error.errors === undefined) return error
  return validationFailed(error.errors.map((fault) => {
    const { parameter, code, detail } = fault
    return parameter === 'after' && !queryFaults.includes(fault) ? { header: LAST_EVENT_ID, code, detail } : fault
  }))
}

/** The path of a feed with all parameters but `after`, or with another one. */
function feedPath (path: string, pairs: Pairs, after: string | null): string {
  const kept = pairs.filter(([name]) => name !== 'after')
  const query = new URLSearchParams(after === null ? kept : [...kept, ['after', after]]).toString()
  return query === '' ? path : `${path}?${query}`
}

/** The handlers of events: from HTTP to the log and back. */
function eventHandlers (scope: FastifyInstance, log: EventLogService, options: EventRoutesOptions) {
  const { recheck, eventStreams, ...settings } = options
  const { limits } = settings
  const takePlace = createStreamPlaces(eventStreams)
  const handler = handlersUnder(limits)
  // Not for all of the handler: that ends with the response, and a stream may last for days.
  const streamHandler = handlersUnder(NO_LIMITS)
  const feedPathOf = collectionPaths(scope, 'events', settings)
  const usersPath = collectionPaths(scope, 'users', settings)
  const declared = feedParameters(settings.pageSize)
  const ofUser = historyParameters(settings.pageSize)

  /** Where whoever has missed events can read on. */
  function withOldest (error: unknown, request: FastifyRequest, pairs: Pairs): unknown {
    if (!(error instanceof UsersError) || error.code !== 'events_expired') return error
    const link = `<${feedPath(feedPathOf(request), pairs, null)}>; rel="first"`
    return new UsersError('events_expired', { headers: { link } })
  }

  function sendPage (request: FastifyRequest, reply: FastifyReply, pairs: Pairs, page: FeedPage): FastifyReply {
    const { events, more, position } = page
    if (more && position !== null) {
      reply.header('link', `<${feedPath(feedPathOf(request), pairs, position)}>; rel="next"`)
    }
    return reply.type(JSON_TYPE).send(JSON.stringify({ data: events, meta: feedMeta(page) }))
  }

  return {
    feed: streamHandler(async (request, reply) => {
      const { pairs, faults } = parsedQuery(request, settings)
      const query = typedParameters({ pairs, faults }, declared)
      appendHeader(reply, 'vary', 'Accept')
      try {
        if (request.method === 'HEAD' || !wantsStream(request)) {
          return sendPage(request, reply, pairs, await limits.reads(() => log.feed(query, faults)))
        }
        // What a browser sends when it comes again is newer than what its URL says.
        const lastEventId = header(request, LAST_EVENT_ID)
        const from = lastEventId === undefined ? query : { ...query, after: lastEventId }
        const onClose = takePlace(callerKey(request))
        const following = await limits.reads(() => log.follow(from, faults)).catch((error) => {
          onClose()
          throw lastEventId === undefined ? error : aboutHeader(error, faults)
        })
        return sendStream(request, reply, { ...following, recheck: () => recheck(request), onClose })
      } catch (error) {
        throw withOldest(error, request, pairs)
      }
    }),

    history: handler(async (request, reply) => {
      const query = parsedQuery(request, settings)
      const { id } = request.params
      const page = await log.history(id, typedParameters(query, ofUser), query.faults)
      const links = linksOf(`${usersPath(request, 2)}/${id}/events`, query.pairs, page)
      if (links !== '') reply.header('link', links)
      return reply.type(JSON_TYPE).send(JSON.stringify({ data: page.items, meta: listMeta(page) }))
    })
  }
}

/** Adds the routes of events. */
export function eventRoutes (scope: FastifyInstance, log: EventLogService, options: EventRoutesOptions): void {
  const { describe, pageSize } = options
  const handlers = eventHandlers(scope, log, options)
  const operations = eventOperations(pageSize)

  routeReads(scope, '/events', 'events:read', describe(operations.feed), handlers.feed)
  refuseOtherMethods(scope, '/events', ['GET', 'HEAD'])

  routeReads(scope, '/users/:id/events', 'events:read', describe(operations.history), handlers.history)
  refuseOtherMethods(scope, '/users/:id/events', ['GET', 'HEAD'])
}
