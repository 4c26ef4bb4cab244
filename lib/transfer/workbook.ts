import { validationFailed } from '../core/errors.ts'
import type { Chunks } from './byte-records.ts'

// How files of spreadsheet programs begin: an archive of XML, and the older form.
const SIGNATURES = [Buffer.from('PK\x03\x04', 'latin1'), Buffer.from('d0cf11e0a1b11ae1', 'hex')]
const LENGTH_MAX = 8

/** Gives what it gets. @throws UsersError `validation_failed` for a workbook, which clients may take for a table */
export async function * withoutWorkbooks (chunks: Chunks): AsyncGenerator<Uint8Array | string, void, undefined> {
  let head: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    if (head.length < LENGTH_MAX) {
      head = Buffer.concat([head, Buffer.from(chunk.slice(0, LENGTH_MAX))])
      if (SIGNATURES.some((signature) => head.subarray(0, signature.length).equals(signature))) {
        const detail = 'must be a table in CSV, and is a workbook of a spreadsheet program: save it as CSV'
        throw validationFailed([{ pointer: '', code: 'format', detail }])
      }
    }
    yield chunk
  }
}
