import { isUtf8 } from 'node:buffer'
import { UsersError, validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { IMPORT_LINE_MAX } from '../core/limits.ts'
import { requireOptional } from '../core/optional-packages.ts'
import { parseParameter } from '../core/parameters.ts'
import { toUsersError } from '../core/storage-errors.ts'
import { parseJsonText } from '../core/strict-json.ts'
import { pointerToken } from '../fields/checked-json.ts'
import { type ByteRecord, byteRecords, type Chunks } from './byte-records.ts'
import type { Column } from './columns.ts'
import { asWritten } from './formula.ts'
import { setAt } from './set-at.ts'
import { lineTooLong, type SourceRow } from './source-row.ts'
import { separatorOf, tableEnds } from './table-ends.ts'

/** One cell: undefined if there is nothing between its separators, not even quotation marks. */
type Cell = string | undefined
type Parse = (text: string, options: object) => Cell[][]

function malformed (detail: string): UsersError {
  return validationFailed([{ pointer: '', code: 'format', detail }])
}

const NOT_UTF8 = 'must be text in UTF-8'
const WRONG_QUOTES = 'must have its quotation marks as RFC 4180 says: around whole cells, and doubled within them'

function requireParser (): Parse {
  const { parse }: { parse: Parse } = requireOptional('CSV', ['csv-parse'])('csv-parse/sync')
  return parse
}

/** Loads `csv-parse`. @throws UsersError `unsupported_media_type` with the command that installs it */
function loaded (load: () => Parse): Parse {
  try {
    return load()
  } catch (cause) {
    const detail = 'Tables need the package csv-parse on the server: npm install csv-parse'
    throw new UsersError('unsupported_media_type', { detail, headers: { accept: 'application/x-ndjson' }, cause })
  }
}

/** Makes the function that gives the cells of a record. It throws UsersError. */
function cellReader (parse: Parse, separator: string): (text: string) => Cell[] {
  const options = { delimiter: separator, record_delimiter: ['\n'], relax_column_count: true }
  // The parser takes five times as long if it has to tell of each cell whether it was quoted.
  const cast = (cell: string, { quoting }: { quoting: boolean }): Cell => cell === '' && !quoting ? undefined : cell
  return (text) => {
    try {
      const [cells = []] = text.includes('""')
        ? parse(text, { ...options, cast })
        : parse(text, options).map((record) => record.map((cell) => cell === '' ? undefined : cell))
      return cells
    } catch {
      throw malformed(WRONG_QUOTES)
    }
  }
}

const pointerTo = (path: readonly string[]): string => path.map(pointerToken).join('')

function columnNamed (name: string, table: readonly Column[]): Column | undefined {
  return table.find((each) => each.name === name) ?? table.find((each) => `fields.${each.name}` === name)
}

/** The columns that a header names. @throws UsersError `validation_failed` */
function headerColumns (cells: readonly Cell[], table: readonly Column[]): Column[] {
  const faults: Fault[] = []
  const columns = cells.flatMap((cell = '', i) => {
    const name = asWritten(cell)
    const column = columnNamed(name, table) ?? columnNamed(name.trim(), table)
    if (column === undefined) {
      const detail = `is not a known member: it is the name of column ${i + 1} of the header`
      faults.push({ pointer: '', code: 'unknown', detail })
      return []
    }
    return [column]
  })
  const paths = columns.map(({ name }) => name)
  for (const [i, { path }] of columns.entries()) {
    if (paths.indexOf(paths[i] ?? '') === i) continue
    faults.push({ pointer: pointerTo(path), code: 'duplicate', detail: 'must be named once in the header' })
  }
  for (const name of ['name', 'email']) {
    if (!paths.includes(name)) faults.push({ pointer: `/${name}`, code: 'required', detail: 'must be in the header' })
  }
  if (faults.length > 0) throw validationFailed(faults)
  return columns
}

/**
 * The value of a cell. What is no JSON stays text: the rules of the member refuse it.
 * @throws UsersError `validation_failed` for JSON that no body may have
 */
function valueOf (cell: string, { kind, path }: Column): unknown {
  const text = asWritten(cell)
  if (kind !== null) return parseParameter(text, { schema: { type: kind }, problem: () => null })
  try {
    return parseJsonText(text, pointerTo(path))
  } catch (thrown) {
    const error = toUsersError(thrown)
    if (error.code === 'malformed_json') return text
    throw error
  }
}

/**
 * The users of a table in CSV (RFC 4180), whose first line names the columns. Their names are those of an export;
 * `fields.plan` may stand for `plan`. A cell without anything is a member that is not there.
 * @throws UsersError `validation_failed` for a header that does not fit, before anything is given
 */
export async function * csvRows (
  chunks: Chunks,
  table: readonly Column[],
  load: () => Parse = requireParser
): AsyncGenerator<SourceRow[], void, undefined> {
  const parse = loaded(load)
  let columns: Column[] | null = null
  let cellsOf = cellReader(parse, ',')

  function readHeader ({ bytes }: ByteRecord): Column[] {
    if (bytes === null) throw malformed(`must begin with a header of at most ${IMPORT_LINE_MAX / 1024} KiB`)
    if (!isUtf8(bytes)) throw malformed(`${NOT_UTF8}, the header too`)
    const text = bytes.toString('utf8')
    cellsOf = cellReader(parse, separatorOf(text))
    return headerColumns(cellsOf(text), table)
  }

  function userOf (cells: readonly Cell[], names: readonly Column[]): Record<string, unknown> {
    if (cells.length !== names.length) {
      throw malformed(`must have ${names.length} cells, as the header, and has ${cells.length}`)
    }
    const user: Record<string, unknown> = {}
    for (const [i, column] of names.entries()) {
      const cell = cells[i]
      if (cell !== undefined) setAt(user, column.path, valueOf(cell, column))
    }
    return user
  }

  function rowOf ({ line, bytes }: ByteRecord, names: readonly Column[]): SourceRow {
    if (bytes === null) return { line, error: lineTooLong() }
    try {
      if (!isUtf8(bytes)) throw malformed(NOT_UTF8)
      return { line, value: userOf(cellsOf(bytes.toString('utf8')), names) }
    } catch (error) {
      return { line, error: toUsersError(error) }
    }
  }

  for await (const records of byteRecords(chunks, tableEnds(), IMPORT_LINE_MAX)) {
    const rows: SourceRow[] = []
    for (const record of records) {
      if (columns === null) columns = readHeader(record)
      else rows.push(rowOf(record, columns))
    }
    if (rows.length > 0) yield rows
  }
  if (columns === null) throw malformed('must begin with a header that names the columns')
}
