import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isNoLogger, SERIALIZERS } from './fastify-internals.ts'
import { cleaned, isObject } from './log-serializers.ts'

/** Something of a request's shape, for loggers that look into it, without its credentials, its cookies and its query. */
function standInFor (request: FastifyRequest): object {
  const { id, method, url, host, ip, headers: { cookie, ...headers } = {}, socket } = request
  const { remotePort } = Object(socket)
  const shown = Object(cleaned({ id, method, url, host, ip, headers, socket: { remoteAddress: ip, remotePort } }))
  return { ...shown, params: {}, query: {}, raw: { method, url: shown.url, headers: shown.headers } }
}

/** The same of a reply. */
function replyLike (reply: Record<string, unknown>): object {
  const { statusCode, elapsedTime, request } = reply
  const ask = (name: string) => (...given: unknown[]): unknown => Reflect.apply(Object(reply[name]), reply, given)
  return { statusCode, elapsedTime, getHeader: ask('getHeader'), getHeaders: ask('getHeaders'), hasHeader: ask('hasHeader'), raw: { statusCode }, ...(isObject(request) && { request: standInFor(Object(request)) }) }
}

/** Functions are objects too. */
const isAnyObject = (value: unknown): value is object => Object(value) === value

/** What a logger is told, with stand-ins for a request and a reply. */
function told (argument: unknown): unknown {
  if (!isObject(argument)) return argument
  const { req, res } = argument
  if (!isObject(req) && !isObject(res)) return argument
  return { ...argument, ...(isObject(req) && { req: standInFor(Object(req)) }), ...(isObject(res) && { res: replyLike(res) }) }
}

/** A logger that never meets a request or a reply. */
function guarded<L extends object> (logger: L): L {
  // Not the logger itself: a proxy of what is frozen must answer what that has.
  const target: L = Object.create(logger)
  return new Proxy(target, {
    set: (_target, name, value) => Reflect.set(logger, name, value),
    get (_target, name) {
      const found: unknown = Reflect.get(logger, name)
      if (typeof found !== 'function') return found
      return (...given: unknown[]): unknown => {
        const answer: unknown = Reflect.apply(found, logger, given.map(told))
        return name === 'child' && isAnyObject(answer) ? guarded(answer) : answer
      }
    }
  })
}

/**
 * Keeps credentials and queries out of the log whatever makes its loggers. Those that know no serialisers are handed Fastify's request and reply whole, and print
 * what they please: they get stand-ins. Those of pino are looked after by `withoutSecrets`, also where the host's own factory has left that out.
 */
export function guardLoggers (scope: FastifyInstance): void {
  const { childLoggerFactory } = scope
  scope.setChildLoggerFactory(function (logger, bindings, options, raw) {
    const child = childLoggerFactory.call(this, logger, bindings, options, raw)
    if (isNoLogger(child)) return child
    if (!(SERIALIZERS in child)) return guarded(child)
    const { serializers } = options
    return serializers === undefined || Object(child)[SERIALIZERS].req === serializers['req'] ? child : child.child({}, { serializers })
  })
}
