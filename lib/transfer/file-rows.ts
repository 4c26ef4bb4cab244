import type { Chunks } from './byte-records.ts'
import type { Column } from './columns.ts'
import { csvRows } from './csv-rows.ts'
import { type FileNames, renaming } from './file-names.ts'
import { ndjsonRows } from './ndjson-rows.ts'
import type { SourceRow, SourceRows } from './source-row.ts'
import { withoutWorkbooks } from './workbook.ts'

export const IMPORT_FORMATS = ['ndjson', 'csv'] as const
export type ImportFormat = (typeof IMPORT_FORMATS)[number]

async function * mappedRows (
  rows: SourceRows,
  map: (row: SourceRow) => SourceRow
): AsyncGenerator<SourceRow[], void, undefined> {
  for await (const part of rows) yield part.map(map)
}

/** Rows whose members have the names that users have. */
export function renamedRows (rows: SourceRows, table: readonly Column[], names: FileNames): SourceRows {
  if (names.entries.length === 0 && !names.ignoreUnknown) return rows
  const rename = renaming(table, names)
  return mappedRows(rows, (row) => {
    if ('error' in row) return row
    try {
      return { line: row.line, value: rename(row.value) }
    } catch {
      // A getter of the caller's threw. The check of the row refuses it.
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
