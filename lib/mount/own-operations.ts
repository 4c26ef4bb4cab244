import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Identify } from '../api-keys/authenticator.ts'
import { createKeyOwners } from '../api-keys/key-owner.ts'
import { DEFAULT_SCOPES } from '../api-keys/scopes.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { rechecks } from '../http/admission/authentication.ts'
import type { ConcurrencyLimits } from '../http/limits/concurrency-limit.ts'
import type { RateLimits } from '../http/limits/rate-limits.ts'
import type { SecurityLog } from '../http/logging/security-log.ts'
import { apiKeyOperations } from '../operations/api-keys.ts'
import { batchOperation } from '../operations/batch.ts'
import { eventOperations } from '../operations/events.ts'
import { exportOperation } from '../operations/export.ts'
import { importOperation } from '../operations/import.ts'
import type { Operation } from '../operations/operation.ts'
import { userOperations } from '../operations/users.ts'
import type { Storage } from '../storage/storage.ts'
import { createExports } from '../transfer/export.ts'
import type { CheckedOptions } from './options.ts'
import type { Services } from './services.ts'

export interface OperationParts {
  storage: Storage
  services: Services
  fields: FieldsSchema
  limits: ConcurrencyLimits
  identify: Identify<FastifyRequest>
  rateLimits: RateLimits | null
  securityLog: SecurityLog
}

/** The operations that a mount has without plugins on top of it, as its options and its storage allow. */
export function ownOperations (scope: FastifyInstance, options: CheckedOptions, parts: OperationParts): Operation[] {
  const { storage, services, fields, limits, identify, rateLimits, securityLog } = parts
  const { users, presenter, openImport, writeBatch, eventLog, apiKeys } = services
  const { pageSize, apiKeys: { static: staticKeys, routes }, limits: { refusedLines, streams } } = options
  const ownerOf = createKeyOwners(storage)
  const recheckFor = rechecks(identify, securityLog)
  const openExport = createExports({ users, presenter, fields })
  const staticScopes = staticKeys.map((key) => (typeof key === 'string' ? undefined : key.scopes) ?? DEFAULT_SCOPES)
  return [
    ...userOperations(users, presenter, { pageSize, fields, erases: eventLog !== null, ownerOf }),
    exportOperation(scope, openExport, { fields, limits, recheck: recheckFor('users:read') }),
    importOperation(scope, openImport, {
      fields, maxRefused: refusedLines, limits, recheck: recheckFor('users:write')
    }),
    ...storage.singleWrites === true
      ? []
      : [batchOperation(writeBatch, presenter, { ownerOf, rateLimits, securityLog })],
    ...eventLog !== null
      ? eventOperations(eventLog, { pageSize, limits, eventStreams: streams, recheck: recheckFor('events:read') })
      : [],
    ...routes ? apiKeyOperations(apiKeys, { pageSize, staticScopes }) : []
  ]
}
