import { newId } from '../core/ids.ts'
import type { UserKeys, UserRecord } from '../storage/storage.ts'
import type { CheckedCreation } from './rules.ts'

/** A user that is created now, and its keys. */
export function newUserOf ({ name, email, fields }: CheckedCreation): { user: UserRecord, keys: UserKeys } {
  const now = new Date().toISOString()
  const values = { name: name.value, email: email.value, fields }
  return {
    user: { id: newId('usr'), ...values, version: 1, createdAt: now, updatedAt: now },
    keys: { emailKey: email.key, nameKey: name.key }
  }
}
