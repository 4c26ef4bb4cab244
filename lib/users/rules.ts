import { shapeCheck } from '../core/body-shape.ts'
import type { Fault } from '../core/fault.ts'
import { newId } from '../core/ids.ts'
import { isObject } from '../core/json.ts'
import { readMoment } from '../core/moments.ts'
import { type CheckedText, checkEmail, checkName } from '../core/text.ts'
import { Type } from '../core/typebox.ts'
import type { CheckedFields, HostFields } from '../fields/host-fields.ts'
import type { JsonObject, UserChanges, UserKeys, UserMembers, UserRecord } from '../storage/storage.ts'
import { NEW_USER, USER_MEMBER_NAMES } from '../storage/user-members.ts'
import { checkStatus } from './status.ts'

// What the texts may be, core/text.ts checks.
const wholeBody = Type.Object({
  name: Type.String(),
  email: Type.String(),
  // checkStatus() judges them.
  ...Object.fromEntries(Object.keys(NEW_USER).map((name) => [name, Type.Optional(Type.Unknown())]))
}, { additionalProperties: false })
/** The faults in the shape of a POST or PUT body. */
const wholeShape = shapeCheck(wholeBody)
/** The faults in the shape of a PATCH body (RFC 7396), without what no client changes. */
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
  shape: typeof wholeShape,
  hostFields: HostFields | null
): { changes: CheckedChanges, faults: Fault[] } {
  const faults = shape(body, hostFields === null ? [] : Object.keys(hostFields.schema.properties))
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
export interface CheckedCreation extends UserMembers {
  name: CheckedText
  email: CheckedText
  fields: JsonObject
}

/** Checks the body of a creation: every fault, or all values. */
export function checkCreate (body: unknown, hostFields: HostFields | null): CheckedCreation | { faults: Fault[] } {
  const { ours, theirs } = splitBody(body, hostFields)
  const { changes: { name, email, ...standing }, faults } = checkMembers(ours, wholeShape, hostFields)
  const checked = hostFields === null ? { fields: {} } : hostFields.whole(theirs ?? {})
  if ('faults' in checked) return { faults: theirs === null ? faults : [...faults, ...checked.faults] }
  if (name === undefined || email === undefined || faults.length > 0) return { faults }
  return { name, email, fields: checked.fields, ...NEW_USER, ...standing }
}

/** What an update does. `patchFields` makes the new fields of the stored ones; null: they do not depend on those. */
interface CheckedUpdate {
  changes: UserChanges
  patchFields: ((before: JsonObject) => CheckedFields) | null
  /** The faults of members that must be as they are stored; null: none was sent. */
  storedFaults: ((user: UserRecord) => Fault[]) | null
}

const immutable = (member: string, detail: string): Fault => ({ pointer: `/${member}`, code: 'immutable', detail })

/** Members of an answer that no client changes. They may be sent back as they are stored. */
const STORED = ['version', 'createdAt', 'updatedAt', 'tenant'] as const

function isAsStored (sent: unknown, stored: unknown): boolean {
  if (sent === stored) return true
  const [moment, other] = [sent, stored].map((each) => typeof each === 'string' ? readMoment(each) : null)
  return moment !== null && moment === other
}

/** Removes the members from a body that no client changes, and says what is wrong with them. */
function splitStored (body: unknown, id: string, hasTenant: boolean): {
  body: unknown, faults: Fault[], storedFaults: CheckedUpdate['storedFaults']
} {
  if (!isObject(body)) return { body, faults: [], storedFaults: null }
  const sent = STORED.filter((name) => Object.hasOwn(body, name) && (name !== 'tenant' || hasTenant))
  const taken = new Set<string>([...sent, 'id'])
  const faults = !Object.hasOwn(body, 'id') || body['id'] === id ? [] : [immutable('id', 'must be the id in the path')]
  const detail = 'must equal the stored value, or be left out: it can’t be set'
  return {
    body: Object.keys(body).some((name) => taken.has(name))
      ? Object.fromEntries(Object.entries(body).filter(([name]) => !taken.has(name)))
      : body,
    faults,
    storedFaults: sent.length === 0
      ? null
      : (user) => sent.filter((name) => !isAsStored(body[name], user[name])).map((name) => immutable(name, detail))
  }
}

/**
 * Checks the body of an update of the user with this id: gives all faults or values to set. With `whole` (PUT) the body
 * replaces the user; otherwise it is a merge patch, of the host's fields too. `hasTenant`: users show their tenant.
 */
export function checkUpdate (
  input: unknown,
  id: string,
  whole: boolean,
  hostFields: HostFields | null,
  hasTenant: boolean
): CheckedUpdate | { faults: Fault[] } {
  const { ours, theirs } = splitBody(input, hostFields)
  const { body, faults: idFaults, storedFaults } = splitStored(ours, id, hasTenant)
  const { changes: given, faults } = checkMembers(body, whole ? wholeShape : patchShape, hostFields)
  const changes: UserChanges = whole ? { ...NEW_USER, ...given } : given
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
  return all.length === 0 ? { changes, patchFields, storedFaults } : { faults: all }
}

/** The changes of an update to the user as it is stored, or what is wrong with them. */
export function changesOf (
  { changes, patchFields, storedFaults }: CheckedUpdate,
  user: UserRecord
): { changes: UserChanges } | { faults: Fault[] } {
  const faults = storedFaults?.(user) ?? []
  if (faults.length > 0) return { faults }
  if (patchFields === null) return { changes }
  const patched = patchFields(user.fields)
  return 'faults' in patched ? patched : { changes: { ...changes, fields: patched.fields } }
}

/** What a new user is compared and found by. */
export function keysOf ({ name, email }: Pick<CheckedCreation, 'name' | 'email'>): UserKeys {
  return { emailKey: email.key, nameKey: name.key, nameWords: name.words, emailWords: email.words }
}

/** A user that is created now, and its keys. */
export function newUserOf (checked: CheckedCreation): { user: UserRecord, keys: UserKeys } {
  const now = new Date().toISOString()
  const values = { name: checked.name.value, email: checked.email.value, version: 1, createdAt: now, updatedAt: now }
  // By a spread this takes ten times as long on Node.js 20.
  return { user: Object.assign({ id: newId('usr') }, checked, values), keys: keysOf(checked) }
}

/** The names that an own field can't have. */
export const RESERVED_NAMES: readonly string[] = [...USER_MEMBER_NAMES, 'deletedAt', 'deletedBy']

/** The kinds of change of a user. */
export type UserEventType =
  | 'user.created' | 'user.updated' | 'user.suspended' | 'user.activated'
  | 'user.deleted' | 'user.restored' | 'user.purged'
