import type { Fault } from '../errors.ts'
import type { Json, JsonObject } from '../storage.ts'
import { isStorable } from '../text.ts'

/** Bytes that all fields of a user may have as JSON. */
export const FIELDS_MAX = 16 * 1024
/** How deep they may nest: the user itself is the first level. */
export const DEPTH_MAX = 8
/** How many members an object in them may have, the user too. */
export const MEMBERS_MAX = 64

/** How many faults are told of one body, and how long a pointer may be: a body of odd names must not get an answer much larger than itself. */
const FAULTS_MAX = 32
const POINTER_MAX = 256

/** The faults that are told of many. One deep in names that are too long is told at the last place that can be named. */
export function toldOf (faults: readonly Fault[]): Fault[] {
  return faults.slice(0, FAULTS_MAX).map(({ pointer = '', ...fault }) => ({ pointer: pointer.length > POINTER_MAX ? pointer.slice(0, pointer.lastIndexOf('/', POINTER_MAX)) : pointer, ...fault }))
}

/** A name as a part of a JSON Pointer (RFC 6901). */
export function token (name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function isPlain (value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/**
 * A copy of a value, if it is JSON that every store gives back as it is; else what is wrong is added to the faults, and the answer is of no use. A member that is
 * `undefined` counts as absent, as it does for `JSON.stringify`. `level`: that of the value.
 */
export function copyJson (value: unknown, pointer: string, level: number, faults: Fault[]): Json {
  // Enough is known.
  if (faults.length >= FAULTS_MAX) return null
  const fault = (code: string, detail: string): null => {
    faults.push({ pointer, code, detail })
    return null
  }
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'string') return isStorable(value) ? value : fault('characters', 'must be well-formed Unicode without NUL')
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return fault('range', 'must be a finite number')
    // What is whole and larger has been rounded by whoever parsed it (RFC 7493 section 2.2).
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? fault('range', 'must be a number that JavaScript keeps exactly') : value + 0
  }
  if (typeof value !== 'object' || !(Array.isArray(value) || isPlain(value))) return fault('type', 'must be a value of JSON')
  if (level > DEPTH_MAX) return fault('too_deep', `must not nest deeper than ${DEPTH_MAX} levels`)
  if (Array.isArray(value)) {
    const copy: Json[] = []
    for (let i = 0; i < value.length && faults.length < FAULTS_MAX; i++) copy.push(copyJson(value[i], pointer + token(i), level + 1, faults))
    return copy
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  if (members.length > MEMBERS_MAX) return fault('too_many', `must have at most ${MEMBERS_MAX} members`)
  return copyMembers(members, pointer, level, faults)
}

/** The same for the members of an object. */
export function copyMembers (members: ReadonlyArray<readonly [string, unknown]>, pointer: string, level: number, faults: Fault[]): JsonObject {
  const copy: Record<string, Json> = {}
  for (const [name, member] of members) {
    if (name === '__proto__' || !isStorable(name)) faults.push({ pointer, code: 'characters', detail: 'must not have a member of this name' })
    else copy[name] = copyJson(member, pointer + token(name), level + 1, faults)
  }
  return copy
}
