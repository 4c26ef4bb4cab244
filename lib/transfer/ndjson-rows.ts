import { UsersError } from '../core/errors.ts'
import { IMPORT_LINE_MAX } from '../core/limits.ts'
import { parseJsonBytes } from '../core/strict-json.ts'
import { toUsersError } from '../core/storage-errors.ts'
import { type ByteRecord, byteRecords, type Chunks } from './byte-records.ts'
import { findLineEnd } from './record-search.ts'
import { lineTooLong, type SourceRow } from './source-row.ts'

/** True for a line without anything but white space. */
const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => byte === 32 || byte === 9)

function rowOf ({ line, bytes }: ByteRecord): SourceRow {
  if (bytes === null) return { line, error: lineTooLong() }
  try {
    return { line, value: parseJsonBytes(bytes) }
  } catch (thrown) {
    const error = toUsersError(thrown)
    if (error.code !== 'malformed_json') return { line, error }
    return { line, error: new UsersError('malformed_json', { detail: 'The line is not well-formed JSON in UTF-8.' }) }
  }
}

/** The values of lines of JSON (NDJSON). Lines without any are left out. */
export async function * ndjsonRows (chunks: Chunks): AsyncGenerator<SourceRow[], void, undefined> {
  for await (const records of byteRecords(chunks, findLineEnd, IMPORT_LINE_MAX)) {
    yield records.filter(({ bytes }) => bytes === null || !isBlank(bytes)).map(rowOf)
  }
}
