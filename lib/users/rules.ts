import { shapeCheck } from '../core/body-shape.ts'
import type { Fault } from '../core/fault.ts'
import { newId } from '../core/ids.ts'
import { isObject } from '../core/json.ts'
import { type CheckedText, checkEmail, checkName } from '../core/text.ts'
import { Type } from '../core/typebox.ts'
import type { CheckedFields, HostFields } from '../fields/host-fields.ts'
import type { JsonObject, UserChanges, UserKeys, UserRecord, UserStatus } from '../storage/storage.ts'
import { ACTIVE, checkStatus } from './status.ts'

// What the texts may be, core/text.ts checks.
const wholeBody = Type.Object({
  name: Type.String(),
  email: Type.String(),
  // checkStatus() judges both.
  status: Type.Optional(Type.Unknown()),
  statusReason: Type.Optional(Type.Unknown())
}, { additionalProperties: false })
/** The faults in the shape of a POST or PUT body. */
const wholeShape = shapeCheck(wholeBody)
/** The faults in the shape of a PATCH body (RFC 7396), without its `id`. */
const patchShape = shapeCheck(Type.Partial(wholeBody, { additionalProperties: false }))

function checkMember (
  values: Record<string, unknown>,
  member: 'name' | 'email',
  faults: Fault[]
): CheckedText | undefined {
  const text = values[member]
  if (typeof text !== 'string') return undefined
  const checked = member === 'name' ? checkName(text) : checkEmail(text)
  if ('value' in checked) return checked
  faults.push({ pointer: `/${member}`, ...checked })
  return undefined
}

/** Changes of a body, checked. */
type CheckedChanges = UserChanges & Partial<Record<'name' | 'email', CheckedText>>

function checkMembers (
  body: unknown,
  shape: (value: unknown) => Fault[]
): { changes: CheckedChanges, faults: Fault[] } {
  const faults = shape(body)
  const changes: CheckedChanges = {}
  if (isObject(body)) {
    const name = checkMember(body, 'name', faults)
    const email = checkMember(body, 'email', faults)
    if (name !== undefined) changes.name = name
    if (email !== undefined) changes.email = email
    checkStatus(body, changes, faults)
  }
  return { changes, faults }
}

interface SplitBody { ours: unknown, theirs: Record<string, unknown> | null }

/** Splits a body into our members and the host's fields; `theirs` is null if there are none to check. */
function splitBody (body: unknown, fields: HostFields | null): SplitBody {
  if (fields === null || !isObject(body)) return { ours: body, theirs: null }
  const members = Object.entries(body)
  return {
    ours: Object.fromEntries(members.filter(([name]) => !fields.has(name))),
    theirs: Object.fromEntries(members.filter(([name]) => fields.has(name)))
  }
}

/** The values of a new user. */
export interface CheckedCreation {
  name: CheckedText
  email: CheckedText
  fields: JsonObject
  status: UserStatus
  statusReason: string | null
}

/** Checks the body of a creation: every fault, or all values. */
export function checkCreate (body: unknown, hostFields: HostFields | null): CheckedCreation | { faults: Fault[] } {
  const { ours, theirs } = splitBody(body, hostFields)
  const { changes: { name, email, ...standing }, faults } = checkMembers(ours, wholeShape)
  const checked = hostFields === null ? { fields: {} } : hostFields.whole(theirs ?? {})
  if ('faults' in checked) return { faults: theirs === null ? faults : [...faults, ...checked.faults] }
  if (name === undefined || email === undefined || faults.length > 0) return { faults }
  return { name, email, fields: checked.fields, ...ACTIVE, ...standing }
}

/** What an update does. `patchFields` makes the new fields of the stored ones; null: they do not depend on those. */
interface CheckedUpdate {
  changes: UserChanges
  patchFields: ((before: JsonObject) => CheckedFields) | null
}

/** Removes `id` from a body: it may be sent, and must then be the id of the path. */
function withoutId (body: unknown, id: string): { body: unknown, faults: Fault[] } {
  if (!isObject(body) || !Object.hasOwn(body, 'id')) return { body, faults: [] }
  const { id: sent, ...others } = body
  const faults = sent === id ? [] : [{ pointer: '/id', code: 'mismatch', detail: 'must be the id of the path' }]
  return { body: others, faults }
}

/**
 * Checks the body of an update of the user with this id: gives all faults or values to set. With `whole` (PUT) the body
 * replaces the user; otherwise it is a merge patch, of the host's fields too.
 */
export function checkUpdate (
  input: unknown,
  id: string,
  whole: boolean,
  hostFields: HostFields | null
): CheckedUpdate | { faults: Fault[] } {
  const { ours, theirs } = splitBody(input, hostFields)
  const { body, faults: idFaults } = withoutId(ours, id)
  const { changes: given, faults } = checkMembers(body, whole ? wholeShape : patchShape)
  const changes: UserChanges = whole ? { ...ACTIVE, ...given } : given
  const all = [...idFaults, ...faults]
  let patchFields: CheckedUpdate['patchFields'] = null
  // A replacement has no fields then: those that another mount has stored are removed.
  if (hostFields === null && whole) changes.fields = {}
  if (hostFields !== null && theirs !== null && (whole || Object.keys(theirs).length > 0)) {
    const checked = whole ? hostFields.whole(theirs) : hostFields.patch(theirs)
    if ('faults' in checked) all.push(...checked.faults)
    else if (whole) changes.fields = checked.fields
    else patchFields = (before) => hostFields.patched(before, checked.fields)
  }
  return all.length === 0 ? { changes, patchFields } : { faults: all }
}

/** What a new user is compared and found by. */
export function keysOf ({ name, email }: Pick<CheckedCreation, 'name' | 'email'>): UserKeys {
  return { emailKey: email.key, nameKey: name.key, nameWords: name.words, emailWords: email.words }
}

/** A user that is created now, and its keys. */
export function newUserOf (checked: CheckedCreation): { user: UserRecord, keys: UserKeys } {
  const { name, email, fields, status, statusReason } = checked
  const now = new Date().toISOString()
  const values = { name: name.value, email: email.value, fields, status, statusReason }
  return {
    user: { id: newId('usr'), ...values, version: 1, createdAt: now, updatedAt: now },
    keys: keysOf(checked)
  }
}

/** The members that every user has. An own field needs another name. */
export const USER_MEMBERS: readonly string[] = [
  'id', 'name', 'email', 'status', 'statusReason', 'version', 'createdAt', 'updatedAt', 'deletedAt', 'deletedBy'
]

/** The kinds of change of a user. */
export type UserEventType =
  | 'user.created' | 'user.updated' | 'user.suspended' | 'user.activated'
  | 'user.deleted' | 'user.restored' | 'user.purged'
