import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isSilent, SERIALIZERS } from '../fastify-internals.ts'
import { isObjectOrList, redacted, type Serializers } from './log-serializers.ts'
import { maskedPath } from './masked-path.ts'
import { memberOf } from '../member-of.ts'

/** A stand-in for a request: without credentials, cookies or query, and with its path masked except for ids. */
function requestStandIn (request: FastifyRequest): object {
  const { id, method, url, headers: { cookie, ...headers } = {} } = request
  const [host, ip, socket] = ['host', 'ip', 'socket'].map((name) => memberOf(request, name))
  const shown = Object(redacted(
    { id, method, url, host, ip, headers, socket: { remoteAddress: ip, remotePort: memberOf(socket, 'remotePort') } },
    maskedPath(request)
  ))
  return { ...shown, params: {}, query: {}, raw: { method, url: shown.url, headers: shown.headers } }
}

/** A stand-in for a reply, with the members that a logger may see. */
function replyStandIn (reply: Record<string, unknown>): object {
  const { statusCode, elapsedTime, request } = reply
  const forward = (name: string) => (...given: unknown[]): unknown => Reflect.apply(Object(reply[name]), reply, given)
  return {
    statusCode,
    elapsedTime,
    getHeader: forward('getHeader'),
    getHeaders: forward('getHeaders'),
    hasHeader: forward('hasHeader'),
    raw: { statusCode },
    ...(isObjectOrList(request) && { request: requestStandIn(Object(request)) })
  }
}

/** Functions are objects too. */
const isAnyObject = (value: unknown): value is object => Object(value) === value

/** An argument of a log call, with stand-ins for a request and a reply. */
function withStandIns (argument: unknown): unknown {
  if (!isObjectOrList(argument)) return argument
  const { req, res } = argument
  if (!isObjectOrList(req) && !isObjectOrList(res)) return argument
  return {
    ...argument,
    ...(isObjectOrList(req) && { req: requestStandIn(Object(req)) }),
    ...(isObjectOrList(res) && { res: replyStandIn(res) })
  }
}

/** A logger that never gets a request or a reply. */
function guarded<L extends object> (logger: L): L {
  // A separate target: a proxy of a frozen logger would have to return the logger's own members.
  const target: L = Object.create(logger)
  return new Proxy(target, {
    set: (_target, name, value) => Reflect.set(logger, name, value),
    get (_target, name) {
      const member: unknown = Reflect.get(logger, name)
      if (typeof member !== 'function') return member
      return (...given: unknown[]): unknown => {
        const result: unknown = Reflect.apply(member, logger, given.map(withStandIns))
        return name === 'child' && isAnyObject(result) ? guarded(result) : result
      }
    }
  })
}

/**
 * Makes every log line of a request name its mount by `prefix`, and keeps credentials and queries out of the log,
 * whatever creates the host's loggers. A logger without serialisers would get Fastify's whole request and reply and
 * might print anything in them, so it gets stand-ins. A pino logger gets `ours`,
 * the serialisers of `redactingSerializers`, even if the host's own factory omits them.
 */
export function guardLoggers (scope: FastifyInstance, ours: Serializers): void {
  const { childLoggerFactory, prefix } = scope
  scope.setChildLoggerFactory(function (logger, bindings, options, raw) {
    const child = childLoggerFactory.call(this, logger, { prefix, ...bindings }, options, raw)
    // Stand-ins that nobody reads would take 30 % of the CPU time of a short request.
    if (isSilent(child)) return child
    if (!(SERIALIZERS in child)) return guarded(child)
    // Fastify passes the scope's serialisers to its routes, but none to its handler for unknown paths.
    const { serializers = ours } = options
    const hasOurs = Object(child)[SERIALIZERS].req === serializers['req']
    return hasOurs ? child : child.child({}, { serializers })
  })
}
