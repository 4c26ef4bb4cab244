import { bytesOf, type Client, linesIn } from '../api/client.ts'
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
  yield * bytesOf(await client.open('GET', `/users/export?${query.toString()}`, { signal, isPatient: true }), signal)
}

/** The API takes at most this many ids in one request. */
const NAMED_TOGETHER = 100

/** The filters of the requests that export these users. */
export function namedFilters (users: readonly Selected[]): Array<Record<string, string>> {
  const ids = users.map(({ id }) => id)
  return Array.from({ length: Math.ceil(ids.length / NAMED_TOGETHER) }, (_, i) =>
    ({ ids: ids.slice(i * NAMED_TOGETHER, (i + 1) * NAMED_TOGETHER).join() }))
}

/** Several exports as one: a table has its header once. */
export async function * exportedInParts (
  client: Client,
  filters: ReadonlyArray<Readonly<Record<string, string>>>,
  format: Format,
  signal: AbortSignal
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (const [i, filter] of filters.entries()) {
    let isInHeader = i > 0 && format === 'csv'
    for await (const bytes of exported(client, filter, format, signal)) {
      const end = isInHeader ? bytes.indexOf(LINE_FEED) + 1 : 0
      if (end > 0) isInHeader = false
      if (!isInHeader) yield bytes.subarray(end)
    }
  }
}

/** The users of an export as lines of JSON, as far as a selection needs to know of them. */
export async function readSelected (bytes: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<Selected[]> {
  const users: Selected[] = []
  for await (const lines of linesIn(bytes)) {
    for (const line of lines.filter((each) => each !== '')) {
      const { id, name, status, version }: User = JSON.parse(line)
      users.push({ id, name, status, version })
    }
  }
  return users
}
