import { UsersError } from '../core/errors.ts'
import { isStorageError, StorageError } from './storage-error.ts'

/**
 * Turns whatever a storage (or a bug) threw into the error that callers and clients get. A refused write is an
 * outcome, not an error.
 */
export function toUsersError (error: unknown): UsersError {
  if (error instanceof UsersError) return error
  if (!isStorageError(error)) return new UsersError('internal', { cause: error })
  switch (error.code) {
    case 'idempotency_key_reused':
      return new UsersError(error.code)
    case 'idempotency_in_progress':
      return new UsersError(error.code, { headers: { 'retry-after': '1' } })
    case 'unavailable':
      return new UsersError('storage_unavailable', { headers: { 'retry-after': '5' }, cause: error })
    default:
      return new UsersError('internal', { cause: error })
  }
}

/** An unexpected error of a storage, reduced to its class, code and stack: drivers put SQL and values in messages. */
function withoutMessage (error: unknown): StorageError {
  const { name, code, stack } = Object(error)
  const message = `the storage threw an unexpected ${typeof name === 'string' ? name : typeof error}`
  const bare = new StorageError('fault', message, { driverCode: typeof code === 'string' ? code : undefined })
  const frames = String(stack).split('\n').filter((line) => /^ {4}at /.test(line))
  bare.stack = [`${bare.name}: ${bare.message}`, ...frames].join('\n')
  return bare
}

function rethrow (error: unknown): never {
  throw toUsersError(isStorageError(error) || error instanceof UsersError ? error : withoutMessage(error))
}

/** Calls a storage and turns what it throws into a UsersError. */
export function fromStorage<Value> (call: () => Promise<Value>): Promise<Value> {
  try {
    return call().catch(rethrow)
  } catch (error) {
    return Promise.reject(error).catch(rethrow)
  }
}
