import type { Fault } from '../core/fault.ts'
import { FIELDS_DEPTH_MAX, FIELDS_MEMBERS_MAX } from '../core/limits.ts'
import type { Json, JsonObject } from '../storage/storage.ts'
import { isStorable } from '../core/text.ts'

/** Faults in one answer, and characters in a pointer: an answer must not be much larger than a hostile body. */
const FAULTS_MAX = 32
const POINTER_MAX = 256

/** The first faults. A fault below names that are too long is given at the last place that fits. */
export function boundedFaults (faults: readonly Fault[]): Fault[] {
  return faults.slice(0, FAULTS_MAX).map(({ pointer = '', ...fault }) => {
    if (pointer.length <= POINTER_MAX) return { pointer, ...fault }
    return { pointer: pointer.slice(0, pointer.lastIndexOf('/', POINTER_MAX)), ...fault }
  })
}

/**
 * Adds the faults of other places. A fault inside or around a reported place is dropped, because it may be a
 * consequence.
 */
export function withOtherPlaces (faults: readonly Fault[], others: readonly Fault[]): Fault[] {
  const isSame = (a = '', b = '') => a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`)
  return [...faults, ...others.filter(({ pointer }) => !faults.some((fault) => isSame(fault.pointer, pointer)))]
}

/** A name as a part of a JSON Pointer (RFC 6901). */
export function pointerToken (name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function isPlain (value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/**
 * Copies a value that is JSON and that every store returns unchanged. Otherwise it adds to `faults`, and the result is
 * of use only to look for other faults. A member that is `undefined` counts as absent, as in `JSON.stringify`. `level`:
 * nesting of the value.
 */
export function copyJson (value: unknown, pointer: string, level: number, faults: Fault[]): Json {
  if (faults.length >= FAULTS_MAX) return null
  /** `copy`: of the same type, so that it has no other fault. */
  const fault = <Copy extends Json>(code: string, detail: string, copy: Copy): Copy => {
    faults.push({ pointer, code, detail })
    return copy
  }
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'string') {
    return isStorable(value) ? value : fault('characters', 'must be well-formed Unicode without NUL', value)
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return fault('range', 'must be a finite number', value)
    // Larger whole numbers were rounded by the parser (RFC 7493 section 2.2).
    const isExact = !Number.isInteger(value) || Number.isSafeInteger(value)
    if (!isExact) return fault('range', 'must be a number that JavaScript can represent exactly', value)
    return value + 0
  }
  if (typeof value !== 'object' || !(Array.isArray(value) || isPlain(value))) {
    return fault('type', 'must be a JSON value', null)
  }
  const empty = Array.isArray(value) ? [] : {}
  if (level > FIELDS_DEPTH_MAX) return fault('too_deep', `must not nest deeper than ${FIELDS_DEPTH_MAX} levels`, empty)
  if (Array.isArray(value)) {
    const copy: Json[] = []
    for (let i = 0; i < value.length && faults.length < FAULTS_MAX; i++) {
      copy.push(copyJson(value[i], pointer + pointerToken(i), level + 1, faults))
    }
    return copy
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  const detail = `must have at most ${FIELDS_MEMBERS_MAX} members`
  if (members.length > FIELDS_MEMBERS_MAX) return fault('too_many', detail, empty)
  return copyMembers(members, pointer, level, faults)
}

/** The same for the members of an object. */
export function copyMembers (
  members: ReadonlyArray<readonly [string, unknown]>,
  pointer: string,
  level: number,
  faults: Fault[]
): JsonObject {
  const copy: Record<string, Json> = {}
  for (const [name, member] of members) {
    if (name === '__proto__' || !isStorable(name)) {
      faults.push({ pointer, code: 'characters', detail: 'must not have a member of this name' })
    } else {
      copy[name] = copyJson(member, pointer + pointerToken(name), level + 1, faults)
    }
  }
  return copy
}
