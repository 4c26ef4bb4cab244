import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { scopesOf } from '../api-keys/scopes.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { type Admission, isolate } from '../http/admission/admission.ts'
import { giveTokens } from '../http/consistency.ts'
import { routeEveryMethod } from '../http/fastify-internals.ts'
import type { ErrorFormat } from '../http/responses/problem.ts'
import type { Quota } from '../http/limits/rate-limit-options.ts'
import type { ConcurrencyLimits } from '../http/limits/concurrency-limit.ts'
import { guardLoggers } from '../http/logging/guarded-logger.ts'
import { redactingSerializers } from '../http/logging/log-serializers.ts'
import { announceDeprecation } from '../http/responses/deprecation.ts'
import { describeMount } from '../openapi/describe-mount.ts'
import type { DescriptionSettings } from '../openapi/operation-description.ts'
import type { Operation, OperationSettings } from '../operations/operation.ts'
import { routeOperations } from '../operations/route.ts'
import { proxyWarning, routerSettings, withOwnPrefix } from './host.ts'
import type { CheckedOptions } from './options.ts'

export interface RoutingParts {
  log: FastifyBaseLogger
  fields: FieldsSchema
  limits: ConcurrencyLimits
  admission: Admission
  /** Makes the admission of a server that has its own limit of requests, counted under a name. */
  admissionWith: (requests: Quota | undefined, name: string) => Promise<Admission>
}

/** The routes of a mount. */
export interface Routing {
  /** Adds operations under the prefix of the mount. Returns the path of the scope that has them, such as `/v1`. */
  add (
    to: FastifyInstance,
    operationsIn: (scope: FastifyInstance, settings: OperationSettings) => Operation[]
  ): Promise<string>
  /** Adds a server with a prefix of its own, beside the routes of the mount. */
  addServer (to: FastifyInstance, server: OwnServer): Promise<void>
  /** True if an operation has been added. */
  has (operationId: string): boolean
  /** The operations that were added under the prefix of the mount. */
  operations (): Operation[]
  /** What descriptions of them depend on. */
  description: DescriptionSettings
}

/** Operations under a prefix of their own, with limits and errors of their own. */
export interface OwnServer {
  prefix: string
  requests: Quota | undefined
  errorFormat: ErrorFormat
  errorType: string
  operations: (admission: Admission) => Operation[]
}

function descriptionSettings (options: CheckedOptions, fields: FieldsSchema): DescriptionSettings {
  const { errorFormat, decoratorName, deprecated, pageSize, limits, tenants, trash, storage } = options
  return {
    problemDetails: errorFormat === 'problem',
    decoratorName,
    deprecated: deprecated === undefined
      ? null
      : { sunset: deprecated.sunset !== undefined, link: deprecated.link !== undefined },
    pageSize,
    scopes: scopesOf(tenants, options.apiKeys.scopes),
    fields,
    tenants,
    trash: trash !== null,
    standbys: storage.server?.standbys !== undefined,
    limited: {
      requests: limits.requests !== undefined,
      failures: limits.failures !== undefined,
      deletions: limits.deletions !== undefined
    }
  }
}

/** Makes the function that adds operations to a mount, each time with the same authentication, limits and errors. */
export async function createRouting (
  host: FastifyInstance,
  options: CheckedOptions,
  parts: RoutingParts
): Promise<Routing> {
  const { log, fields, limits, admission, admissionWith } = parts
  const { prefix, pageSize, errorFormat, deprecated, openapi, logLevel, storage: { server } } = options
  const settings: OperationSettings = {
    tenants: options.tenants,
    useSemicolonDelimiter: routerSettings(host).useSemicolonDelimiter,
    limits,
    pageSize,
    describe: await describeMount(host, log, openapi, descriptionSettings(options, fields))
  }
  const logSerializers = redactingSerializers(host.log, options.logSerializers)
  const registration = { prefix, ...(logLevel !== undefined && { logLevel }), logSerializers }
  const ownsNotFound = errorFormat !== 'fastify' && options.notFoundHandler
  const added = new Map<string, Operation>()
  const warnOfProxies = proxyWarning(host, log)

  return {
    async add (to, operationsIn) {
      const isFirst = added.size === 0
      let path = ''
      // Fastify's tools show this name: its list of plugins, and spans of @fastify/otel.
      await withOwnPrefix('fastify-users', to.register(async function fastifyUsersRoutes (scope) {
        path = scope.prefix
        guardLoggers(scope, logSerializers)
        routeEveryMethod(scope)
        warnOfProxies(scope)
        if (deprecated !== undefined) announceDeprecation(scope, deprecated)
        // At the root, and where the host renders errors itself, unknown paths are the host's.
        isolate(scope, admission, { errorFormat, ownsNotFound: isFirst && scope.prefix !== '' && ownsNotFound })
        if (server?.standbys !== undefined) giveTokens(scope, server.standbys)
        const operations = operationsIn(scope, settings)
        for (const operation of operations) added.set(operation.operationId, operation)
        routeOperations(scope, operations, settings)
      }, registration))
      return path
    },
    async addServer (to, { prefix: own, requests, errorFormat, errorType, operations }) {
      const admitted = await admissionWith(requests, own)
      const usual = descriptionSettings(options, fields)
      const limited = { ...usual.limited, requests: requests !== undefined }
      const description = { ...usual, limited, problemDetails: false, errorType }
      const described = { ...settings, describe: await describeMount(host, log, openapi, description) }
      await withOwnPrefix('fastify-users', to.register(async function fastifyUsersServer (scope) {
        guardLoggers(scope, logSerializers)
        routeEveryMethod(scope)
        warnOfProxies(scope)
        isolate(scope, admitted, { errorFormat, errorType, ownsNotFound: true })
        const all = operations(admitted)
        routeOperations(scope, all, described)
      }, { ...registration, prefix: own }))
    },
    has: (operationId) => added.has(operationId),
    operations: () => [...added.values()],
    description: descriptionSettings(options, fields)
  }
}
