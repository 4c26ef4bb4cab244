import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { createUsersApi } from './api.ts'
import { createAuthenticator } from './api-keys/authenticator.ts'
import { apiKeyRoutes } from './api-keys/routes.ts'
import { createApiKeysService } from './api-keys/service.ts'
import { createVerifier } from './api-keys/verifier.ts'
import { createEvents, type Publish } from './events.ts'
import { createFields } from './fields/fields.ts'
import { NO_FIELDS } from './fields/schema.ts'
import { guardLoggers } from './http/child-logger.ts'
import { announceDeprecation } from './http/deprecation.ts'
import { createGate } from './http/gate.ts'
import { createLimiter } from './http/limiter.ts'
import { withoutSecrets } from './http/log-serializers.ts'
import { pinScope } from './http/scope.ts'
import { createSecurityLog } from './http/security-log.ts'
import { describeMount } from './openapi/mount.ts'
import { checkOptions, type UsersOptions } from './options.ts'
import type { Storage } from './storage.ts'
import { cloneFields } from './json.ts'
import { createPresenter } from './users/present.ts'
import { userRoutes } from './users/routes.ts'
import { createUsersService } from './users/service.ts'

const ID_LENGTH = 30
const PRUNE_INTERVAL_MS = 10 * 60 * 1000

/** What of the host's router settings reaches us; older hosts set them at the top level. */
function routerSettings (host: FastifyInstance): { maxParamLength: number, useSemicolonDelimiter: boolean } {
  const { routerOptions = {}, maxParamLength = 100, useSemicolonDelimiter = false } = host.initialConfig
  return { maxParamLength, useSemicolonDelimiter, ...routerOptions }
}

const plugin: FastifyPluginAsync<UsersOptions> = async (host, given) => {
  const options = checkOptions(given)
  const fields = options.fields === undefined ? null : await createFields(options.fields, options.filterable)
  const fieldsSchema = fields?.schema ?? NO_FIELDS
  const { storage, limits, keyPrefix, peppers, keyCache, staticKeys, authenticate, decoratorName, requireIfMatch, idempotencyTtl, deprecated, registration } = options
  const { maxParamLength, useSemicolonDelimiter } = routerSettings(host)
  if (maxParamLength < ID_LENGTH) throw new Error(`fastify-users: the router's maxParamLength is ${maxParamLength}, but ids have ${ID_LENGTH} characters`)
  if (host.hasDecorator(decoratorName)) throw new Error(`fastify-users: app.${decoratorName} exists already: choose another name with the option decoratorName`)

  // Look-ups of keys and the work itself have gates of their own: strangers can fill the first alone.
  const gate = createGate(options.maxInFlight)
  const verifier = createVerifier({ storage, peppers, keyCache, gate: createGate(options.maxInFlight) })
  // Expired idempotency keys are ignored wherever they stand; this only gives their room back.
  const pruning = setInterval(() => {
    storage.pruneIdempotency(new Date().toISOString()).catch(() => host.log.warn('expired idempotency keys could not be removed; the next time they will'))
  }, PRUNE_INTERVAL_MS).unref()
  host.addHook('onClose', async () => {
    clearInterval(pruning)
    await verifier.close()
    await storage.close()
  })
  const { filterable } = options
  if (options.migrate) await storage.migrate({ filterable })
  await storage.check({ filterable })

  host.log.info(`fastify-users: app.${decoratorName} keeps its users in ${storage.name}`)
  host.addHook('onReady', async () => {
    if (staticKeys.length > 0 || authenticate !== undefined) return
    // This is only for a warning: where it can't be told, requests will tell.
    const keys = await apiKeys.list({ limit: 1 }).catch(() => null)
    if (keys === null || keys.total > 0) return
    host.log.warn(`there is no API key yet, so every request is refused: make one with app.${decoratorName}.apiKeys.createFirst({ name }), or give the option staticKeys`)
  })

  const { events, publish } = createEvents(host.log)
  const securityLog = createSecurityLog(host.log)
  host.addHook('onClose', async () => securityLog.close())
  const presenter = createPresenter(fields, host.log)
  const usersOn = (storage: Storage, publish: Publish) => createUsersService({
    storage,
    fields,
    limits,
    requireIfMatch,
    idempotencyTtl,
    // A copy: who made the change may go on with what it was answered before the commit.
    publish: (type, user, context) => publish(type, presenter.user({ ...user, fields: cloneFields(user.fields) }), context)
  })
  const users = usersOn(storage, publish)
  const apiKeys = createApiKeysService({ storage, verifier, limits, keyPrefix, pepper: peppers[0], publish, log: securityLog.changed })
  host.decorate(decoratorName, createUsersApi(users, presenter, apiKeys, events, (transaction) => {
    const joined = storage.within(transaction)
    return usersOn(joined, (...event) => joined.afterCommit(() => publish(...event)))
  }))

  const limiter = await createLimiter(options)
  const settings = { useSemicolonDelimiter, gate, limits, describe: describeMount(host, options, fieldsSchema) }
  const identify = createAuthenticator({ verifier, keyPrefix, staticKeys, authenticate, onRefused: securityLog.refused })
  await host.register(async (scope) => {
    guardLoggers(scope)
    if (deprecated !== undefined) announceDeprecation(scope, deprecated)
    pinScope(scope, {
      identify,
      limiter,
      securityLog,
      errorFormat: options.errorFormat,
      // At the root, and where the host renders errors itself, unknown paths are the host's.
      ownsNotFound: scope.prefix !== '' && options.errorFormat !== 'fastify' && options.notFoundHandler,
      onCaller: ({ record }, request) => {
        if (record === null) return
        verifier.touch(record, (error) => {
          request.log.warn({ keyId: record.id, err: error }, 'the use of an API key could not be noted')
        })
      }
    })
    userRoutes(scope, users, presenter, settings, fieldsSchema)
    if (options.apiKeyRoutes) apiKeyRoutes(scope, apiKeys, { ...settings, keepLast: !staticKeys.some((key) => typeof key !== 'string' && key.scopes?.includes('keys:write')) })
  }, { prefix: options.prefix, ...registration, logSerializers: withoutSecrets(host.log, registration.logSerializers) })
}

/** The plugin: `await app.register(users, { prefix: '/v1', storage })`. */
export const users = fp(plugin, { name: 'fastify-users', fastify: '5.x || 6.x' })
export default users
