import type { Call } from '../core/context.ts'
import type { Fault } from '../core/fault.ts'
import { IMPORT_FORMATS, type ImportFormat, type ImportSettings } from './import-settings.ts'
import type { ImportSummary, OpenImport } from './import.ts'
import type { ImportResult } from './import-run.ts'

/** Users, or the bytes of a file if the option `format` is set. */
export type ImportSource = AsyncIterable<unknown> | Iterable<unknown>

/** Options of an import in process. */
export interface ImportOptions extends ImportSettings {
  /** The format of the file whose bytes the source yields. If absent, the source yields users. */
  format?: ImportFormat
  /** Called with the result of each row, in the order of the rows. The import awaits it and ignores what it returns. */
  onResult?: (result: ImportResult) => unknown
}

function isIterable (source: unknown): boolean {
  return Object(source)[Symbol.iterator] !== undefined || Object(source)[Symbol.asyncIterator] !== undefined
}

async function * chunksOf (source: ImportSource): AsyncGenerator<Uint8Array | string, void, undefined> {
  for await (const chunk of source) {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) {
      throw new TypeError('fastify-users: import() with a format needs a source of strings or Uint8Arrays')
    }
    yield chunk
  }
}

/**
 * Imports users in process.
 * @throws UsersError, TypeError if `source` is not iterable, and whatever `source` or `onResult` throws
 */
export async function importRows (
  open: OpenImport,
  source: ImportSource,
  { format, onResult, ...settings }: ImportOptions,
  { tenant, context }: Pick<Call, 'tenant' | 'context'>
): Promise<ImportSummary> {
  const faults: Fault[] = []
  if (format !== undefined && !IMPORT_FORMATS.includes(format)) {
    faults.push({ parameter: 'format', code: 'choice', detail: `must be ${IMPORT_FORMATS.join(' or ')}` })
  }
  if (onResult !== undefined && typeof onResult !== 'function') {
    faults.push({ parameter: 'onResult', code: 'type', detail: 'must be a function' })
  }
  // Their parts would be characters and numbers.
  if (typeof source === 'string' || source instanceof Uint8Array) {
    throw new TypeError('fastify-users: import() takes no text: for a file pass createReadStream(path) and its ' +
      'format, and for a text in memory [text] and its format')
  }
  if (!isIterable(source)) {
    throw new TypeError('fastify-users: import() takes an iterable of users, or with a format the chunks of a file')
  }
  const { summary, results, fileRows, valueRows } = await open(settings, { priorFaults: faults, tenant })
  const rows = format === undefined ? valueRows(source) : fileRows(chunksOf(source), format)
  for await (const part of results(rows, context)) {
    if (onResult === undefined) continue
    for (const result of part) await onResult(result)
  }
  return summary
}

/** The formats of import files by media type. Browsers on Windows send CSV as `application/vnd.ms-excel`. */
export const IMPORT_TYPES: ReadonlyMap<string, 'ndjson' | 'csv'> = new Map([
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  ['application/x-jsonlines', 'ndjson'],
  ['text/csv', 'csv'],
  ['application/csv', 'csv'],
  ['application/vnd.ms-excel', 'csv']
])
