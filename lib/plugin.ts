import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { createAuthenticator } from './api-keys/authenticator.ts'
import { createKeyOwners } from './api-keys/key-owner.ts'
import type { KeyEventType, ApiKey } from './api-keys/record.ts'
import { DEFAULT_SCOPES } from './api-keys/scopes.ts'
import { createApiKeysService } from './api-keys/service.ts'
import { createVerifier } from './api-keys/verifier.ts'
import { type Context, IN_PROCESS } from './core/context.ts'
import { type MakeEvent, newEvent } from './storage/recorded-events.ts'
import { fromStorage } from './storage/storage-errors.ts'
import type { NewEvent } from './storage/storage.ts'
import { tracedStorage } from './storage/tracing.ts'
import { createEmitter, type Publish } from './events/emitter.ts'
import { createEvents } from './events/in-process.ts'
import { createEventLog } from './events/log.ts'
import { eventPresenter } from './events/presenter.ts'
import { NO_FIELDS } from './fields/fields-schema.ts'
import { createHostFields, type HostFields } from './fields/host-fields.ts'
import { requireFit, routerSettings, warnWithoutKeys } from './mount/host.ts'
import { rechecks } from './http/admission/authentication.ts'
import { createConcurrencyLimits } from './http/limits/concurrency-limit.ts'
import { announceDeprecation } from './http/responses/deprecation.ts'
import { routeEveryMethod } from './http/fastify-internals.ts'
import { guardLoggers } from './http/logging/guarded-logger.ts'
import { isolate } from './http/admission/admission.ts'
import { continueWhenRead } from './http/admission/late-continue.ts'
import { redactingSerializers } from './http/logging/log-serializers.ts'
import { createRateLimits } from './http/limits/rate-limits.ts'
import { createSecurityLog } from './http/logging/security-log.ts'
import { createInProcess } from './mount/in-process.ts'
import { keepMount, type Mount } from './mount/mounts.ts'
import { describeMount } from './openapi/describe-mount.ts'
import { apiKeyOperations } from './operations/api-keys.ts'
import { batchOperation } from './operations/batch.ts'
import { eventOperations } from './operations/events.ts'
import { exportOperation } from './operations/export.ts'
import { importOperation } from './operations/import.ts'
import type { Operation } from './operations/operation.ts'
import { routeOperations } from './operations/route.ts'
import { userOperations } from './operations/users.ts'
import { type CheckedOptions, checkOptions, type UsersOptions } from './mount/options.ts'
import { createExports } from './transfer/export.ts'
import { LIST_PARAMETERS } from './users/list-query.ts'
import { USER_MEMBERS } from './users/rules.ts'
import { createPresenter } from './users/presenter.ts'
import { joinMounts } from './mount/shared-storage.ts'
import { openStorage } from './mount/storage-lifecycle.ts'
import { usersServices } from './mount/users-services.ts'

function descriptionSettings (options: CheckedOptions, fields: HostFields | null) {
  const { errorFormat, decoratorName, deprecated, pageSize, rateLimit, authFailures, maxDeletesPerHour } = options
  return {
    problemDetails: errorFormat === 'problem',
    decoratorName,
    deprecated: deprecated === undefined
      ? null
      : { sunset: deprecated.sunset !== undefined, link: deprecated.link !== undefined },
    pageSize,
    fields: fields?.schema ?? NO_FIELDS,
    limited: {
      requests: rateLimit !== undefined,
      failures: authFailures !== undefined,
      deletions: maxDeletesPerHour !== undefined
    }
  }
}

