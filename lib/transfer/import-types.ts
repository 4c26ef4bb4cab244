/** The media types of files to import, and what they have. Browsers on Windows give tables that of a spreadsheet. */
export const IMPORT_TYPES: ReadonlyMap<string, 'ndjson' | 'csv'> = new Map([
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  ['application/x-jsonlines', 'ndjson'],
  ['text/csv', 'csv'],
  ['application/csv', 'csv'],
  ['application/vnd.ms-excel', 'csv']
])
