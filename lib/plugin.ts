import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { createAuthenticator, type Identify } from './api-keys/authenticator.ts'
import { scopesOf } from './api-keys/scopes.ts'
import { createUseCounter } from './api-keys/use-counter.ts'
import { createVerifier } from './api-keys/verifier.ts'
import { NO_FIELDS } from './fields/fields-schema.ts'
import { createHostFields } from './fields/host-fields.ts'
import { createAdmission } from './http/admission/admission.ts'
import { createGuards } from './http/admission/guard.ts'
import { continueWhenRead } from './http/admission/late-continue.ts'
import { addressOf } from './http/caller.ts'
import { createConcurrencyLimits } from './http/limits/concurrency-limit.ts'
import type { Quota } from './http/limits/rate-limit-options.ts'
import { createRateLimits, createServerLimits, type RateLimits } from './http/limits/rate-limits.ts'
import { createSecurityLog } from './http/logging/security-log.ts'
import { callerDecoration, requireFit, warnOfKeys, warnOfTrust } from './mount/host.ts'
import { keepMount } from './mount/mounts.ts'
import { checkOptions, type UsersOptions } from './mount/options.ts'
import { ownOperations } from './mount/own-operations.ts'
import { createRouting } from './mount/routing.ts'
import { createServices } from './mount/services.ts'
import { joinMounts } from './mount/shared-storage.ts'
import { openStorage } from './mount/storage-lifecycle.ts'
import { purgeRegularly } from './mount/trash-purging.ts'
import { SECURITY_SCHEME } from './openapi/hidden.ts'
import { repositoryOf } from './storage/repository.ts'
import { LIST_PARAMETERS } from './users/list-query.ts'
import { RESERVED_NAMES } from './users/rules.ts'

const plugin: FastifyPluginAsync<UsersOptions> = async (host, given) => {
  const options = checkOptions(given)
  const repository = repositoryOf(options.storage)
  const { server } = options.storage
  const { apiKeys, limits: { inFlight = server?.concurrency ?? Infinity } } = options
  const members = [...RESERVED_NAMES, ...options.tenants ? ['tenant'] : [], ...options.groups ? ['groups'] : []]
  const reserved = { members, parameters: LIST_PARAMETERS }
  const fields = options.fields === undefined ? null : await createHostFields(options.fields, reserved)
  requireFit(host, options)
  continueWhenRead(host)
  // A server may have many mounts: each line says which one it is about.
  const log = host.log.child({ prefix: `${host.prefix}${options.prefix}` })

  // Key look-ups have a limit of their own: strangers can exhaust that one only.
  const limit = createConcurrencyLimits({
    places: inFlight,
    isQueueing: () => (server?.connections?.().waiting ?? 0) > 0,
    onRefused (refused) {
      log.warn({ refused }, 'requests were refused, because more arrive than the storage can serve')
    }
  })
  const verifier = createVerifier({ repository, peppers: apiKeys.pepper, ttl: apiKeys.cache, limited: limit() })
  const uses = !apiKeys.countUses
    ? null
    : createUseCounter(repository, (err) => {
      log.warn({ err }, 'could not store how often API keys were used; retrying in a minute')
    })
  const membership = joinMounts(options)
  const { opened } = await openStorage(host, log, verifier, uses, repository, options, membership)

  const securityLog = createSecurityLog(log)
  host.addHook('onClose', async () => securityLog.close())
  const rateLimits = await createRateLimits(options.limits)
  const authentication = {
    verifier,
    keyPrefix: apiKeys.prefix,
    staticKeys: apiKeys.static,
    addressOf,
    tenants: options.tenants,
    onRefused: securityLog.refused
  }
  const identify = createAuthenticator({ ...authentication, authenticate: options.authenticate })
  const admissionBy = (by: Identify<FastifyRequest>, limitedBy: RateLimits | null = rateLimits) => createAdmission({
    identify: by,
    stillWorks: verifier.stillWorks,
    rateLimits: limitedBy,
    securityLog,
    onCaller ({ record }, request) {
      if (record === null) return
      uses?.count(record.id)
      verifier.touch(record, (err) => {
        request.log.warn({ keyId: record.id, err }, 'could not store the time of an API key’s last use')
      })
    }
  })
  const admission = admissionBy(identify)
  const guards = createGuards({
    admission,
    textAdmission: admissionBy(createAuthenticator({ ...authentication, authenticate: undefined })),
    errorFormat: options.errorFormat,
    log,
    callerName: options.callerName,
    scopes: scopesOf(options.tenants, apiKeys.scopes),
    tenants: options.tenants,
    securityScheme: SECURITY_SCHEME,
    decorate: callerDecoration(host)
  })
  const parts = { log, repository, fields, verifier, uses, securityLog, membership, opened, guards }
  const services = createServices(host, options, parts)
  if (options.trash !== null) purgeRegularly(host, log, services.users, options.trash)
  warnOfKeys(host, log, repository, options)
  warnOfTrust(host, log)
  host.decorate(options.decoratorName, services.inProcess)

  const limits = { reads: limit(), writes: limit() }
  const schema = fields?.schema ?? NO_FIELDS
  const { tenants } = services
  const { counters } = options.limits
  const admissionWith = async (requests: Quota | undefined, name: string) =>
    admissionBy(identify, await createServerLimits(rateLimits, { requests, counters, name }))
  const routing = await createRouting(host, options, { admission, admissionWith, log, fields: schema, limits })
  const path = await routing.add(host, (scope) =>
    ownOperations(scope, options, services, { ...admission, repository, fields: schema, limits, tenants }))
  keepMount({ log, repository, fields: schema, options, services, membership, routing, path })
}

/** The plugin: `await app.register(users, { prefix: '/v1', storage })`. */
export const users = fp(plugin, { name: 'fastify-users', fastify: '5.x || 6.x' })
export default users
