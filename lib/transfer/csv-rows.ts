import { isUtf8 } from 'node:buffer'
import { type UsersError, validationFailed } from '../core/errors.ts'
import { IMPORT_LINE_MAX } from '../core/limits.ts'
import { toUsersError } from '../storage/storage-errors.ts'
import { type ByteRecord, byteRecords, type Chunks } from './byte-records.ts'
import type { Column } from './columns.ts'
import { type CellSource, readHeader } from './csv-header.ts'
import { createLineBound, type FileNames, joined, setAt } from './file-names.ts'
import { unescapeFormulas } from './csv.ts'
import { encodingFaults, lineTooLong, SAVE_AS_UTF8, type SourceRow } from './source-row.ts'
import { isBlankRow, namedSeparator, separatorOf, tableEnds } from './table-ends.ts'
import { jsonOf, valueOfText } from './values.ts'

const ITS_OWN_NAMES: FileNames = { entries: [], ignoreUnknown: false }

function malformed (detail: string): UsersError {
  return validationFailed([{ pointer: '', code: 'format', detail }])
}

// A CR alone is no line break: a file that has only those would be one long header.
const LINE_ENDS = 'its lines must end with LF or CR LF'

/** What is wrong with the text of a record that has no cells. */
function wrongCells (text: string): UsersError {
  return malformed(text.replaceAll(/"[^"]*"/g, '').includes('\r')
    ? `must not have a CR outside of quotation marks: ${LINE_ENDS}`
    : 'must use quotation marks as in RFC 4180: around whole cells, and doubled inside them')
}

const textOf = (cell: Cell): string => unescapeFormulas(cell === null ? 'null' : cell ?? '')

/** The value of a cell that is there. @throws UsersError `validation_failed` for JSON that no body may have */
function valueOf (text: string, { column: { types, isJson }, pointer }: CellSource): unknown {
  // Where it may be a text, that is a text: an export has it in quotation marks.
  if (text === 'null' && types.has('null') && !types.has('string')) return null
  return isJson ? jsonOf(text, pointer) : valueOfText(text, types, pointer)
}

/**
 * The user of a row: a cell without anything is a member that is not there.
 * @throws UsersError `body_too_large`, `validation_failed`
 */
function userOf (cells: readonly Cell[], sources: readonly CellSource[]): Record<string, unknown> {
  const user: Record<string, unknown> = {}
  const bounded = createLineBound()
  for (const source of sources) {
    const { column: { path, types }, places } = source
    const [first = 0, ...others] = places
    const cell = cells[first]
    if (others.length > 0) {
      const text = joined(places.map((place) => cells[place] === null ? '' : textOf(cells[place])))
      if (text !== undefined) setAt(user, path, valueOf(bounded(String(text)), source))
    } else if (cell === null && types.has('null')) setAt(user, path, null)
    else if (cell !== undefined) setAt(user, path, valueOf(bounded(textOf(cell)), source))
  }
  return user
}

/**
 * The users of a table in CSV (RFC 4180), or as spreadsheets write it, whose first line names the columns.
 * @throws UsersError `validation_failed` for a header that does not fit, before anything is given
 */
export async function * csvRows (
  chunks: Chunks,
  table: readonly Column[],
  names = ITS_OWN_NAMES
): AsyncGenerator<SourceRow[], void, undefined> {
  const notUtf8 = encodingFaults((what) => malformed(`must be text in UTF-8: ${what}`))
  let separator: string | null = null
  let width = 0
  let cellsOf = cellReader(',')
  let sources: CellSource[] | null = null

  /** The cells of a record, without empty ones behind the last column. @throws UsersError */
  function read (text: string): Cell[] {
    const cells = cellsOf(text)
    if (cells === null) throw wrongCells(text)
    while (cells.length > width && cells.at(-1) === undefined) cells.pop()
    return cells
  }

  /** Reads the header, or a line before it. @throws UsersError */
  function begin ({ bytes }: ByteRecord): void {
    if (bytes === null) {
      throw malformed(`must begin with a header of at most ${IMPORT_LINE_MAX / 1024} KiB; ${LINE_ENDS}`)
    }
    if (!isUtf8(bytes)) throw malformed(`must be text in UTF-8, the header too: ${SAVE_AS_UTF8}`)
    const text = bytes.toString('utf8')
    if (isBlankRow(text)) return
    const named = separator === null ? namedSeparator(text) : null
    separator ??= named ?? separatorOf(text)
    cellsOf = cellReader(separator)
    if (named !== null) return
    const cells = read(text)
    width = cells.length
    sources = readHeader(cells.map(textOf), table, names)
  }

  function rowOf ({ line, bytes }: ByteRecord, from: readonly CellSource[]): SourceRow[] {
    if (bytes === null) return [{ line, error: lineTooLong() }]
    if (!isUtf8(bytes)) return [notUtf8(line)]
    try {
      const cells = read(bytes.toString('utf8'))
      if (cells.every((cell) => cell === undefined)) return []
      if (cells.length === width) return [{ line, value: userOf(cells, from) }]
      throw malformed(`must have ${width} cells, like the header, but has ${cells.length}`)
    } catch (error) {
      return [{ line, error: toUsersError(error) }]
    }
  }

  for await (const records of byteRecords(chunks, tableEnds(), IMPORT_LINE_MAX)) {
    const rows: SourceRow[] = []
    for (const record of records) {
      if (sources === null) begin(record)
      else rows.push(...rowOf(record, sources))
    }
    if (rows.length > 0) yield rows
  }
  if (sources === null) throw malformed('must begin with a header that names the columns')
}

/** A cell: its text, null for the bare word `null`, undefined for nothing, not even quotation marks. */
export type Cell = string | null | undefined

/** Makes the function that gives the cells of a record (RFC 4180); null if its quotation marks are wrong. */
export function cellReader (separator: string): (record: string) => Cell[] | null {
  const between = `\\u${separator.charCodeAt(0).toString(16).padStart(4, '0')}`
  const pattern = new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^"\\r${between}]*))(?:${between}|($))`, 'y')
  return (record) => {
    const cells: Cell[] = []
    pattern.lastIndex = 0
    for (;;) {
      const match = pattern.exec(record)
      if (match === null) return null
      const [, quoted, bare, end] = match
      if (quoted !== undefined) cells.push(quoted.includes('"') ? quoted.replaceAll('""', '"') : quoted)
      else cells.push(bare === '' ? undefined : bare === 'null' ? null : bare)
      if (end !== undefined) return cells
    }
  }
}
