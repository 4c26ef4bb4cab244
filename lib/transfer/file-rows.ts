import type { Chunks } from './byte-records.ts'
import type { Column } from './columns.ts'
import { csvRows } from './csv-rows.ts'
import { type FileNames, renamed } from './file-names.ts'
import { ndjsonRows } from './ndjson-rows.ts'
import type { SourceRow, SourceRows } from './source-row.ts'

export const IMPORT_FORMATS = ['ndjson', 'csv'] as const
export type ImportFormat = (typeof IMPORT_FORMATS)[number]

function renamedRow (row: SourceRow, table: readonly Column[], names: FileNames): SourceRow {
  if ('error' in row) return row
  try {
    return { line: row.line, value: renamed(row.value, table, names) }
  } catch {
    // A getter of the caller's threw. The check of the row refuses it.
    return row
  }
}

/** Rows whose members have the names that users have. */
export async function * renamedRows (
  rows: SourceRows,
  table: readonly Column[],
  names: FileNames
): AsyncGenerator<SourceRow[], void, undefined> {
  for await (const part of rows) yield part.map((row) => renamedRow(row, table, names))
}

/** The rows of a file. */
export function fileRows (
  chunks: Chunks,
  format: ImportFormat,
  table: readonly Column[],
  names: FileNames
): SourceRows {
  return format === 'csv' ? csvRows(chunks, table, names) : renamedRows(ndjsonRows(chunks), table, names)
}
