import { UsersError } from '../core/errors.ts'
import { parseJsonText } from '../core/strict-json.ts'
import { toUsersError } from '../core/storage-errors.ts'
import { type ByteRecord, byteRecords, type Chunks } from './byte-records.ts'
import { findLineEnd } from './record-search.ts'
import { LINE_MAX, lineTooLong, type SourceRow } from './source-row.ts'

const WHITE_SPACE = /^[ \t]*$/

function rowOf ({ line, bytes }: ByteRecord): SourceRow {
  if (bytes === null) return { line, error: lineTooLong() }
  try {
    return { line, value: parseJsonText(bytes) }
  } catch (thrown) {
    const error = toUsersError(thrown)
    if (error.code !== 'malformed_json') return { line, error }
    return { line, error: new UsersError('malformed_json', { detail: 'The line is not well-formed JSON in UTF-8.' }) }
  }
}

/** The values of lines of JSON (NDJSON). Lines without any are left out. */
export async function * ndjsonRows (chunks: Chunks): AsyncGenerator<SourceRow[], void, undefined> {
  for await (const records of byteRecords(chunks, findLineEnd, LINE_MAX)) {
    yield records
      .filter(({ bytes }) => bytes === null || bytes.length > 8 || !WHITE_SPACE.test(bytes.toString('latin1')))
      .map(rowOf)
  }
}
