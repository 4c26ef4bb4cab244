import { ApiError } from '../api/error.ts'
import type { Fault } from '../api/types.ts'

/** The faults of fields that an error names. */
export function faultsOf (error: unknown): readonly Fault[] {
  return error instanceof ApiError ? error.faults.filter(({ pointer }) => pointer !== undefined) : []
}
