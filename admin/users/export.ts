import type { Client } from '../api/client.ts'
import { ApiError } from '../api/error.ts'
import type { User } from '../api/types.ts'
import type { Selected } from './bulk.ts'

export type Format = 'csv' | 'ndjson'

const LINE_FEED = 10
const QUOTE = 34

/** Makes the function that takes the bytes of a file one after the other, and says how many users they have so far. */
export function recordCounter (format: Format): (bytes: Uint8Array) => number {
  // A table has a header.
  let lines = format === 'csv' ? -1 : 0
  let isQuoted = false
  return (bytes) => {
    for (const byte of bytes) {
      if (byte === QUOTE && format === 'csv') isQuoted = !isQuoted
      else if (byte === LINE_FEED && !isQuoted) lines++
    }
    return Math.max(0, lines)
  }
}

/** The server's export of all users that match, as its bytes come. */
export async function * exported (
  client: Client,
  filter: Readonly<Record<string, string>>,
  format: Format,
  signal: AbortSignal
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const query = new URLSearchParams({ ...filter, format })
  const bytes = await client.stream(`/users/export?${query.toString()}`, { signal, isPatient: true })
  const reader = bytes.getReader()
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      // The server breaks off an export that it can't complete.
      throw signal.aborted ? error : new ApiError(0, undefined, null)
    })
    if (done) return
    yield value
  }
}

/** The users of an export as lines of JSON, as far as a selection needs to know of them. */
export async function readSelected (bytes: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<Selected[]> {
  const decoder = new TextDecoder()
  const users: Selected[] = []
  let rest = ''
  for await (const part of bytes) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const { id, name, status, version }: User = JSON.parse(line)
      users.push({ id, name, status, version })
    }
  }
  return users
}
