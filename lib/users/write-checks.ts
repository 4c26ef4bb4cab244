import { UsersError, validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import type { Repository } from '../storage/repository.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import { belongsTo } from '../storage/storage-rules.ts'
import type { UserRecord } from '../storage/storage.ts'
import type { WriteOptions } from './write-options.ts'

// What every write of a user is checked for before it is made.

export const userNotFound = (): UsersError => new UsersError('user_not_found')

/** The user with this id; null if the user does not exist or belongs to another tenant. */
export async function findIn (
  { users }: Pick<Repository, 'users'>, id: string, tenant: string | undefined
): Promise<UserRecord | null> {
  const user = await users.find(id)
  return user !== null && belongsTo(user, tenant) ? user : null
}

/** @throws UsersError `validation_failed` with the prior faults and those of the check, if there are any */
export function throwFaults<Checked extends object> (
  priorFaults: readonly Fault[],
  checked: Checked | { faults: Fault[] }
): asserts checked is Checked {
  const faults = 'faults' in checked ? [...priorFaults, ...checked.faults] : priorFaults
  if (faults.length > 0) throw validationFailed(faults)
}

/**
 * Makes the function that refuses a write without `If-Match`, where the host asks for it and the user is there.
 * `isUser`: whether a user is in the lists.
 */
export function preconditionCheck (
  isUser: (id: string, tenant: string | undefined) => Promise<boolean>, requireIfMatch: boolean
) {
  /**
   * `isThere`: whether the write finds the user. Default: if it is in the lists.
   * @throws UsersError `precondition_required`, `user_not_found`
   */
  return async (
    id: string,
    { ifMatch }: WriteOptions,
    tenant: string | undefined,
    isThere = (): Promise<boolean> => isUser(id, tenant)
  ): Promise<void> => {
    if (!requireIfMatch || ifMatch !== undefined) return
    if (!await fromStorage(isThere)) throw userNotFound()
    throw new UsersError('precondition_required', {
      errors: [{ header: 'if-match', code: 'required', detail: 'is required' }]
    })
  }
}

export type RequirePrecondition = ReturnType<typeof preconditionCheck>
