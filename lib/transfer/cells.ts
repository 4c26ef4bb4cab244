import { isObject } from '../core/json.ts'
import type { Column } from './columns.ts'
import { harmless } from './formula.ts'

/** The value at a path; undefined if there is none. */
function valueAt (user: object, path: readonly string[]): unknown {
  let value: unknown = user
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** The cell of a user in a column of a table; undefined if the user does not have the value. */
export function cellOf (user: object, { path, kind }: Column): string | undefined {
  const value = valueAt(user, path)
  if (value === undefined) return undefined
  return harmless(kind === null || typeof value === 'object' ? JSON.stringify(value) : String(value))
}
