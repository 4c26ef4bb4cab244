import swagger from '@fastify/swagger'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import users, { type Scope } from 'fastify-users'
import webhooks from 'fastify-users/webhooks'
import type { Config } from './config.ts'
import { docs } from './docs.ts'
import { createReadiness } from './readiness.ts'
import { storageFor } from './storage.ts'

/** The service: the plugin, and two routes for whoever watches over it. */
export async function buildApp (config: Config, logger: FastifyServerOptions['logger']): Promise<FastifyInstance> {
  const app = Fastify({
    ...(logger !== undefined && { logger }),
    // Half-sent requests are not waited for: by default a socket could be held for ever. Node.js swaps the two times
    // if that of the headers, 60 seconds by default, is the longer one, and looks for late requests every 30 seconds.
    requestTimeout: 30_000,
    http: { headersTimeout: 15_000, connectionsCheckingInterval: 2000 },
    // While closing, requests on open connections are still answered, with `Connection: close`.
    return503OnClosing: false,
    ...(config.TRUST_PROXY !== '' && { trustProxy: config.TRUST_PROXY })
  })
  const storage = await storageFor(config)
  const keys = config.API_KEYS === '' ? [] : config.API_KEYS.split(',')
  const scopes: Scope[] = ['users:read', 'users:write', 'users:delete']
  if (config.EVENT_LOG || config.WEBHOOKS) scopes.push('events:read')

  await app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'Users', version: '1.0.0' } } })
  await app.register(users, {
    prefix: config.PREFIX,
    storage,
    staticKeys: keys.map((key) => ({ key, scopes })),
    apiKeyRoutes: config.API_KEY_ROUTES,
    eventLog: config.EVENT_LOG || config.WEBHOOKS,
    // Strangers can make the database look up keys that it does not have, so many times a minute.
    ...(config.AUTH_FAILURES > 0 && { authFailures: { max: config.AUTH_FAILURES, window: 60 } }),
    migrate: true
  })

  if (config.WEBHOOKS) {
    const networks = config.WEBHOOK_NETWORKS.split(',').map((each) => each.trim()).filter((each) => each !== '')
    // In a network that the operator allows, receivers are often without TLS.
    await app.register(webhooks, { allowedNetworks: networks, allowHttp: networks.length > 0 })
  }

  // A scope of its own: what its hooks add to answers is for the page alone.
  await app.register(docs)

  // Only what stands behind a key is described.
  const hidden = { schema: { hide: true } }
  app.get('/openapi.json', hidden, async () => app.swagger())
  app.get('/health', hidden, async () => ({ status: 'alive' }))
  const isReady = createReadiness(() => storage.check())
  app.get('/ready', hidden, async (_request, reply) => {
    if (await isReady()) return { status: 'ready' }
    return reply.code(503).header('retry-after', '5').send({ status: 'unavailable' })
  })
  return app
}
