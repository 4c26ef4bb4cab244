import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { cleaned, isObject, SERIALIZERS, type Serializers } from './log-serializers.ts'

/** What Fastify's own serialiser shows of a request. */
const standard = ({ method, url, host, ip, socket }: FastifyRequest): unknown => ({ method, url, host, remoteAddress: ip, remotePort: socket.remotePort })

/** A logger that is told what `show` says of requests, and the status of replies, and never either of them. */
function guarded<L extends object> (logger: L, show: (request: FastifyRequest) => unknown): L {
  const told = (argument: unknown): unknown => {
    if (!isObject(argument)) return argument
    const { req, res } = argument
    if (!isObject(req) && !isObject(res)) return argument
    return { ...argument, ...(isObject(req) && { req: cleaned(show(Object(req))) }), ...(isObject(res) && { res: { statusCode: res['statusCode'] } }) }
  }
  return new Proxy(logger, {
    get (target, name) {
      const found: unknown = Reflect.get(target, name)
      if (typeof found !== 'function') return found
      return (...given: unknown[]): unknown => {
        const answer: unknown = Reflect.apply(found, target, given.map(told))
        return name === 'child' && isObject(answer) ? guarded(answer, show) : answer
      }
    }
  })
}

/** Whether it is no logger at all: where Fastify has none, every level is one function with nothing in it. */
const silent = ({ info, error }: FastifyBaseLogger): boolean => info === error && /\{\s*\}$/.test(String(info))

/**
 * Keeps credentials and queries out of loggers that know no serialisers (those of pino are looked after by `withoutSecrets`): they are handed Fastify's request
 * and reply whole, and print what they please. `given`: the serialisers that the host set for our routes.
 */
export function guardLoggers (scope: FastifyInstance, given: Serializers | undefined): void {
  const { childLoggerFactory } = scope
  const serialize = given?.['req']
  const show = (request: FastifyRequest): unknown => typeof serialize === 'function' ? serialize(request) : standard(request)
  scope.setChildLoggerFactory(function (logger, bindings, options, raw) {
    const child = childLoggerFactory.call(this, logger, bindings, options, raw)
    return SERIALIZERS in child || silent(child) ? child : guarded(child, show)
  })
}
