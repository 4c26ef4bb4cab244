import type { UserRecord } from '../../../lib/core/storage.ts'
import { storedFields } from './fields.ts'
import type { Is } from './mistakes.ts'

/** A user as a broken store returns it. */
export function returned (is: Is, user: UserRecord): UserRecord {
  if (is('the stored object is returned without a copy')) return user
  const copy: object = {
    ...user,
    ...(!is('the stored fields are returned without a copy') && { fields: structuredClone(user.fields) }),
    ...(is('the version is text') && { version: String(user.version) }),
    ...(is('times are Date objects') && { createdAt: new Date(user.createdAt) })
  }
  return Object(copy)
}

/** A user as a broken store keeps it. */
export function stored (is: Is, user: UserRecord): UserRecord {
  if (is('the given object is stored without a copy')) return user
  let { name } = user
  if (is('NUL is removed')) name = name.replaceAll('\0', '')
  if (is('lone surrogates are replaced')) name = name.toWellFormed()
  if (is('names are cut at 255 code units')) name = name.slice(0, 255)
  if (is('text is normalised')) name = name.normalize('NFKC').trim()
  return { ...user, name, fields: storedFields(is, user.fields) }
}
