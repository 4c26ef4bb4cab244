import type { Fault } from '../errors.ts'
import type { VersionGuard } from '../storage.ts'

/** The versions a precondition names: one, several, or any at all. */
export type Versions = '*' | number | readonly number[]

/** Preconditions of a write (RFC 9110 section 13.1), on the user's `version`. */
export interface WriteOptions {
  /** The user must have this version; `*`: it must exist. */
  ifMatch?: Versions
  /** The user must not have this version; `*`: it must not exist. */
  ifNoneMatch?: Versions
}

const NAMES = new Set(['ifMatch', 'ifNoneMatch'])

function isVersion (value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) > 0
}

/** The faults of what a caller without types may pass: a precondition that is no precondition must not let a write through. */
export function judgeWriteOptions (options: WriteOptions): Fault[] {
  const given: Record<string, unknown> = { ...options }
  return Object.entries(given).flatMap(([parameter, value]): Fault[] => {
    if (!NAMES.has(parameter)) return [{ parameter, code: 'unknown', detail: 'is not a known option' }]
    if (value === undefined || value === '*' || isVersion(value) || (Array.isArray(value) && value.every(isVersion))) return []
    return [{ parameter, code: 'type', detail: "must be a version, a list of versions or '*'" }]
  })
}

function listOf (versions: number | readonly number[]): readonly number[] {
  return typeof versions === 'number' ? [versions] : versions
}

/** What a storage is told of preconditions. */
export function guardOf ({ ifMatch, ifNoneMatch }: WriteOptions): VersionGuard {
  return {
    // If-None-Match: * holds for a user that does not exist; one that does has no version that would pass.
    ifVersion: ifNoneMatch === '*' ? [] : ifMatch === undefined || ifMatch === '*' ? null : listOf(ifMatch),
    unlessVersion: ifNoneMatch === undefined || ifNoneMatch === '*' ? [] : listOf(ifNoneMatch)
  }
}
