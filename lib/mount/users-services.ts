import { cloneFields } from '../core/json.ts'
import type { Publish } from '../events/emitter.ts'
import type { HostFields } from '../fields/host-fields.ts'
import type { MakeEvent } from '../storage/recorded-events.ts'
import type { Repository } from '../storage/repository.ts'
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
 * Makes the function that makes the services of users: of the mount, or in a transaction. `tenant`: the one that their
 * callers are bound to.
 */
export function usersServices (fields: HostFields | null, presenter: Presenter, options: CheckedOptions) {
  const { pageSize, requireIfMatch, idempotencyTtl, trash } = options
  return (repository: Repository, publish: Publish, makeEvent: MakeEvent, tenant?: string): UsersServices => {
    const needsTenant = options.tenants && tenant === undefined
    const hasTenant = options.tenants
    const publishUser: PublishUser = (type, user, context, recorded) => {
      // A copy: the caller may change its result before the commit.
      publish(type, presenter.user({ ...user, fields: cloneFields(user.fields) }), context, recorded)
    }
    const scope = { tenant, wordsOf: fields?.searchable?.wordsOf }
    const parts = { repository, scope, fields, makeEvent, publish: publishUser }
    return {
      users: createUsersService({
        ...parts, pageSize, requireIfMatch, idempotencyTtl, trash, needsTenant, hasTenant
      }),
      openImport: createImports({ ...parts, hasTrash: trash !== null, tenants: rowTenants(options.tenants, tenant) }),
      writeBatch: createBatches({ ...parts, requireIfMatch, idempotencyTtl, trash, needsTenant, hasTenant })
    }
  }
}
