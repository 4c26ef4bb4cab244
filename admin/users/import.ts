import type { Client } from '../api/client.ts'
import { ApiError } from '../api/error.ts'
import { isObject, type Json } from '../api/types.ts'

/** As many refused lines are named; further ones are counted. */
const NAMED = 100

export type OnConflict = 'fail' | 'skip' | 'update'

/** What became of the lines of a file, or what would. */
export interface Imported {
  counts: Readonly<Record<'created' | 'updated' | 'skipped' | 'refused', number>>
  refused: ReadonlyArray<{ line: number, error: ApiError }>
}

/** The type of a file: a table, unless its name says that it has a line of JSON for each user. */
function typeOf (name: string): string {
  return /\.(?:ndjson|jsonl|json)$/i.test(name) ? 'application/x-ndjson' : 'text/csv'
}

function readLine (text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Sends a file of users. `isDry`: nothing is written, and the answer is what a real run would give. */
export async function importFile (
  client: Client,
  file: File,
  { onConflict, isDry, signal }: { onConflict: OnConflict, isDry: boolean, signal: AbortSignal }
): Promise<Imported> {
  const query = new URLSearchParams({ onConflict, dryRun: String(isDry), maxRefused: String(NAMED) })
  const text = await client.upload(`/users/import?${query.toString()}`, { file, type: typeOf(file.name), signal })
  const lines = text.split('\n').filter((line) => line !== '').map(readLine).filter(isObject)
  const { summary } = lines[lines.length - 1] ?? {}
  // The answer was cut off, and so was the import.
  if (!isObject(summary)) throw new ApiError(0, undefined, null)
  return {
    counts: {
      created: Number(summary['created']),
      updated: Number(summary['updated']),
      skipped: Number(summary['skipped']),
      refused: Number(summary['refused'])
    },
    refused: lines.flatMap(({ line, problem }) =>
      typeof line === 'number' && isObject(problem)
        ? [{ line, error: new ApiError(Number(problem['status']), problem, null) }]
        : [])
  }
}
