import { UsersError } from '../core/errors.ts'
import { IMPORT_LINE_MAX } from '../core/limits.ts'

/** Why a line could not be read. */
export interface UnreadableRow {
  line: number
  error: UsersError
  /** An earlier line reported this error, which is one of the whole file: count this line, but do not list it. */
  isRepeated?: boolean
}

/** A user to import, unchecked, or why its line could not be read. */
export type SourceRow = { line: number, value: unknown } | UnreadableRow

/** Rows in the order of their lines, in parts. */
export type SourceRows = AsyncIterable<SourceRow[]>

/** The error of a line that is too long. */
export function lineTooLong (): UsersError {
  return new UsersError('body_too_large', { detail: `The line is longer than ${IMPORT_LINE_MAX / 1024} KiB.` })
}

/** The error of a line whose members are too long after `map` has joined and repeated its texts. */
export function mappedTooLong (): UsersError {
  const detail = `The members that map creates from the line are longer than ${IMPORT_LINE_MAX / 1024} KiB together.`
  return new UsersError('body_too_large', { detail })
}

/** How to convert a file to UTF-8. */
export const SAVE_AS_UTF8 = 'save the whole file as UTF-8 (in Excel: "CSV UTF-8")'

/** Returns a function that makes the row of a line that is not UTF-8. The first one says how to save the file. */
export function encodingFaults (errorOf: (detail: string) => UsersError): (line: number) => UnreadableRow {
  let isRepeated = false
  return (line) => {
    const row = { line, error: errorOf(`${SAVE_AS_UTF8}; more lines like this are counted but not listed`), isRepeated }
    isRepeated = true
    return row
  }
}

/** Values as rows: the first one is on line 1. */
export async function * valueRows (
  values: AsyncIterable<unknown> | Iterable<unknown>
): AsyncGenerator<SourceRow[], void, undefined> {
  let line = 0
  for await (const value of values) yield [{ line: ++line, value }]
}
