import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import cors from '@fastify/cors'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import users, { type Scope, type UsersOptions } from 'fastify-users'
import admin, { type AdminOptions } from 'fastify-users/admin'
import scim from 'fastify-users/scim'
import webhooks from 'fastify-users/webhooks'
import { clientErrors, frameworkErrors } from './client-errors.ts'
import { baseOf, type Config, ConfigError, listOf, prefixOf } from './config.ts'
import { description } from './description.ts'
import { docs } from './docs.ts'
import { readFields } from './fields.ts'
import { metrics } from './metrics.ts'
import { withVariables } from './origins.ts'
import { createReadiness } from './readiness.ts'
import { storageFor } from './storage.ts'

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400
const HEADERS_MS = 15_000
/** What a browser's script of another origin may read of an answer. */
const EXPOSED = [
  'ETag', 'Link', 'Location', 'Retry-After', 'RateLimit', 'RateLimit-Policy', 'Idempotency-Replayed',
  'Consistency-Token', 'WWW-Authenticate'
]

/** The certificate and its key. @throws ConfigError that names the variable whose file is wrong */
function tlsOf (config: Config): { https: { cert: string, key: string } } | object {
  if (config.TLS_CERT_FILE === '') return {}
  const read = (name: 'TLS_CERT_FILE' | 'TLS_KEY_FILE'): string => {
    try {
      return readFileSync(config[name], 'utf8')
    } catch {
      throw new ConfigError([`${name} must be the path of a file that can be read`])
    }
  }
  const [cert, key] = [read('TLS_CERT_FILE'), read('TLS_KEY_FILE')]
  try {
    createSecureContext({ cert, key })
  } catch {
    throw new ConfigError(['TLS_CERT_FILE and TLS_KEY_FILE must be a certificate and its private key, in PEM'])
  }
  return { https: { cert, key } }
}

/** The options of the plugin, but for its storage. */
function usersOptions (config: Config): Omit<UsersOptions, 'storage'> {
  const scopes: Scope[] = ['users:read', 'users:write', 'users:delete']
  const hasEvents = config.EVENT_LOG || config.WEBHOOKS_ENABLED
  if (hasEvents) scopes.push('events:read')
  const peppers = listOf(config.FASTIFY_USERS_PEPPER)
  return {
    prefix: prefixOf(config),
    apiKeys: {
      static: listOf(config.API_KEYS).map((key) => ({ key, scopes, ...config.TENANTS && { tenant: null } })),
      routes: config.API_KEY_ROUTES,
      countUses: config.COUNT_KEY_USES,
      cache: config.KEY_CACHE,
      ...(peppers.length > 0 && { pepper: peppers })
    },
    requireIfMatch: config.REQUIRE_IF_MATCH,
    eventLog: hasEvents && { retention: config.EVENT_DAYS * DAY },
    trash: config.TRASH_DAYS > 0 && { retention: config.TRASH_DAYS * DAY },
    tenants: config.TENANTS,
    groups: config.GROUPS_ENABLED,
    migrate: true,
    ...(config.FIELDS_FILE !== '' && {
      fields: {
        schema: readFields(config.FIELDS_FILE),
        filterable: [
          ...listOf(config.FILTERABLE_FIELDS),
          ...listOf(config.FOLDED_FIELDS).map((field) => ({ field, match: 'folded' as const }))
        ],
        searchable: listOf(config.SEARCHABLE_FIELDS),
        unique: listOf(config.UNIQUE_FIELDS)
      }
    }),
    limits: {
      // Strangers can make the database look up keys that it does not have, so many times a minute.
      ...(config.AUTH_FAILURES > 0 && { failures: { max: config.AUTH_FAILURES, window: MINUTE } }),
      ...(config.RATE_LIMIT > 0 && { requests: { max: config.RATE_LIMIT, window: MINUTE } }),
      ...(config.DELETES_PER_HOUR > 0 && { deletions: { max: config.DELETES_PER_HOUR, window: HOUR } }),
      ...(config.MAX_IN_FLIGHT > 0 && { inFlight: config.MAX_IN_FLIGHT })
    }
  }
}

/** The attributes of SCIM that are fields. */
const attributesOf = (config: Config): Record<string, string> =>
  Object.fromEntries(listOf(config.SCIM_ATTRIBUTES).map((each) => {
    const [attribute = '', field = ''] = each.split('=')
    return [attribute.trim(), field.trim()]
  }))

