import type { UserRecord } from '../storage/storage.ts'
import { emailKeyOf } from '../core/text.ts'
import type { ImportRow } from './import-row.ts'

/** A value that at most one user has. */
export interface UniqueKey {
  /** `id`, `email`, or the name of a unique field. */
  name: string
  value: string | number | boolean
}

/** Text that stands for a key alone. */
export function textOfKey ({ name, value }: UniqueKey): string {
  return `${name}=${JSON.stringify(value)}`
}

function fieldKeys (fields: UserRecord['fields'], unique: Iterable<string>): UniqueKey[] {
  const keys: UniqueKey[] = []
  for (const name of unique) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') keys.push({ name, value })
  }
  return keys
}

/** The keys of a row in the order in which they are judged. */
export function keysOfRow ({ id, email, fields }: ImportRow, unique: Iterable<string>): UniqueKey[] {
  const own = id === null ? [] : [{ name: 'id', value: id }]
  return [{ name: 'email', value: email.key }, ...own, ...fieldKeys(fields, unique)]
}

/** The keys of a user. */
export function keysOfUser ({ id, email, fields }: UserRecord, unique: Iterable<string>): UniqueKey[] {
  return [{ name: 'id', value: id }, { name: 'email', value: emailKeyOf(email) }, ...fieldKeys(fields, unique)]
}
