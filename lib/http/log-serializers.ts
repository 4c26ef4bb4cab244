import type { FastifyBaseLogger, FastifyRequest, RegisterOptions } from 'fastify'

type Serializers = NonNullable<RegisterOptions['logSerializers']>

const SERIALIZERS = Symbol.for('pino.serializers')

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Headers as a serialiser gives them, without the credentials. */
function withoutCredentials (headers: unknown): unknown {
  if (!isObject(headers)) return undefined
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, /^(?:proxy-)?authorization$/i.test(name) ? '[redacted]' : value]))
}

/**
 * The serialisers of our routes: the host's own, but of a request without the query of its URL and without its credentials. `email` and `q` are personal data,
 * and Fastify logs every request's URL.
 */
export function withoutSecrets (log: FastifyBaseLogger, given: Serializers | undefined): Serializers {
  const { [SERIALIZERS]: known } = Object(log)
  const serialize: unknown = given?.['req'] ?? known?.req
  if (typeof serialize !== 'function') return given ?? {}
  return {
    ...given,
    req: (request: FastifyRequest) => {
      const fields = serialize(request)
      if (!isObject(fields)) return fields
      const { url, headers } = fields
      return Object({
        ...fields,
        ...(typeof url === 'string' && { url: url.replace(/\?.*/s, '') }),
        ...('headers' in fields && { headers: withoutCredentials(headers) })
      })
    }
  }
}
