import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { UserRecord, VersionGuard } from '../../../lib/storage/storage.ts'
import { type Mistake, plant, untyped } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { State } from './state.ts'

type Code = StorageError['code']

class DriverError extends Error {
  code = '23505'
}

class AdapterError extends Error {
  code = 'email_taken'
}

function isCode (error: unknown, code: Code): error is StorageError {
  return error instanceof StorageError && error.code === code
}

/** A mistake in the error for a taken e-mail key. */
function emailTaken (title: string, errorOf: (emailKey: string) => Error): Mistake {
  return plant(title, class extends PlainStore {
    override emailTaken (emailKey: string) {
      return errorOf(emailKey)
    }
  })
}

/** A mistake in what a write does with an error. */
function writes (title: string, code: Code, method: string, mistaken: (error: StorageError) => unknown): Mistake {
  return plant(title, class extends PlainStore {
    override async write<C, T> (name: string, check: (state: State) => C, apply: (state: State, checked: C) => T) {
      try {
        return await super.write(name, check, apply)
      } catch (error) {
        if (name !== method || !isCode(error, code)) throw error
        return untyped(mistaken(error))
      }
    }
  })
}

function rethrow (code: Code): () => never {
  return () => { throw new StorageError(code, 'the write failed') }
}

function swallow (): null {
  return null
}

export const lifecycleErrors: Mistake[] = [
  emailTaken('email_taken comes as an error of the driver', () => new DriverError('duplicate key')),
  emailTaken('email_taken is an error of another name', () => new AdapterError('the address is taken')),
  emailTaken('email_taken has its code in a member of the cause only', () => {
    return new Error('the address is taken', { cause: new StorageError('email_taken', 'taken') })
  }),
  emailTaken('email_taken has the code of the driver', () => {
    return untyped(Object.assign(new StorageError('email_taken', 'taken'), { code: 'ER_DUP_ENTRY' }))
  }),
  emailTaken('refusals are objects and not errors', () => untyped({ name: 'StorageError', code: 'email_taken' })),
  emailTaken('email_taken comes as a fault', () => new StorageError('fault', 'a constraint failed')),
  emailTaken('email_taken comes as unavailable', () => new StorageError('unavailable', 'try again')),
  plant('a fault has the id in its message', class extends PlainStore {
    override requireFreeId (state: State, id: string) {
      if (state.users.has(id)) throw new StorageError('fault', `Key (id)=(${id}) already exists.`)
    }
  }),
  plant('a fault for an id comes as an error of the driver', class extends PlainStore {
    override requireFreeId (state: State, id: string) {
      if (state.users.has(id)) throw new DriverError('duplicate key')
    }
  }),
  plant('a fault for an API key has the start in its message', class extends PlainStore {
    override requireFreeStart (state: State, start: string) {
      if (this.byStart(state, start) !== null) throw new StorageError('fault', `duplicate entry '${start}'`)
    }
  }),
  plant('a fault for an API key has its id in its message', class extends PlainStore {
    override requireFreeKeyId (state: State, id: string) {
      if (state.apiKeys.has(id)) throw new StorageError('fault', `duplicate entry '${id}'`)
    }
  }),
  plant('a fault for a start comes as an error of the driver', class extends PlainStore {
    override requireFreeStart (state: State, start: string) {
      if (this.byStart(state, start) !== null) throw new DriverError('duplicate key')
    }
  }),
  plant('a fault for a start comes as email_taken', class extends PlainStore {
    override requireFreeStart (state: State, start: string) {
      if (this.byStart(state, start) !== null) throw new StorageError('email_taken', 'duplicate key')
    }
  }),
  plant('version_mismatch has the id of the user in its message', class extends PlainStore {
    override requireGuard (guard: VersionGuard, user: UserRecord) {
      try {
        super.requireGuard(guard, user)
      } catch {
        throw new StorageError('version_mismatch', `user ${user.id} has another version`)
      }
    }
  }),
  plant('version_mismatch comes as an error of the driver', class extends PlainStore {
    override requireGuard (guard: VersionGuard, user: UserRecord) {
      try {
        super.requireGuard(guard, user)
      } catch {
        throw new Error('OptimisticLockError')
      }
    }
  }),
  plant('idempotency_key_reused has the key in its message', class extends PlainStore {
    override firstCreation (...given: Parameters<PlainStore['firstCreation']>) {
      try {
        return super.firstCreation(...given)
      } catch {
        throw new StorageError('idempotency_key_reused', `the key ${given[1].key} is known`)
      }
    }
  }),
  writes('createUser gives null for a taken e-mail key', 'email_taken', 'createUser', swallow),
  writes('createUser gives null for an id that exists', 'fault', 'createUser', swallow),
  writes('a fault for an id comes as unavailable', 'fault', 'createUser', rethrow('unavailable')),
  writes('a reused idempotency key comes as a fault', 'idempotency_key_reused', 'createUser', rethrow('fault')),
  writes('a reused idempotency key comes as in progress', 'idempotency_key_reused', 'createUser', (error) => {
    throw Object.assign(error, { code: 'idempotency_in_progress' })
  }),
  writes('updateUser gives null for a taken e-mail key', 'email_taken', 'updateUser', swallow),
  writes('updateUser gives null for another version', 'version_mismatch', 'updateUser', swallow),
  writes('updateUser says fault for a taken e-mail key', 'email_taken', 'updateUser', rethrow('fault')),
  writes(
    'updateUser says version_mismatch for a taken e-mail key', 'email_taken', 'updateUser', rethrow('version_mismatch')
  ),
  writes('updateUser says email_taken for another version', 'version_mismatch', 'updateUser', rethrow('email_taken')),
  writes('deleteUser gives null for another version', 'version_mismatch', 'deleteUser', swallow),
  writes('deleteUser says fault for another version', 'version_mismatch', 'deleteUser', rethrow('fault')),
  writes('createApiKey says false for an id that exists', 'fault', 'createApiKey', () => false),
  writes('createApiKey says unavailable for an id that exists', 'fault', 'createApiKey', rethrow('unavailable')),
  writes('rotateApiKey says fault for an inactive key', 'api_key_inactive', 'rotateApiKey', rethrow('fault')),
  writes('rotateApiKey gives null for a start that another key has', 'fault', 'rotateApiKey', swallow),
  writes(
    'rotateApiKey says api_key_inactive for an id that exists', 'fault', 'rotateApiKey', rethrow('api_key_inactive')
  ),
  writes('revokeApiKey gives null for the last key', 'last_admin_key', 'revokeApiKey', swallow),
  writes('revokeApiKey says fault for the last key', 'last_admin_key', 'revokeApiKey', rethrow('fault')),
  writes('revokeApiKey resolves to false for the last key', 'last_admin_key', 'revokeApiKey', () => false),
  plant('createApiKey throws before it gives a promise', class extends PlainStore {
    override createApiKey (...given: Parameters<PlainStore['createApiKey']>) {
      this.requireFreeKeyId(this.session.state, given[0].id)
      return super.createApiKey(...given)
    }
  }),
  plant('updateUser throws before it gives a promise', class extends PlainStore {
    override updateUser (...given: Parameters<PlainStore['updateUser']>) {
      const row = this.find(this.session.state.users, given[0])
      if (row !== null) this.requireGuard(given[3], row.user)
      return super.updateUser(...given)
    }
  }),
  plant('the store has no name', class extends PlainStore {
    override name = untyped(undefined)
  }),
  plant('watchApiKeys gives nothing that removes the listener', class extends PlainStore {
    watchApiKeys (_listener: () => void) {
      return untyped(undefined)
    }
  })
]
