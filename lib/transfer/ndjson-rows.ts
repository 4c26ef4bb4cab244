import { isUtf8 } from 'node:buffer'
import { UsersError } from '../core/errors.ts'
import { IMPORT_LINE_MAX } from '../core/limits.ts'
import { parseJsonText } from '../core/strict-json.ts'
import { toUsersError } from '../storage/storage-errors.ts'
import { type ByteRecord, byteRecords, type Chunks } from './byte-records.ts'
import { findLineEnd } from './record-search.ts'
import { encodingFaults, lineTooLong, type SourceRow } from './source-row.ts'

/** True for a line without anything but white space. */
const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => byte === 32 || byte === 9)

/** The values of lines of JSON (NDJSON). Lines without any are left out. */
export async function * ndjsonRows (chunks: Chunks): AsyncGenerator<SourceRow[], void, undefined> {
  const notUtf8 = encodingFaults((what) =>
    new UsersError('malformed_json', { detail: `The line is not text in UTF-8: ${what}.` }))

  function rowOf ({ line, bytes }: ByteRecord): SourceRow {
    if (bytes === null) return { line, error: lineTooLong() }
    if (!isUtf8(bytes)) return notUtf8(line)
    try {
      return { line, value: parseJsonText(bytes.toString('utf8')) }
    } catch (thrown) {
      const error = toUsersError(thrown)
      if (error.code !== 'malformed_json') return { line, error }
      return { line, error: new UsersError('malformed_json', { detail: 'The line is not well-formed JSON.' }) }
    }
  }

  for await (const records of byteRecords(chunks, findLineEnd, IMPORT_LINE_MAX)) {
    yield records.filter(({ bytes }) => bytes === null || !isBlank(bytes)).map(rowOf)
  }
}
