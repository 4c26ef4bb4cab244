import type { Publish } from '../events/emitter.ts'
import { createGroupsService, type GroupsService, type PublishGroup, publishMembers } from '../groups/service.ts'
import type { HostFields } from '../fields/host-fields.ts'
import type { MakeEvent } from '../storage/recorded-events.ts'
import type { Repository } from '../storage/repository.ts'
import { copyOfUser } from '../storage/user-members.ts'
import type { createImports, OpenImport } from '../transfer/import.ts'
import { createBatches, type WriteBatch } from '../users/batch.ts'
import { type PublishGroups, type PublishUser, scopes } from '../users/outcomes.ts'
import type { Presenter } from '../users/presenter.ts'
import { createUsersService, type UsersService } from '../users/service.ts'
import type { CheckedOptions } from './options.ts'

/** What is done with users of one storage. */
export interface UsersServices {
  users: UsersService
  openImport: OpenImport
  writeBatch: WriteBatch
  /** Null without the option `groups`. */
  groups: GroupsService | null
}

/** Makes the function that makes the services of users: of the mount, or in a transaction. */
export function usersServices (fields: HostFields | null, presenter: Presenter, options: CheckedOptions) {
  const { pageSize, requireIfMatch, idempotencyTtl, trash, tenants, groups } = options
  return (repository: Repository, publish: Publish, makeEvent: MakeEvent): UsersServices => {
    const publishUser: PublishUser = (type, user, context, recorded) => {
      // A copy: the caller may change its result before the commit.
      publish(type, presenter.user(copyOfUser(user)), context, recorded)
    }
    const publishGroup: PublishGroup = (told, context, recorded) => told.type === 'group.members_changed'
      ? publish(told.type, told.data, context, recorded)
      : publish(told.type, told.data, context, recorded)
    const publishGroups: PublishGroups | null = !groups
      ? null
      : (changes, context) => changes.forEach((change) => publishMembers(publishGroup, change, context))
    const scopeOf = scopes(fields?.searchable?.wordsOf, publishGroups)
    let open: ReturnType<typeof createImports> | undefined
    const parts = { repository, fields, makeEvent, publish: publishUser, scopeOf }
    return {
      users: createUsersService({
        ...parts, hasGroups: groups, pageSize, requireIfMatch, idempotencyTtl, trash, tenants
      }),
      // Loaded when the first one is opened: its code is a tenth of what a mount needs otherwise.
      async openImport (...call) {
        open ??= (await import('../transfer/import.ts')).createImports({
          ...parts, hasTrash: trash !== null, hasGroups: groups, tenants: tenants ? 'required' : 'none'
        })
        return open(...call)
      },
      writeBatch: createBatches({ ...parts, requireIfMatch, idempotencyTtl, trash, tenants }),
      groups: groups
        ? createGroupsService({ repository, pageSize, requireIfMatch, tenants, publish: publishGroup, makeEvent })
        : null
    }
  }
}
