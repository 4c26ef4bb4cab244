import { type Fault, unknownOptions } from '../core/fault.ts'
import type { VersionGuard } from '../storage/storage.ts'

/** The versions that a precondition names: one, several, or any (`*`). */
export type Versions = '*' | number | readonly number[]

/** Preconditions of a write (RFC 9110 section 13.1), on the user's `version`. */
export interface WriteOptions {
  /** The user must have this version; `*`: it must exist. */
  ifMatch?: Versions
  /** The user must not have this version; `*`: it must not exist. */
  ifNoneMatch?: Versions
}

/** Options of a deletion. */
export interface DeleteOptions extends WriteOptions {
  /**
   * With the option `eventLog`: take every value of the user out of its events. For a user that is deleted already too,
   * as long as there are events of it.
   */
  erase?: boolean
  /**
   * With the option `trash`: delete the user for good, so that it can't be restored; also one that is put away. `erase`
   * implies it.
   */
  purge?: boolean
}

/** The faults of options that a deletion has beside its preconditions. */
export function deletionFaults (
  { erase, purge }: { erase: unknown, purge: unknown },
  { isLogged, hasTrash }: { isLogged: boolean, hasTrash: boolean }
): Fault[] {
  const choice = (parameter: string): Fault => ({ parameter, code: 'choice', detail: 'must be true or false' })
  const faultsOf = (name: string, value: unknown, isKnown: boolean): Fault[] => {
    if (value === false) return []
    if (!isKnown) return unknownOptions([name])
    return typeof value === 'boolean' ? [] : [choice(name)]
  }
  return [...faultsOf('erase', erase, isLogged), ...faultsOf('purge', purge, hasTrash)]
}

const NAMES = ['ifMatch', 'ifNoneMatch']

function isVersion (value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) > 0
}

/** True if this can be the versions of a precondition. */
export function isVersions (value: unknown): value is Versions {
  return value === '*' || isVersion(value) || (Array.isArray(value) && value.every(isVersion))
}

/** The faults of the options of a write. A malformed precondition must not let the write happen. */
export function writeOptionsFaults (options: WriteOptions): Fault[] {
  const given = Object.entries({ ...options })
  const wrong = given.filter(([name, value]) => NAMES.includes(name) && value !== undefined && !isVersions(value))
  return [
    ...unknownOptions(given.map(([name]) => name).filter((name) => !NAMES.includes(name))),
    ...wrong.map(([parameter]) => ({ parameter, code: 'type', detail: "must be a version, a list of versions or '*'" }))
  ]
}

function listOf (versions: number | readonly number[]): readonly number[] {
  return typeof versions === 'number' ? [versions] : versions
}

/** The guard that a storage gets for the preconditions. */
export function guardOf ({ ifMatch, ifNoneMatch }: WriteOptions): VersionGuard {
  // If-None-Match: * holds only for a user that does not exist, so no version of an existing one passes.
  if (ifNoneMatch === '*') return { ifVersion: [], unlessVersion: [] }
  return {
    ifVersion: ifMatch === undefined || ifMatch === '*' ? null : listOf(ifMatch),
    unlessVersion: ifNoneMatch === undefined ? [] : listOf(ifNoneMatch)
  }
}
