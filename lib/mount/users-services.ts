import type { Publish } from '../events/emitter.ts'
import type { HostFields } from '../fields/host-fields.ts'
import type { MakeEvent } from '../storage/recorded-events.ts'
import type { Repository } from '../storage/repository.ts'
import { copyOfUser } from '../storage/user-members.ts'
import { createImports, type OpenImport } from '../transfer/import.ts'
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

/** Makes the function that makes the services of users: of the mount, or in a transaction. */
export function usersServices (fields: HostFields | null, presenter: Presenter, options: CheckedOptions) {
  const { pageSize, requireIfMatch, idempotencyTtl, trash, tenants } = options
  return (repository: Repository, publish: Publish, makeEvent: MakeEvent): UsersServices => {
    const publishUser: PublishUser = (type, user, context, recorded) => {
      // A copy: the caller may change its result before the commit.
      publish(type, presenter.user(copyOfUser(user)), context, recorded)
    }
    const parts = { repository, fields, makeEvent, publish: publishUser }
    return {
      users: createUsersService({ ...parts, pageSize, requireIfMatch, idempotencyTtl, trash, tenants }),
      openImport: createImports({ ...parts, hasTrash: trash !== null, tenants: tenants ? 'required' : 'none' }),
      writeBatch: createBatches({ ...parts, requireIfMatch, idempotencyTtl, trash, tenants })
    }
  }
}
