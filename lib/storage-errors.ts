import { isStorageError, StorageError, UsersError } from './errors.ts'

const RETRY_AFTER_SECONDS = '5'

/** Turns whatever a storage (or a bug) threw into the error that callers and clients meet. */
export function toUsersError (error: unknown): UsersError {
  if (error instanceof UsersError) return error
  if (!isStorageError(error)) return new UsersError('internal', { cause: error })
  switch (error.code) {
    case 'email_taken':
      return new UsersError('email_taken', { errors: [{ pointer: '/email', code: 'taken', detail: 'must be unique' }] })
    case 'version_mismatch':
      return new UsersError('precondition_failed')
    case 'idempotency_key_reused':
    case 'api_key_inactive':
    case 'last_admin_key':
      return new UsersError(error.code)
    case 'idempotency_in_progress':
      return new UsersError(error.code, { headers: { 'retry-after': '1' } })
    case 'unavailable':
      return new UsersError('storage_unavailable', { headers: { 'retry-after': RETRY_AFTER_SECONDS }, cause: error })
    default:
      return new UsersError('internal', { cause: error })
  }
}

/** What a storage threw without meaning to: its class, code and place alone. Messages of drivers hold SQL and values. */
function withoutMessage (error: unknown): StorageError {
  const { name, code, stack } = Object(error)
  const bare = new StorageError('fault', `the storage threw an unexpected ${typeof name === 'string' ? name : typeof error}`, typeof code === 'string' ? code : undefined)
  const frames = String(stack).split('\n').filter((line) => /^ {4}at /.test(line))
  bare.stack = [`${bare.name}: ${bare.message}`, ...frames].join('\n')
  return bare
}

/** Asks a storage, waits for its answer, and turns what it throws into a UsersError. */
export async function fromStorage<Value> (ask: () => Promise<Value>): Promise<Value> {
  try {
    return await ask()
  } catch (error) {
    throw toUsersError(isStorageError(error) || error instanceof UsersError ? error : withoutMessage(error))
  }
}
