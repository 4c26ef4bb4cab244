import { requireOptional } from '../core/optional-packages.ts'
import { cellOf } from './cells.ts'
import type { Column } from './columns.ts'
import { harmless } from './formula.ts'

type Stringify = typeof import('csv-stringify/sync')['stringify']

/** Writes tables of users as CSV (RFC 4180). */
export interface CsvWriter {
  header (columns: readonly Column[]): string
  rows (users: readonly object[], columns: readonly Column[]): string
}

// In quotes: a text without characters, as nothing is what is not there; and any line break, which RFC 4180 asks for.
const options = { record_delimiter: '\r\n', quoted_match: [/^$/, /[\r\n]/] }

/** Loads `csv-stringify`. @throws Error with the command that installs it */
export function loadCsvWriter (): CsvWriter {
  const require = requireOptional('CSV', ['csv-stringify'])
  const { stringify }: { stringify: Stringify } = require('csv-stringify/sync')
  return {
    header: (columns) => stringify([columns.map(({ name }) => harmless(name))], options),
    rows: (users, columns) =>
      stringify(users.map((user) => columns.map((column) => cellOf(user, column))), options)
  }
}
