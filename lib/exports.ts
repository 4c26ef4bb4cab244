declare module 'fastify' {
  interface FastifyContextConfig {
    /** The `operationId` of a route of fastify-users, such as `createUser`. */
    fastifyUsersOperation?: string
  }
}

export { default, users } from './plugin.ts'
export type { StaticKey } from './api-keys/authenticator.ts'
export type { HostPrincipal } from './api-keys/host-principal.ts'
export { isApiKey } from './api-keys/key-text.ts'
export type { KeyListQuery } from './api-keys/key-list.ts'
export type { ApiKey } from './api-keys/record.ts'
export type { ApiKeyInput, RotateOptions } from './api-keys/rules.ts'
export type { HostScopes, Scope } from './api-keys/scopes.ts'
export type { NewApiKey, RevokedApiKey } from './api-keys/service.ts'
export { type ErrorCode, errorTable } from './core/error-table.ts'
export { UsersError } from './core/errors.ts'
export type { Fault } from './core/fault.ts'
export type { ListMeta, PagingQuery } from './core/paging.ts'
export type { DayUses, Json, JsonObject, Storage } from './storage/storage.ts'
export type { UnassignedUser } from './storage/tenant-loop.ts'
export type { TenantAssignment } from './storage/tenant-assignment.ts'
export type {
  CompactionTrace, DeliveryTrace, KeyCheckTrace, OperationTrace, StorageTrace, WaitTrace
} from './storage/tracing.ts'
export type { Listener, Listening } from './events/emitter.ts'
export type { Events, FollowOptions } from './events/in-process.ts'
export type { FeedQuery } from './events/rules.ts'
export type { EventData, EventFilter, EventType, LoggedEvent, UsersEvent } from './events/types.ts'
export type { FieldsJsonSchema, ZodFieldsSchema } from './fields/fields-schema.ts'
export type { PartProblem, Problem } from './core/problem.ts'
export type { Deprecated } from './http/responses/deprecation.ts'
export type { ErrorFormat } from './http/responses/problem.ts'
export type { Guard, RequestCaller, VerifyOptions } from './http/admission/guard.ts'
export type { CounterOptions, CounterStore, Quota } from './http/limits/rate-limit-options.ts'
export type { ActingAs, ActingOptions } from './mount/acting.ts'
export type {
  IterateQuery, TenantUsers, TransactionLike, UserBatchOptions, UserBatchResult, UserBatchResults,
  UserMethods, UserOperation
} from './mount/in-process.ts'
export type { ApiKeyMethods } from './mount/in-process-keys.ts'
export type { IterateOptions, ReadOptions } from './mount/read-options.ts'
export type { TenantMethods, Users } from './mount/all-users.ts'
export type { AssignOptions } from './mount/tenant-assignment.ts'
export type { ApiKeysOptions, FieldsOptions, LimitsOptions } from './mount/option-groups.ts'
export type { Authenticate, UsersOptions } from './mount/options.ts'
export type { ImportFormat } from './transfer/file-rows.ts'
export type { ImportSettings } from './transfer/import-settings.ts'
export type { ImportOptions, ImportSource } from './transfer/import-source.ts'
export type { ImportSummary } from './transfer/import.ts'
export type { ImportResult } from './transfer/import-run.ts'
export type { OnConflict } from './transfer/import-judge.ts'
export type { RestoreOptions } from './users/deletions.ts'
export type { CreateOptions } from './users/idempotency.ts'
export type { ListQuery } from './users/list-query.ts'
export type { RevertOptions } from './users/reversal.ts'
export type { Subject, SubjectDelivery } from './events/subject.ts'
export type * from './users/types.ts'
export type { DeleteOptions, Versions, WriteOptions } from './users/write-options.ts'
