import { isObject } from '../core/json.ts'
import type { Column } from './columns.ts'
import { escapeFormulas } from './formula.ts'

const textCell = (text: string): string => `"${escapeFormulas(text).replaceAll('"', '""')}"`
const rowOf = (cells: readonly string[]): string => `${cells.join(',')}\r\n`

/** The value at a path; undefined if there is none. */
function valueAt (user: object, path: readonly string[]): unknown {
  let value: unknown = user
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** The cell of a user: nothing if the user does not have the value, and in quotation marks if it is a text. */
function cellOf (user: object, { path, isJson }: Column): string {
  const value = valueAt(user, path)
  if (value === undefined) return ''
  if (typeof value === 'string' && !isJson) return textCell(value)
  return isJson || isObject(value) || Array.isArray(value)
    ? textCell(JSON.stringify(value))
    : escapeFormulas(String(value))
}

/** The first line of a table of users (RFC 4180). */
export function csvHeader (columns: readonly Column[]): string {
  return rowOf(columns.map(({ name }) => textCell(name)))
}

/** The line of a user. */
export function csvLine (user: object, columns: readonly Column[]): string {
  return rowOf(columns.map((column) => cellOf(user, column)))
}