/** The name and the image of the page. @throws ConfigError if there is no such image */
function brandOf ({ ADMIN_TITLE: title, ADMIN_LOGO_FILE: file }: Config): Pick<AdminOptions, 'title' | 'logo'> {
  try {
    return { ...(title !== '' && { title }), ...(file !== '' && { logo: readFileSync(file) }) }
  } catch {
    throw new ConfigError(['ADMIN_LOGO_FILE must be the path of a file that can be read'])
  }
}

/**
 * The service: the plugin, its pages, and routes for whoever watches over it.
 * @throws ConfigError that names the variables from which a wrong option comes
 */
export async function buildApp (
  config: Config, logger: FastifyServerOptions['logger']
): Promise<FastifyInstance> {
  return build(config, logger).catch((error: unknown) => { throw withVariables(error, config) })
}

async function build (config: Config, logger: FastifyServerOptions['logger']): Promise<FastifyInstance> {
  const proxies = listOf(config.TRUST_PROXY)
  const seconds = config.REQUEST_TIMEOUT
  const base = baseOf(config)
  const wrongRequests = clientErrors(seconds)
  const app: FastifyInstance = Fastify({
    ...tlsOf(config),
    ...(logger !== undefined && { logger }),
    // Half-sent requests are not waited for: by default a socket could be held for ever. Node.js swaps the two times
    // if that of the headers, 60 seconds by default, is the longer one, and looks for late requests every 30 seconds.
    requestTimeout: seconds * 1000,
    http: {
      headersTimeout: seconds > 0 ? Math.min(seconds * 1000, HEADERS_MS) : HEADERS_MS,
      connectionsCheckingInterval: 2000
    },
    clientErrorHandler: wrongRequests.handler,
    frameworkErrors,
    // While closing, requests on open connections are still answered, with `Connection: close`.
    return503OnClosing: false,
    ...(proxies.length > 0 && { trustProxy: proxies })
  })
  wrongRequests.watch(app)
  const storage = await storageFor(config)
  const origins = listOf(config.CORS_ORIGINS)
  if (origins.length > 0) {
    const methods = ['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE']
    await app.register(cors, { origin: origins, methods, exposedHeaders: EXPOSED, maxAge: 600 })
  }
  if (config.METRICS_ENABLED) metrics(app, storage, base)
  await app.register(description, { page: config.ADMIN_PAGE ? `${base}/admin/` : null })
  await app.register(users, { ...usersOptions(config), storage })
  if (config.WEBHOOKS_ENABLED) {
    const networks = listOf(config.WEBHOOK_NETWORKS)
    // In the networks that the operator allows, receivers are often without TLS.
    await app.register(webhooks, { allowedNetworks: networks, allowHttp: networks.length > 0 })
  }
  if (config.SCIM_ENABLED) {
    const { SCIM_RATE_LIMIT: max } = config
    await app.register(scim, {
      prefix: `${base}/scim/v2`,
      mapping: { attributes: attributesOf(config) },
      ...(max > 0 && { requests: { max, window: MINUTE } })
    })
  }
  if (config.ADMIN_PAGE) await app.register(admin, { prefix: `${base}/admin`, ...brandOf(config) })
  // A scope of its own: what its hooks add to answers is for the page alone.
  await app.register(docs, { path: `${base}/docs` })

  // Fastify's own answer and its line in the log have the whole URL: a query may be somebody's address, or a key.
  app.setNotFoundHandler(async (_request, reply) => reply.code(404).type('application/problem+json')
    .send({ type: 'about:blank', title: 'Not found', status: 404 }))

  // Only what stands behind a key is described.
  const hidden = { schema: { hide: true } }
  app.get(`${base}/`, hidden, async (_request, reply) => config.ADMIN_PAGE
    ? reply.redirect(`${base}/admin/`)
    : { api: prefixOf(config), docs: `${base}/docs`, openapi: `${base}/openapi.json`, health: `${base}/health` })
  // A probe comes every few seconds: only its failures are logged.
  const probe = { ...hidden, logLevel: 'warn' } as const
  app.get(`${base}/openapi.json`, hidden, async () => app.swagger())
  app.get(`${base}/health`, probe, async () => ({ status: 'alive' }))
  const readiness = createReadiness(storage)
  let isOpen = false
  app.users.ready().then(() => { isOpen = true }, () => {})
  app.get(`${base}/ready`, probe, async (_request, reply) => {
    const status = isOpen ? await readiness() : 'migrating'
    if (status === 'unavailable' || status === 'migrating') reply.code(503).header('retry-after', '5')
    return { status }
  })
  return app
}