const plugin: FastifyPluginAsync<UsersOptions> = async (host, given) => {
  const options = checkOptions(given)
  const storage = tracedStorage(options.storage)
  const { keyPrefix, pepper: peppers, keyCache, pageSize, staticKeys, errorFormat } = options
  const { maxInFlight = storage.concurrency ?? Infinity } = options
  const reserved = { members: USER_MEMBERS, parameters: LIST_PARAMETERS }
  const fields = options.fields === undefined
    ? null
    : await createHostFields(options.fields, options, reserved)
  requireFit(host, options)
  continueWhenRead(host)
  // A server may have many mounts: each line says which one it is about.
  const log = host.log.child({ prefix: `${host.prefix}${options.prefix}` })

  // Key look-ups have a limit of their own: strangers can exhaust that one only.
  const limit = createConcurrencyLimits({
    places: maxInFlight,
    isQueueing: () => (storage.connections?.().waiting ?? 0) > 0,
    onRefused (refused) {
      log.warn({ refused }, 'requests were refused, because more come than the storage can serve')
    }
  })
  const verifier = createVerifier({ storage, peppers, keyCache, limited: limit() })
  const mounts = joinMounts(options)
  await openStorage(host, log, verifier, options, mounts)

  const emitter = createEmitter(log)
  const securityLog = createSecurityLog(log)
  host.addHook('onClose', async () => securityLog.close())
  const schema = fields?.schema ?? NO_FIELDS
  const presenter = createPresenter(fields, log)
  const usersOn = usersServices(fields, presenter, options)
  const makeEvent: MakeEvent = options.eventLog === null ? () => null : newEvent
  const hasUser = async (id: string) => await fromStorage(() => storage.findUser(id)) !== null
  const present = eventPresenter(presenter)
  const eventLog = options.eventLog === null || storage.eventLog === undefined
    ? null
    : createEventLog({ log: storage.eventLog, present, pageSize, hasUser })
  host.addHook('preClose', async () => eventLog?.tail.close())
  if (eventLog !== null) mounts.onChange(eventLog.tail.wake)
  const publish: Publish = (...change) => {
    emitter.publish(...change)
    mounts.changed()
  }
  const services = usersOn(storage, publish, makeEvent)
  const { users, openImport, writeBatch } = services
  const publishKey = (type: KeyEventType, key: ApiKey, context: Context, recorded: NewEvent | null) => {
    securityLog.changed(type, key, context)
    publish(type, key, context, recorded)
  }
  const apiKeys = createApiKeysService({
    storage, verifier, pageSize, keyPrefix, pepper: peppers[0], publish: publishKey, makeEvent
  })
  warnWithoutKeys(host, log, apiKeys, options)
  const usersIn = (transaction: unknown) => {
    const joined = storage.joinTransaction(transaction)
    return usersOn(joined, (...change) => joined.afterCommit(() => publish(...change)), makeEvent)
  }
  const events = createEvents(emitter.on, eventLog)
  const inProcess = createInProcess({ ...services, presenter, apiKeys, events, usersIn })
  host.decorate(options.decoratorName, inProcess)

  const rateLimits = await createRateLimits(options)
  const identify = createAuthenticator({
    verifier, keyPrefix, staticKeys, authenticate: options.authenticate, onRefused: securityLog.refused
  })
  const settings = {
    useSemicolonDelimiter: routerSettings(host).useSemicolonDelimiter,
    limits: { reads: limit(), writes: limit() },
    pageSize,
    describe: describeMount(host, log, options.openapi, descriptionSettings(options, fields))
  }
  const { logLevel, logSerializers } = options
  const serializers = redactingSerializers(host.log, logSerializers)
  const registration = {
    prefix: options.prefix,
    ...(logLevel !== undefined && { logLevel }),
    logSerializers: serializers
  }

  const ownsNotFound = errorFormat !== 'fastify' && options.notFoundHandler
  const addOperations = (
    to: FastifyInstance,
    isFirst: boolean,
    operationsIn: (scope: FastifyInstance) => Operation[]
  ) => {
    // Fastify's tools show this name: its list of plugins, and spans of @fastify/otel.
    return to.register(async function fastifyUsersRoutes (scope) {
      guardLoggers(scope, serializers)
      routeEveryMethod(scope)
      if (options.deprecated !== undefined) announceDeprecation(scope, options.deprecated)
      isolate(scope, {
        identify,
        stillWorks: verifier.stillWorks,
        rateLimits,
        securityLog,
        errorFormat,
        // At the root, and where the host renders errors itself, unknown paths are the host's.
        ownsNotFound: isFirst && scope.prefix !== '' && ownsNotFound,
        onCaller ({ record }, request) {
          if (record === null) return
          verifier.touch(record, (err) => {
            request.log.warn({ keyId: record.id, err }, 'could not store the time of an API key’s last use')
          })
        }
      })
      routeOperations(scope, operationsIn(scope), settings)
    }, registration)
  }
  let path = ''
  await addOperations(host, true, (scope) => {
    path = scope.prefix
    const ownerOf = createKeyOwners(storage)
    const { limits } = settings
    const recheckFor = rechecks(identify, securityLog)
    const openExport = createExports({ users, presenter, fields: schema })
    const { maxRefused, eventStreams } = options
    const staticScopes = staticKeys.map((key) => (typeof key === 'string' ? undefined : key.scopes) ?? DEFAULT_SCOPES)
    return [
      ...userOperations(users, presenter, { pageSize, fields: schema, erases: eventLog !== null, ownerOf }),
      exportOperation(scope, openExport, { fields: schema, limits, recheck: recheckFor('users:read') }),
      importOperation(scope, openImport, { fields: schema, maxRefused, limits, recheck: recheckFor('users:write') }),
      ...storage.supports.batches
        ? [batchOperation(writeBatch, presenter, { ownerOf, rateLimits, securityLog })]
        : [],
      ...eventLog !== null
        ? eventOperations(eventLog, { pageSize, limits, eventStreams, recheck: recheckFor('events:read') })
        : [],
      ...options.apiKeyRoutes ? apiKeyOperations(apiKeys, { pageSize, staticScopes }) : []
    ]
  })
  const mount: Mount = {
    storage,
    log,
    pageSize,
    path,
    offer: () => ({
      apiKeys: options.apiKeyRoutes,
      events: eventLog !== null,
      webhooks: mount.hasWebhookRoutes,
      requireIfMatch: options.requireIfMatch,
      pageSize,
      fields: schema
    }),
    hasWebhookRoutes: false,
    hasCapabilities: false,
    eventLog,
    present,
    publishDisabled: (webhook, recorded) => publish('webhook.disabled', webhook, IN_PROCESS, recorded),
    onChange: mounts.onChange,
    async addOperations (to, operations) {
      await addOperations(to, false, () => operations(settings))
    }
  }
  keepMount(inProcess, mount)
}

/** The plugin: `await app.register(users, { prefix: '/v1', storage })`. */
export const users = fp(plugin, { name: 'fastify-users', fastify: '5.x || 6.x' })
export default users
