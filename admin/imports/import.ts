import { type Client, linesOf } from '../api/client.ts'
import { ClientError, errorOf } from '../../client/error.ts'
import { isObject, type Json, type JsonObject, type User } from '../api/types.ts'

/** As many refused lines are named; further ones are counted. */
const NAMED = 10_000

export type OnConflict = 'fail' | 'skip' | 'update'

/** What became of the lines of a file, or what would. */
export interface Imported {
  counts: Readonly<Record<'created' | 'updated' | 'skipped' | 'refused', number>>
  refused: ReadonlyArray<{ line: number, error: ClientError }>
  /** Those that were created. */
  created: ReadonlyArray<Pick<User, 'id' | 'version'>>
}

export interface ImportSettings {
  onConflict: OnConflict
  /** Nothing is written, and the answer is what a real run would give. */
  isDry: boolean
  /** Where members come from, as the API writes it; others are ignored. null: from the columns of their names. */
  map: string | null
  signal: AbortSignal
  /** Called with the number of lines that the server has answered to. */
  onProgress: (lines: number) => void
}

/** True unless the name of a file says that it has a line of JSON for each user. */
export const isTable = (name: string): boolean => !/\.(?:ndjson|jsonl|json)$/i.test(name)

function readLine (text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Sends a file of users. */
export async function importFile (
  client: Client,
  file: File,
  { onConflict, isDry, map, signal, onProgress }: ImportSettings
): Promise<Imported> {
  const query = new URLSearchParams({
    onConflict,
    dryRun: String(isDry),
    maxRefused: String(NAMED),
    // The ids, so that it can be undone.
    report: isDry ? 'faults' : 'all',
    ...map !== null && { ...map !== '' && { map }, ignoreUnknown: 'true' }
  })
  const type = isTable(file.name) ? 'text/csv' : 'application/x-ndjson'
  const headers = { 'content-type': type }
  const answer = await client.open('POST', `/users/import?${query.toString()}`, { content: file, headers, signal })
  const lines: JsonObject[] = []
  for await (const texts of linesOf(answer, signal)) {
    lines.push(...texts.filter((text) => text !== '').map(readLine).filter(isObject))
    onProgress(lines.length)
  }
  const { summary } = lines[lines.length - 1] ?? {}
  // The answer was cut off, and so was the import; or the server closed, and the import stopped.
  if (!isObject(summary) || summary['stoppedAfter'] !== undefined) throw new ClientError('network')
  return {
    counts: {
      created: Number(summary['created']),
      updated: Number(summary['updated']),
      skipped: Number(summary['skipped']),
      refused: Number(summary['refused'])
    },
    refused: lines.flatMap(({ line, problem }) =>
      typeof line === 'number' && isObject(problem)
        ? [{ line, error: errorOf(Number(problem['status']), problem, null) }]
        : []),
    created: lines.flatMap(({ status, id, version }) =>
      status === 'created' && typeof id === 'string' ? [{ id, version: Number(version) }] : [])
  }
}
