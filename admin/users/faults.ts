import { ClientError } from '../../client/error.ts'
import type { Fault } from '../api/types.ts'

/** The faults of fields that an error names. */
export function faultsOf (error: unknown): readonly Fault[] {
  return error instanceof ClientError ? error.errors.filter(({ pointer }) => pointer !== undefined) : []
}
