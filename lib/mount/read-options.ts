import { validationFailed } from '../core/errors.ts'
import { reasonFor, unknownOptions } from '../core/fault.ts'
import { isObject } from '../core/json.ts'

/** Where users are read. */
export interface ReadOptions {
  /**
   * A standby may answer, if the storage has any: what it says may be as old as the storage's bound, such as
   * `replicaMaxLagMs` of `postgres()`. Default false: what is stored now.
   */
  standby?: boolean
}

/** How users are walked. */
export interface IterateOptions extends ReadOptions {
  /** All as they are at the beginning, instead of a page at a time. */
  snapshot?: boolean
}

/** @throws UsersError `validation_failed` for a text, a number or a list: its parts are no options */
export function requireObject (parameter: string, given: object | null | undefined): void {
  if (given === undefined || given === null || isObject(given)) return
  throw validationFailed([{ parameter, ...reasonFor('type', { type: 'object' }) }])
}

/** The same of a query, with a copy of it. */
export function copyQuery (query: object): Record<string, unknown> {
  requireObject('query', query)
  return { ...query }
}

/** Reads options that are true or false, false by default. @throws UsersError `validation_failed` */
export function checkFlags<Name extends string> (given: object, names: readonly Name[]): Record<Name, boolean> {
  const options: Record<string, unknown> = { ...given }
  const isUnknown = (name: string): boolean => !names.some((each) => each === name)
  const faults = [
    ...unknownOptions(Object.keys(options).filter(isUnknown)),
    ...names.filter((name) => !['boolean', 'undefined'].includes(typeof options[name]))
      .map((name) => ({ parameter: name, ...reasonFor('type', { type: 'boolean' }) }))
  ]
  if (faults.length > 0) throw validationFailed(faults)
  return Object.assign({}, ...names.map((name) => ({ [name]: options[name] === true })))
}
