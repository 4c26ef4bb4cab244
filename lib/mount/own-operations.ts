import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Identify } from '../api-keys/authenticator.ts'
import type { StaticKey } from '../api-keys/authenticator.ts'
import { createKeyOwners } from '../api-keys/key-owner.ts'
import { DEFAULT_SCOPES } from '../api-keys/scopes.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { rechecks } from '../http/admission/authentication.ts'
import { breakables } from '../http/break-off.ts'
import { readsOf } from '../http/consistency.ts'
import { type ConcurrencyLimits, createConcurrencyLimits } from '../http/limits/concurrency-limit.ts'
import type { RateLimits } from '../http/limits/rate-limits.ts'
import type { SecurityLog } from '../http/logging/security-log.ts'
import { createShares, createStreamPlaces } from '../http/streams/stream-places.ts'
import { apiKeyOperations } from '../operations/api-keys.ts'
import { batchOperation } from '../operations/batch.ts'
import { eventOperations } from '../operations/events.ts'
import { exportOperation } from '../operations/export.ts'
import { groupFilterCheck, groupOperations } from '../operations/groups.ts'
import { importOperation } from '../operations/import.ts'
import type { Operation } from '../operations/operation.ts'
import { subjectOperation } from '../operations/subject.ts'
import { tenantOperations } from '../operations/tenants.ts'
import { userOperations } from '../operations/users.ts'
import type { Repository } from '../storage/repository.ts'
import { createExports } from '../transfer/export.ts'
import { createClaims } from '../users/claims.ts'
import type { CheckedOptions } from './options.ts'
import type { MountServices } from './services.ts'
import type { Tenants } from './tenants.ts'

export interface OperationParts {
  repository: Repository
  fields: FieldsSchema
  limits: ConcurrencyLimits
  identify: Identify<FastifyRequest>
  rateLimits: RateLimits | null
  securityLog: SecurityLog
  /** Null without the option `tenants`. */
  tenants: Tenants | null
}

// An SQL store reads two exports at a time, so no caller may have both. The others only bound what one caller does.
const EXPORTS_OF_ONE = 1
const SUBJECTS_OF_ONE = 5
const IMPORTS_OF_ONE = 20
// A page of tenants counts all of them, which takes seconds for 100,000: more would keep the users of tenants waiting.
const TENANT_LISTS_TOGETHER = 2

/** True for the static keys that are bound to this tenant, or to none. */
const isOf = (tenant: string | undefined) => (key: StaticKey): boolean =>
  (typeof key === 'string' ? undefined : key.tenant ?? undefined) === tenant

/** Makes the operations that a mount has without plugins on top of it, as its options allow. */
export function ownOperations (
  scope: FastifyInstance,
  options: CheckedOptions,
  services: MountServices,
  parts: OperationParts
): Operation[] {
  const { repository, fields, limits, identify, rateLimits, securityLog, tenants } = parts
  const { pageSize, apiKeys: { static: staticKeys, routes }, limits: { refusedLines, streams, requests } } = options
  const ownerOf = createKeyOwners(repository)
  const recheckFor = rechecks(identify, securityLog)
  const begin = breakables(scope)
  const takePlace = createStreamPlaces(streams)
  const holdExport = createShares(EXPORTS_OF_ONE, 'export running')
  const holdSubject = createShares(SUBJECTS_OF_ONE, 'exports of all data about a user running')
  const holdImport = createShares(IMPORTS_OF_ONE, 'imports running')
  const limitTenantLists = createConcurrencyLimits({
    places: TENANT_LISTS_TOGETHER,
    onRefused (refused) {
      scope.log.warn({ refused }, `lists of tenants were refused: ${TENANT_LISTS_TOGETHER} are read at a time`)
    }
  })()
  const scopesOf = (key: StaticKey) => (typeof key === 'string' ? undefined : key.scopes) ?? DEFAULT_SCOPES
  const { users, presenter, subject, openImport, writeBatch, eventLog, apiKeys, groups } = services
  const checkFilter = groupFilterCheck(securityLog)
  return [
    ...userOperations(users, presenter, {
      pageSize,
      fields,
      erases: eventLog !== null,
      reverts: eventLog !== null,
      groups: groups !== null,
      checkFilter,
      restores: options.trash !== null,
      readFor: readsOf(repository, limits.reads),
      ownerOf
    }),
    subjectOperation(begin, subject, {
      limits,
      hold: holdSubject,
      securityLog,
      hasGroups: groups !== null,
      rechecks: [
        recheckFor('users:read'), recheckFor('events:read'), ...groups === null ? [] : [recheckFor('groups:read')]
      ]
    }),
    exportOperation(begin, createExports({ users, presenter, fields, ofTenants: tenants !== null }), {
      fields,
      ofTenants: tenants !== null,
      groups: groups !== null,
      checkFilter,
      hold: holdExport,
      readFor: readsOf(repository, limits.reads),
      recheck: recheckFor('users:read')
    }),
    importOperation(begin, openImport, {
      fields,
      maxRefused: refusedLines,
      ofTenants: tenants !== null,
      hasGroups: groups !== null,
      limits,
      hold: holdImport,
      recheck: recheckFor('users:write')
    }),
    batchOperation(writeBatch, presenter, { ownerOf, rateLimits, securityLog }),
    ...eventLog !== null
      ? eventOperations(eventLog, { pageSize, limits, takePlace, recheck: recheckFor('events:read') })
      : [],
    ...routes
      ? apiKeyOperations(apiKeys, {
        pageSize,
        // Static keys of other tenants can't manage the keys of this one.
        staticScopesOf: (tenant) => staticKeys.filter(isOf(tenant)).map(scopesOf),
        usualLimit: requests,
        ownerOf,
        claims: createClaims(repository, options.idempotencyTtl)
      })
      : [],
    ...groups !== null
      ? groupOperations(groups, users, presenter, {
        pageSize,
        fields,
        readFor: readsOf(repository, limits.reads),
        ownerOf,
        claims: createClaims(repository, options.idempotencyTtl),
        securityLog
      })
      : [],
    ...tenants !== null ? tenantOperations(tenants, pageSize, limitTenantLists) : []
  ]
}
