import { cloneFields } from '../core/json.ts'
import type { Publish } from '../events/emitter.ts'
import type { HostFields } from '../fields/host-fields.ts'
import type { MakeEvent } from '../storage/recorded-events.ts'
import { withFieldWords } from '../storage/field-words.ts'
import type { Storage } from '../storage/storage.ts'
import { createImports, type OpenImport } from '../transfer/import.ts'
import type { RowTenants } from '../transfer/row-tenants.ts'
import { createBatches, type WriteBatch } from '../users/batch.ts'
import type { PublishUser } from '../users/outcomes.ts'
import type { Presenter } from '../users/presenter.ts'
import { createUsersService, type UsersService } from '../users/service.ts'
import type { CheckedOptions } from './options.ts'

/** What is done with users of one storage. */
export interface UsersServices {
  users: UsersService
  openImport: OpenImport
  writeBatch: WriteBatch
}

function rowTenants (tenants: boolean, tenant: string | undefined): RowTenants {
  if (tenant !== undefined) return { only: tenant }
  return tenants ? 'required' : 'none'
}

/**
 * Makes the function that makes the services of users on a storage: the mount's own, or one in a transaction. `tenant`:
 * the one that the storage is bound to.
 */
export function usersServices (fields: HostFields | null, presenter: Presenter, options: CheckedOptions) {
  const { pageSize, requireIfMatch, idempotencyTtl, trash } = options
  return (storage: Storage, publish: Publish, makeEvent: MakeEvent, tenant?: string): UsersServices => {
    const needsTenant = options.tenants && tenant === undefined
    const hasTenant = options.tenants
    const publishUser: PublishUser = (type, user, context, recorded) => {
      // A copy: the caller may change its result before the commit.
      publish(type, presenter.user({ ...user, fields: cloneFields(user.fields) }), context, recorded)
    }
    const searched = withFieldWords(storage, fields?.searchable ?? null)
    const parts = { storage: searched, fields, makeEvent, publish: publishUser }
    return {
      users: createUsersService({
        ...parts, pageSize, requireIfMatch, idempotencyTtl, trash, tenant, needsTenant, hasTenant
      }),
      openImport: createImports({ ...parts, hasTrash: trash !== null, tenants: rowTenants(options.tenants, tenant) }),
      writeBatch: createBatches({ ...parts, requireIfMatch, idempotencyTtl, trash, needsTenant, hasTenant })
    }
  }
}
