import { cellOf } from '../../lib/transfer/cells.ts'
import { tableColumns } from '../../lib/transfer/columns.ts'
import { harmless } from '../../lib/transfer/formula.ts'
import type { Client } from '../api/client.ts'
import { ApiError } from '../api/error.ts'
import type { Capabilities, User } from '../api/types.ts'

export type Format = 'csv' | 'ndjson'

/** A cell of CSV (RFC 4180): nothing is what is not there, so a text without characters is in quotes. */
function csvCell (cell: string | undefined): string {
  if (cell === undefined) return ''
  return cell === '' || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

const csvLine = (cells: ReadonlyArray<string | undefined>): string => `${cells.map(csvCell).join(',')}\r\n`

/**
 * Writes users in a format. `head` comes before the first. Tables have the columns and cells of the server's exports,
 * and are made here, since a server makes them only where `csv-stringify` is installed.
 */
export function createWriter (
  format: Format,
  fields: Capabilities['fields']
): { head: string, line: (user: User) => string } {
  if (format === 'ndjson') return { head: '', line: (user) => `${JSON.stringify(user)}\n` }
  const columns = tableColumns(fields)
  return {
    // With a mark, since spreadsheets would not read UTF-8 without one.
    head: `\uFEFF${csvLine(columns.map(({ name }) => harmless(name)))}`,
    line: (user) => csvLine(columns.map((column) => cellOf(user, column)))
  }
}

function parsedUser (line: string): User {
  try {
    return JSON.parse(line)
  } catch {
    throw new ApiError(200, { code: 'unreadable' }, null)
  }
}

/** All users that match, as they are at one moment, in the order of their creation. */
export async function * exported (
  client: Client,
  filter: Readonly<Record<string, string>>,
  signal: AbortSignal
): AsyncGenerator<User[]> {
  const query = new URLSearchParams({ ...filter, format: 'ndjson' })
  const bytes = await client.stream(`/users/export?${query.toString()}`, { signal, isPatient: true })
  const reader = bytes.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value = '' } = await reader.read().catch((error: unknown) => {
      // The server breaks off an export that it can't complete.
      throw signal.aborted ? error : new ApiError(0, undefined, null)
    })
    if (done) break
    const lines = `${rest}${value}`.split('\n')
    rest = lines.pop() ?? ''
    yield lines.map(parsedUser)
  }
  if (rest !== '') yield [parsedUser(rest)]
}
