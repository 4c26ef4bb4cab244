import { isObject } from '../core/json.ts'
import type { Column } from './columns.ts'

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

// Spreadsheets take what begins so for a formula (OWASP, CSV injection); the last four are full-width forms.
const FORMULA = '[=+\\-@\uff1d\uff0b\uff0d\uff20]'
// A spreadsheet that splits at another separator begins a cell behind any of these, whatever quotation marks say.
const BEFORE_CELL = '(^|[,;\\t\\r\\n"])'

const CELL = new RegExp(`${BEFORE_CELL}(?='*${FORMULA})`, 'g')
const ESCAPED_CELL = new RegExp(`${BEFORE_CELL}'(?='*${FORMULA})`, 'g')
// Spreadsheets leave these out at the beginning of a cell: what follows them is the formula.
const BLANK = /^(?='*[\t\r\n])/
const ESCAPED_BLANK = /^'(?='*[\t\r\n])/

/**
 * A text that no spreadsheet takes for a formula, nor a part of it: with one `'` at the beginning, and behind each
 * separator or quotation mark, where a formula would begin. The text may have some `'` there already.
 */
export function escapeFormulas (text: string): string {
  return text.replace(CELL, "$1'").replace(BLANK, "'")
}

/** The text that {@link escapeFormulas} was given. */
export function unescapeFormulas (text: string): string {
  if (!text.includes("'")) return text
  return text.replace(ESCAPED_CELL, '$1').replace(ESCAPED_BLANK, '')
}
