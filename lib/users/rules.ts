import type { Fault } from '../errors.ts'
import { compileShape } from '../faults.ts'
import type { Checked, Fields } from '../fields/fields.ts'
import { isObject } from '../json.ts'
import type { JsonObject, UserChanges } from '../storage.ts'
import { isStorable } from '../text.ts'
import { createBody, updateBody } from './schema.ts'

export const NAME_MAX = 200
export const EMAIL_MAX = 254
const LOCAL_MAX = 64
const CONTROL = /\p{Cc}/u
// The addr-spec of RFC 5321 without quoted strings and address literals, and with at least one dot in the domain. No part can match in two ways.
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const ADDRESS = new RegExp(`^${ATOM}(?:\\.${ATOM})*@${LABEL}(?:\\.${LABEL})+$`)

const createShape = compileShape(createBody)
const updateShape = compileShape(updateBody)

/** A text that passed the rules, and what it is compared by. */
interface Value { value: string, key: string }
/** Such a text, or the code and words of its fault. */
type Judged = Value | { code: string, detail: string }

/** Unicode NFC and JavaScript's lower case: what names, and searches for them, are compared by. */
export function searchKey (text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/** Judges a name: kept in NFC and trimmed. */
export function judgeName (text: string): Judged {
  if (!isStorable(text)) return { code: 'characters', detail: 'must be well-formed Unicode without control characters' }
  const value = text.normalize('NFC').trim()
  if (CONTROL.test(value)) return { code: 'characters', detail: 'must be well-formed Unicode without control characters' }
  if (value === '') return { code: 'too_short', detail: 'must not be empty' }
  // A code point is one or two UTF-16 units, so only a text between the two lengths has to be counted.
  if (value.length > NAME_MAX && (value.length > 2 * NAME_MAX || [...value].length > NAME_MAX)) {
    return { code: 'too_long', detail: `must have at most ${NAME_MAX} characters` }
  }
  return { value, key: searchKey(value) }
}

/** Judges an e-mail address: kept as sent, trimmed; its key is its ASCII lower case, which is the address's identity. */
export function judgeEmail (text: string): Judged {
  const value = text.trim()
  if (value.length > EMAIL_MAX || value.indexOf('@') > LOCAL_MAX) {
    return { code: 'too_long', detail: `must have at most ${EMAIL_MAX} characters, and at most ${LOCAL_MAX} before the @` }
  }
  if (!ADDRESS.test(value)) return { code: 'format', detail: 'must be an e-mail address' }
  return { value, key: value.toLowerCase() }
}

function judge (values: Record<string, unknown>, member: 'name' | 'email', faults: Fault[]): Value | undefined {
  const text = values[member]
  if (typeof text !== 'string') return undefined
  const judged = member === 'name' ? judgeName(text) : judgeEmail(text)
  if ('value' in judged) return judged
  faults.push({ pointer: `/${member}`, ...judged })
  return undefined
}

function checkMembers (body: unknown, shape: (value: unknown) => Fault[]): { changes: UserChanges, faults: Fault[] } {
  const faults = shape(body)
  const changes: UserChanges = {}
  if (isObject(body)) {
    const name = judge(body, 'name', faults)
    const email = judge(body, 'email', faults)
    if (name !== undefined) changes.name = name
    if (email !== undefined) changes.email = email
  }
  return { changes, faults }
}

/** A body without the host's own fields, and those. */
function split (body: unknown, fields: Fields | null): { own: unknown, theirs: Record<string, unknown> | null } {
  if (fields === null || !isObject(body)) return { own: body, theirs: null }
  const members = Object.entries(body)
  return {
    own: Object.fromEntries(members.filter(([name]) => !fields.has(name))),
    theirs: Object.fromEntries(members.filter(([name]) => fields.has(name)))
  }
}

/** Checks the body of a creation: every fault at once, or all values. */
export function checkCreate (body: unknown, hostFields: Fields | null): { name: Value, email: Value, fields: JsonObject } | { faults: Fault[] } {
  const { own, theirs } = split(body, hostFields)
  const { changes: { name, email }, faults } = checkMembers(own, createShape)
  const checked = hostFields === null ? { fields: {} } : hostFields.whole(theirs ?? {})
  if ('faults' in checked) return { faults: theirs === null ? faults : [...faults, ...checked.faults] }
  return name !== undefined && email !== undefined && faults.length === 0 ? { name, email, fields: checked.fields } : { faults }
}

/** What an update is to do: values to set, and what becomes of the host's fields, where they are patched. */
interface CheckedUpdate {
  changes: UserChanges
  patched: ((before: JsonObject) => Checked) | null
}

/**
 * Checks the body of an update of the user with this id: every fault at once, or the values to set. `id` is accepted if it is the same.
 * With `whole` (PUT) all that is required must be there, and takes the place of what was; else what is given of the host's fields is a patch of them.
 */
export function checkUpdate (body: unknown, id: string, whole: boolean, hostFields: Fields | null): CheckedUpdate | { faults: Fault[] } {
  const { own, theirs } = split(body, hostFields)
  let rest = own
  const idFaults: Fault[] = []
  if (isObject(own) && Object.hasOwn(own, 'id')) {
    const { id: sent, ...others } = own
    rest = others
    if (sent !== id) idFaults.push({ pointer: '/id', code: 'mismatch', detail: 'must be the id of the path' })
  }
  const { changes, faults } = checkMembers(rest, whole ? createShape : updateShape)
  const all = [...idFaults, ...faults]
  let patched: CheckedUpdate['patched'] = null
  if (hostFields !== null && theirs !== null && (whole || Object.keys(theirs).length > 0)) {
    const checked = whole ? hostFields.whole(theirs) : hostFields.patch(theirs)
    if ('faults' in checked) all.push(...checked.faults)
    else if (whole) changes.fields = checked.fields
    else patched = (before) => hostFields.patched(before, checked.fields)
  }
  return all.length === 0 ? { changes, patched } : { faults: all }
}
