import { type Fault, reasonFor } from '../core/fault.ts'
import { checkName } from '../core/text.ts'
import type { UserChanges, UserStatus } from '../storage/storage.ts'

/** Every status that a user can have. The first one is that of a new user. */
export const STATUSES = ['active', 'suspended'] as const satisfies readonly UserStatus[]

/** True for the name of a status. */
export function isStatus (value: unknown): value is UserStatus {
  return STATUSES.some((status) => status === value)
}

/** Adds the status in a body to the changes, and its faults to the others. An absent member changes nothing. */
export function checkStatus (body: Readonly<Record<string, unknown>>, changes: UserChanges, faults: Fault[]): void {
  const { status, statusReason } = body
  if (isStatus(status)) changes.status = status
  else if (status !== undefined) {
    faults.push({ pointer: '/status', ...reasonFor('enum', { allowedValues: STATUSES }) })
  }
  if (statusReason === null) changes.statusReason = null
  else if (typeof statusReason === 'string') {
    const checked = checkName(statusReason)
    if ('value' in checked) changes.statusReason = checked.value
    else faults.push({ pointer: '/statusReason', ...checked })
  } else if (statusReason !== undefined) {
    faults.push({ pointer: '/statusReason', ...reasonFor('type', { type: ['string', 'null'] }) })
  }
}
