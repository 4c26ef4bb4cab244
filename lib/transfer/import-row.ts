import { type UsersError, validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { isUserId, timeOfId } from '../core/ids.ts'
import { isObject } from '../core/json.ts'
import { readMoment } from '../core/moments.ts'
import type { JsonObject, UserMembers } from '../storage/storage.ts'
import type { CheckedText } from '../core/text.ts'
import type { HostFields } from '../fields/host-fields.ts'
import { checkCreate } from '../users/rules.ts'
import { GROUPS, groupKeys, groupsForbidden, type RowGroups } from './import-groups.ts'
import { momentOf } from './moments.ts'
import { rowTenantFault, rowTenant, type RowTenants } from './row-tenants.ts'

/** A user to import, after the check. */
export interface ImportRow {
  line: number
  /** The tenant that it belongs to. */
  tenant?: string
  /** null: one is made. */
  id: string | null
  name: CheckedText
  email: CheckedText
  /** With the host's defaults. */
  fields: JsonObject
  /** The names of the own fields that were sent: an update sets these alone. */
  given: readonly string[]
  /** The other members of a new user. */
  members: UserMembers
  /** Those of them that were sent: an update sets these alone. */
  sent: Partial<UserMembers>
  /** null: now. */
  createdAt: string | null
  /** null: as `createdAt`. */
  updatedAt: string | null
  /** 1, unless it was sent. */
  version: number
  /** The keys of the names of groups that it joins. */
  groups: readonly string[]
  /** The ids of these, once they were found. */
  joins: readonly string[]
}

/** How rows are checked. */
export interface RowRules {
  fields: HostFields | null
  tenants: RowTenants
  groups: RowGroups
}

// Stores keep versions up to 2^31 - 1: so a billion changes can follow any import.
const VERSION_MAX = 2 ** 30
// The clocks of two machines are not quite the same.
const AHEAD_MS = 60_000

const isInFuture = (time: number): boolean => time > Date.now() + AHEAD_MS

function readTime (value: unknown, member: 'createdAt' | 'updatedAt', faults: Fault[]): string | null {
  if (value === undefined) return null
  const pointer = `/${member}`
  const text = momentOf(value)
  const time = typeof text === 'string' ? readMoment(text) : null
  const detail = 'must be an RFC 3339 date and time, such as 2020-12-31T10:00:00Z'
  if (time === null) faults.push({ pointer, code: 'format', detail })
  else if (isInFuture(time)) faults.push({ pointer, code: 'range', detail: 'must not be in the future' })
  return time === null ? null : new Date(time).toISOString()
}

/** The members that a creation has not. */
function ownMembers ({ id, createdAt: created, updatedAt: updated, version }: Record<string, unknown>) {
  const faults: Fault[] = []
  if (id !== undefined && !isUserId(id)) {
    faults.push({ pointer: '/id', code: 'format', detail: 'must be the id of a user: usr_ and 26 characters' })
  } else if (id !== undefined && isInFuture(timeOfId(id))) {
    // Lists are sorted by id, so an id from the future would stay after every later user.
    const detail = 'must not be an id from the future, as made by a clock that is ahead: leave out id for a new one, ' +
      'import the line after that time, or restore a backup of the database, which keeps ids'
    faults.push({ pointer: '/id', code: 'range', detail })
  }
  const updatedAt = readTime(updated, 'updatedAt', faults)
  const createdAt = readTime(created, 'createdAt', faults) ?? updatedAt
  if (faults.length === 0 && createdAt !== null && updatedAt !== null && updatedAt < createdAt) {
    faults.push({ pointer: '/updatedAt', code: 'range', detail: 'must not be before createdAt' })
  }
  const isVersion = Number.isInteger(version) && Number(version) >= 1 && Number(version) <= VERSION_MAX
  if (version !== undefined && !isVersion) {
    const detail = `must be a whole number from 1 to ${VERSION_MAX}`
    faults.push({ pointer: '/version', code: 'range', detail })
  }
  return {
    faults,
    id: isUserId(id) ? id : null,
    createdAt,
    updatedAt,
    version: isVersion ? Number(version) : 1
  }
}

/** A copy, so that nothing of the caller's can change after the check; null: it is no object, or a getter threw. */
function copyOf (value: unknown): Record<string, unknown> | null {
  try {
    if (isObject(value)) return { ...value }
  } catch {}
  return null
}

const refused = (faults: Fault[]): { error: UsersError } => ({ error: validationFailed(faults) })

/** Checks a user to import, by the rules of a creation: why it is refused, or all values. */
export function checkRow (
  line: number,
  value: unknown,
  { fields, tenants, groups }: RowRules
): ImportRow | { error: UsersError } {
  const row = copyOf(value)
  if (row === null) return refused([{ pointer: '', code: 'type', detail: 'must be an object' }])
  const { id, createdAt, updatedAt, version, ...others } = row
  const named = others['tenant']
  if (tenants !== 'none') delete others['tenant']
  const asked = groups === 'unknown' ? undefined : others[GROUPS]
  if (groups !== 'unknown') delete others[GROUPS]
  if (asked !== undefined && groups === 'forbidden') return { error: groupsForbidden() }
  const body = others
  const { faults, ...own } = ownMembers(row)
  const keys = groupKeys(asked, faults)
  const checked = checkCreate(body, fields)
  if ('faults' in checked) faults.push(...checked.faults)
  const tenantFault = tenants === 'none' ? null : rowTenantFault(named, tenants)
  if (tenantFault !== null) faults.push(tenantFault)
  if ('faults' in checked || faults.length > 0) return refused(faults)
  const tenant = tenants === 'none' ? undefined : rowTenant(named, tenants)
  if (typeof tenant === 'object') return { error: tenant }
  const given = Object.keys(body).filter((name) => body[name] !== undefined && fields?.has(name) === true)
  const { name, email, fields: theirs, ...members } = checked
  const sent = Object.fromEntries(Object.entries(members).filter(([member]) => body[member] !== undefined))
  const ofTenant = tenant === undefined ? {} : { tenant }
  return { line, ...own, name, email, fields: theirs, members, given, sent, groups: keys, joins: [], ...ofTenant }
}
