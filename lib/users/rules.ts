import type { Fault } from '../errors.ts'
import { compileShape } from '../faults.ts'
import type { UserChanges } from '../storage.ts'
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

/** A value that passed the rules, or the code and words of its fault. */
type Judged = { value: string, key: string } | { code: string, detail: string }

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

function judge (values: Record<string, unknown>, member: 'name' | 'email', faults: Fault[]): { value: string, key: string } | undefined {
  const text = values[member]
  if (typeof text !== 'string') return undefined
  const judged = member === 'name' ? judgeName(text) : judgeEmail(text)
  if ('value' in judged) return judged
  faults.push({ pointer: `/${member}`, ...judged })
  return undefined
}

function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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

/** Checks the body of a creation: every fault at once, or both values. */
export function checkCreate (body: unknown): { name: { value: string, key: string }, email: { value: string, key: string } } | { faults: Fault[] } {
  const { changes: { name, email }, faults } = checkMembers(body, createShape)
  return name !== undefined && email !== undefined && faults.length === 0 ? { name, email } : { faults }
}

/**
 * Checks the body of an update of the user with this id: every fault at once, or the values to set. `id` is accepted if it is the same.
 * With `whole` (PUT) both members must be there.
 */
export function checkUpdate (body: unknown, id: string, whole: boolean): { changes: UserChanges } | { faults: Fault[] } {
  let rest = body
  const idFaults: Fault[] = []
  if (isObject(body) && Object.hasOwn(body, 'id')) {
    const { id: sent, ...others } = body
    rest = others
    if (sent !== id) idFaults.push({ pointer: '/id', code: 'mismatch', detail: 'must be the id of the path' })
  }
  const { changes, faults } = checkMembers(rest, whole ? createShape : updateShape)
  const all = [...idFaults, ...faults]
  return all.length === 0 ? { changes } : { faults: all }
}
