import type { FastifyInstance } from 'fastify'
import type { FieldsSchema } from '../fields/schema.ts'
import type { CheckedOptions } from '../options.ts'
import { createDescribe, type Describe, hide } from './describe.ts'

const LACKS = 'the description of @fastify/swagger lacks the routes of fastify-users'

/** How the routes of a mount are described, as its options say; where a description can't have them, the host's log says why. */
export function describeMount (host: FastifyInstance, { openapi, errorFormat, decoratorName, deprecated, limits, rateLimit, authFailures, maxDeletesPerHour }: CheckedOptions, fields: FieldsSchema): Describe {
  if (!openapi) return () => hide
  // It sees the routes that are made after it alone.
  const inTime = host.hasDecorator('swagger')
  host.addHook('onReady', async () => {
    if (!inTime && host.hasDecorator('swagger')) host.log.warn(`${LACKS}: register it before them`)
  })
  const settings = {
    errorFormat,
    decoratorName,
    deprecated: deprecated === undefined ? null : { sunset: deprecated.sunset !== undefined, link: deprecated.link !== undefined },
    limits,
    fields,
    limited: { requests: rateLimit !== undefined, failures: authFailures !== undefined, deletions: maxDeletesPerHour !== undefined }
  }
  return createDescribe(settings, () => host.log.warn(`${LACKS}: it is Swagger 2.0; give it the option openapi`))
}
