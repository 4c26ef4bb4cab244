import { UsersError } from '../core/errors.ts'
import { IMPORT_LINE_MAX } from '../core/limits.ts'

/** A user to import, unchecked, or why its line could not be read. */
export type SourceRow = { line: number, value: unknown } | { line: number, error: UsersError }

/** Rows in the order of their lines, in parts. */
export type SourceRows = AsyncIterable<SourceRow[]>

/** The error of a line that is too long. */
export function lineTooLong (): UsersError {
  return new UsersError('body_too_large', { detail: `The line is longer than ${IMPORT_LINE_MAX / 1024} KiB.` })
}

/** Values as rows: the first one is on line 1. */
export async function * valueRows (
  values: AsyncIterable<unknown> | Iterable<unknown>
): AsyncGenerator<SourceRow[], void, undefined> {
  let line = 0
  for await (const value of values) yield [{ line: ++line, value }]
}
