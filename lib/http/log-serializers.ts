import type { FastifyBaseLogger, FastifyRequest, RegisterOptions } from 'fastify'

type Serializers = NonNullable<RegisterOptions['logSerializers']>

const SERIALIZERS = Symbol.for('pino.serializers')

/**
 * The serialiser of requests on our routes: the host's own, without the query of the URL. `email` and `q` are personal data, and Fastify logs every request's
 * URL. A serialiser that the host gives for our routes is used as it is.
 */
export function withoutQueries (log: FastifyBaseLogger, given: Serializers | undefined): Serializers {
  const { [SERIALIZERS]: known } = Object(log)
  const serialize: unknown = known?.req
  if (typeof serialize !== 'function') return given ?? {}
  return {
    req: (request: FastifyRequest) => {
      const fields = Object(serialize(request))
      return typeof fields.url === 'string' ? { ...fields, url: fields.url.replace(/\?.*/s, '') } : fields
    },
    ...given
  }
}
