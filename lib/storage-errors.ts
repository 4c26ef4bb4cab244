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
    case 'api_key_inactive':
      return new UsersError('api_key_inactive')
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

/** Waits for a storage's answer and turns what it throws into a UsersError. */
export async function fromStorage<Value> (answer: Promise<Value>): Promise<Value> {
  try {
    return await answer
  } catch (error) {
    throw toUsersError(isStorageError(error) || error instanceof UsersError ? error : withoutMessage(error))
  }
}
