import { UsersError, validationFailed } from '../core/errors.ts'
import type { Chunks } from './byte-records.ts'
import type { Column } from './columns.ts'
import { csvRows } from './csv-rows.ts'
import { type FileNames, renaming } from './file-names.ts'
import { ndjsonRows } from './ndjson-rows.ts'
import type { ImportFormat } from './import-settings.ts'
import type { SourceRow, SourceRows } from './source-row.ts'

async function * mappedRows (
  rows: SourceRows,
  map: (row: SourceRow) => SourceRow
): AsyncGenerator<SourceRow[], void, undefined> {
  for await (const part of rows) yield part.map(map)
}

/** The rows, with their members renamed to those of users. */
export function renamedRows (rows: SourceRows, table: readonly Column[], names: FileNames): SourceRows {
  if (names.entries.length === 0 && !names.ignoreUnknown) return rows
  const rename = renaming(table, names)
  return mappedRows(rows, (row) => {
    if ('error' in row) return row
    try {
      return { line: row.line, value: rename(row.value) }
    } catch (error) {
      if (error instanceof UsersError) return { line: row.line, error }
      // A getter of the caller's object threw. The check of the row will refuse the row.
      return row
    }
  })
}

/** The rows of a file. */
export function fileRows (
  chunks: Chunks,
  format: ImportFormat,
  table: readonly Column[],
  names: FileNames
): SourceRows {
  return format === 'csv'
    ? csvRows(withoutWorkbooks(chunks), table, names)
    : renamedRows(ndjsonRows(chunks), table, names)
}

// The first bytes of spreadsheet files: a ZIP archive of XML, and the older binary format.
const SIGNATURES = [Buffer.from('PK\x03\x04', 'latin1'), Buffer.from('d0cf11e0a1b11ae1', 'hex')]
const LENGTH_MAX = 8

/** Passes chunks on. @throws UsersError `validation_failed` for a workbook, which clients may mistake for CSV */
export async function * withoutWorkbooks (chunks: Chunks): AsyncGenerator<Uint8Array | string, void, undefined> {
  let head: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    if (head.length < LENGTH_MAX) {
      head = Buffer.concat([head, Buffer.from(chunk.slice(0, LENGTH_MAX))])
      if (SIGNATURES.some((signature) => head.subarray(0, signature.length).equals(signature))) {
        const detail = 'must be a CSV table, but is a workbook of a spreadsheet program: save it as CSV'
        throw validationFailed([{ pointer: '', code: 'format', detail }])
      }
    }
    yield chunk
  }
}
