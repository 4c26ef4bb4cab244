import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import type { Storage } from '../lib/storage/storage.ts'
import type { ImportFormat } from '../lib/transfer/import-settings.ts'
import type { ImportResult } from '../lib/transfer/import-run.ts'
import type { Import } from '../lib/transfer/import.ts'
import { Refusal, UsageError } from './failure.ts'
import { fieldsOfOptions, type ImportingOptions, importUsers } from './importing.ts'
import type { Output } from './output.ts'
import { createRefusals } from './refusals.ts'

// Excel saves "Unicode text" as *.txt.
const TABLE = /^\.(?:csv|tsv|txt)$/i

/** Options of an import. */
export interface ImportOptions extends ImportingOptions {
  format?: ImportFormat
}

/** The bytes of a file or of standard input. `onRead` gets their number. */
async function * bytesOf (
  stream: Readable,
  onRead: (length: number) => void
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of stream) {
      onRead(chunk.length)
      yield chunk
    }
  } catch (error) {
    const { code, syscall } = Object(error)
    const problem = `the file cannot be read (${code})`
    throw syscall === 'open' ? new UsageError(problem) : new Refusal(problem)
  }
}

const isMalformed = (result: ImportResult): boolean =>
  result.status === 'refused' && result.problem.code === 'malformed_json'

/** Imports users from a file, or from standard input if its path is `-`. @throws UsageError, Refusal, UsersError */
export async function importFile (
  storage: Storage,
  output: Output,
  path: string,
  { format, ...options }: ImportOptions
): Promise<void> {
  const fields = await fieldsOfOptions(storage, options)
  const found = path === '-' ? null : await stat(path).catch(() => null)
  if (path !== '-' && found === null) throw new UsageError('there is no file at this path; - is standard input')
  if (found?.isDirectory() === true) throw new UsageError('this is a directory: name a file; - is standard input')
  // A pipe has no size.
  const size = found?.isFile() === true ? found.size : 0
  let read = 0
  const stream = path === '-' ? process.stdin : createReadStream(path)
  const bytes = bytesOf(stream, (length) => { read += length })
  const rows = ({ fileRows }: Import) => fileRows(bytes, format ?? (TABLE.test(extname(path)) ? 'csv' : 'ndjson'))
  const part = (): number | null => size === 0 ? null : Math.min(1, read / size)
  const called = (line: number): string => `line ${line}`
  // Thousands of lines with one reason hide the others. Programs get each line.
  const isGrouped = !output.json && options.maxRefused === undefined && (options.report ?? 'groups') === 'groups'
  const refusals = createRefusals()
  let users = 0
  let looksLikeTable = false
  try {
    await importUsers(storage, output, isGrouped ? { ...options, report: 'groups' } : options, {
      fields,
      called,
      rows,
      part,
      // What an update would change is as it should be already.
      goesOn: `To go on, run it again with --on-conflict ${options.onConflict === 'update' ? 'update' : 'skip'}.`,
      onResults (results) {
        users += results.length
        looksLikeTable ||= results.some((result) => result.line === 1 && isMalformed(result))
        for (const result of results) if (isGrouped) refusals.add(result, called(result.line))
      }
    })
    if (users === 0) output.note('the file has no users')
  } finally {
    for (const line of refusals.lines()) output.note(line)
    if (looksLikeTable && format === undefined) output.note('If these are the lines of a table, pass --format csv.')
    // A pipe that is still open would keep the process.
    stream.destroy()
  }
}
