import type { UserRecord } from '../storage/storage.ts'
import { emailKeyOf } from '../core/text.ts'
import type { ImportRow } from './import-row.ts'

/** A value that at most one user has. */
export interface UniqueKey {
  /** `id`, `email`, or the name of a unique field. */
  name: string
  value: string | number | boolean
  /** The tenant within which it is unique. Absent: it is unique in the storage, as an `id` is. */
  tenant?: string
}

/** Text that stands for a key alone. */
export function textOfKey ({ name, value, tenant = '' }: UniqueKey): string {
  return `${tenant}/${name}=${JSON.stringify(value)}`
}

function fieldKeys (fields: UserRecord['fields'], unique: Iterable<string>): UniqueKey[] {
  const keys: UniqueKey[] = []
  for (const name of unique) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') keys.push({ name, value })
  }
  return keys
}

const keysWithin = (tenant: string | undefined) => (key: UniqueKey): UniqueKey =>
  tenant === undefined ? key : { ...key, tenant }

/** The keys of a row in the order in which they are judged. */
export function keysOfRow ({ id, email, fields, tenant }: ImportRow, unique: Iterable<string>): UniqueKey[] {
  const own = id === null ? [] : [{ name: 'id', value: id }]
  const within = keysWithin(tenant)
  return [within({ name: 'email', value: email.key }), ...own, ...fieldKeys(fields, unique).map(within)]
}

/** The keys of a user. */
export function keysOfUser ({ id, email, fields, tenant }: UserRecord, unique: Iterable<string>): UniqueKey[] {
  const values = [{ name: 'email', value: emailKeyOf(email) }, ...fieldKeys(fields, unique)]
  return [{ name: 'id', value: id }, ...values.map(keysWithin(tenant))]
}
