import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { type Describe, hidden } from './hidden.ts'
import type { DescriptionSettings } from './operation-description.ts'

const OMITTED = 'the description of @fastify/swagger omits the routes of fastify-users'

/** Describes the routes of a mount, unless `openapi` is false. If a description can't have them, the log says why. */
export async function describeMount (
  host: FastifyInstance,
  log: FastifyBaseLogger,
  openapi: boolean,
  settings: DescriptionSettings
): Promise<Describe> {
  if (!openapi) return () => hidden
  // @fastify/swagger sees only the routes that are added after it.
  const inTime = host.hasDecorator('swagger')
  host.addHook('onReady', async () => {
    if (!host.hasDecorator('swagger')) return
    if (!inTime) return log.warn(`${OMITTED}: register @fastify/swagger first`)
    // Only the description itself tells its version. It is kept, so that it is made once in any case.
    try {
      host.getDecorator<() => unknown>('swagger')()
    } catch (err) {
      log.warn({ err }, 'the description of @fastify/swagger cannot be made')
    }
  })
  if (!inTime) return () => hidden
  const mend = "it is not OpenAPI 3.1; register it with { openapi: { openapi: '3.1.0' } }"
  // A description has the routes in their order, so ids of the host's later ones are noted here.
  const later = new Set<string>()
  host.addHook('onRoute', ({ schema }) => {
    const { operationId }: Record<string, unknown> = Object(schema)
    if (typeof operationId === 'string') later.add(operationId)
  })
  // Loaded only if there is a description: its texts and schemas take 8 ms of a start.
  const { createDescribe } = await import('./describe.ts')
  return createDescribe(settings, later, () => log.warn(`${OMITTED}: ${mend}`))
}
