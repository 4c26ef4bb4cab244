import type { Capabilities } from '../lib/admin/capabilities.ts'
import type { RevokeOptions } from '../lib/api-keys/rules.ts'
import type { Events } from '../lib/events/in-process.ts'
import type { GroupMethods } from '../lib/groups/in-process.ts'
import type { TenantMethods } from '../lib/mount/all-users.ts'
import type { TenantUsers } from '../lib/mount/in-process.ts'
import type { UserBatchOptions, UserOperation } from '../lib/mount/in-process-batch.ts'
import type { ApiKeyMethods } from '../lib/mount/in-process-keys.ts'
import type { UserRecord } from '../lib/storage/storage.ts'
import type { ImportOptions, ImportSource } from '../lib/transfer/import-source.ts'
import type { ImportSummary } from '../lib/transfer/import.ts'
import type { SelectionQuery } from '../lib/users/list-query.ts'
import type { User, UserInput, UserPatch } from '../lib/users/types.ts'
import type { WriteOptions } from '../lib/users/write-options.ts'
import type { TenantWebhooks } from '../lib/webhooks/in-process.ts'
import type { ClientError } from './error.ts'
import type { OperationId } from './operations.ts'
import type { CallOptions, Request } from './transport.ts'

/** The host’s own fields, from `openapi.json` by a generator: `FieldsOf<components['schemas']['users.User']>`. */
export type FieldsOf<Generated> = Omit<Generated, keyof UserRecord>

/** A change of a user as it is; null: none. */
export type Change<Fields> = (user: User<Fields>) => UserPatch<Fields> | null | Promise<UserPatch<Fields> | null>

interface ClientGroups<Fields> extends GroupMethods<Fields> {
  /** Both change nothing for who is a member already, or none. */
  addMember (id: string, user: string): Promise<void>
  removeMember (id: string, user: string): Promise<void>
}

interface ClientApiKeys extends Pick<ApiKeyMethods, 'create' | 'get' | 'list' | 'rotate' | 'uses'> {
  /** `force`: also the last key that can manage keys. */
  revoke (id: string, options?: RevokeOptions & { force?: boolean }): Promise<void>
  /** Revokes the key of this client. */
  revokeCurrent (options?: RevokeOptions & { force?: boolean }): Promise<void>
}

type Same = 'create' | 'get' | 'list' | 'delete' | 'restore' | 'listDeleted' | 'iterate' | 'revert' | 'subject'

/**
 * The API over HTTP. Methods have the signatures of `app.users`, whose documentation says what each does and which
 * codes it has; every method throws {@link ClientError}. A write tells a key that may not read little but the id.
 */
export interface UsersClient<Fields = object> extends Pick<TenantUsers<Fields>, Same> {
  /** A function is asked again where somebody else has changed the user meanwhile. */
  update (id: string, change: UserPatch<Fields> | Change<Fields>, options?: WriteOptions): Promise<User<Fields>>
  /** Replaces name, address, status and all own fields. */
  replace (id: string, input: UserInput<Fields>, options?: WriteOptions): Promise<User<Fields>>
  batch (operations: ReadonlyArray<UserOperation<Fields>>, options?: UserBatchOptions): Promise<{
    data: Array<{ status: number, user: User<Fields> | null, error: ClientError | null }>
    replayed: boolean
  }>
  /** Imports users, or with `format` the bytes of a file. */
  import (
    source: ImportSource | Blob | ReadableStream<Uint8Array>, options?: Omit<ImportOptions, 'failFast'>
  ): Promise<ImportSummary>
  /** The bytes of an export, which is whole if they end without an error. */
  export (
    query?: SelectionQuery<Fields> & { format?: 'ndjson' | 'csv', columns?: string }
  ): Promise<ReadableStream<Uint8Array>>
  readonly groups: ClientGroups<Fields>
  readonly apiKeys: ClientApiKeys
  readonly events: Pick<Events<Fields>, 'list' | 'after' | 'ofUser'>
  readonly webhooks: TenantWebhooks
  /** `remove` resolves when nothing of the tenant is left. */
  readonly tenants: Pick<TenantMethods, 'list' | 'get' | 'remove'>
  /** What the key can do, and what the API offers. */
  capabilities (): Promise<Capabilities>
  /** The same, narrowed to a tenant. */
  tenant (name: string): UsersClient<Fields>
  /** The same with a signal, or another limit of time: `client.with({ signal }).get(id)`. */
  with (options: CallOptions): UsersClient<Fields>
  /** Sends a request of an operation, whose path has `params`. */
  request (operation: OperationId, request?: Request & { params?: Record<string, string> }): Promise<Response>
}
