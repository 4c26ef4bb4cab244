import { UsersError, validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { isUserId } from '../core/ids.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { Storage } from '../storage/storage.ts'
import type { WriteOptions } from './write-options.ts'

// What every write of a user is checked for before it is made.

export const userNotFound = (): UsersError => new UsersError('user_not_found')

/** @throws UsersError `validation_failed` with the prior faults and those of the check, if there are any */
export function throwFaults<Checked extends object> (
  priorFaults: readonly Fault[],
  checked: Checked | { faults: Fault[] }
): asserts checked is Checked {
  const faults = 'faults' in checked ? [...priorFaults, ...checked.faults] : priorFaults
  if (faults.length > 0) throw validationFailed(faults)
}

/** Makes the function that refuses a write without `If-Match`, where the host asks for it and the user is there. */
export function preconditionCheck (storage: Storage, requireIfMatch: boolean) {
  /**
   * `isThere`: whether the write finds the user. Default: if it is in the lists.
   * @throws UsersError `precondition_required`, `user_not_found`
   */
  return async (
    id: string,
    { ifMatch }: WriteOptions,
    isThere = async (): Promise<boolean> => isUserId(id) && await storage.findUser(id) !== null
  ): Promise<void> => {
    if (!requireIfMatch || ifMatch !== undefined) return
    if (!await fromStorage(isThere)) throw userNotFound()
    throw new UsersError('precondition_required', {
      errors: [{ header: 'if-match', code: 'required', detail: 'is required' }]
    })
  }
}

export type RequirePrecondition = ReturnType<typeof preconditionCheck>
