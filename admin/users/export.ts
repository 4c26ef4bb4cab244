import { harmless } from '../../lib/transfer/formula.ts'
import type { Client } from '../api/client.ts'
import { isObject, type Json, type Listed, type Schema, type User } from '../api/types.ts'
import { kindOf } from '../form/kinds.ts'

export type Format = 'csv' | 'ndjson'

/** The columns of a user as CSV: a member of an object has a dotted name. */
function csvColumns (properties: Readonly<Record<string, Schema>>, path: readonly string[] = []): string[][] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const kind = kindOf(schema)
    return kind.is === 'object' ? csvColumns(kind.properties, [...path, name]) : [[...path, name]]
  })
}

function memberAt (user: User, path: readonly string[]): Json | undefined {
  let value: Json | undefined = user
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  return value
}

/** A cell of CSV (RFC 4180), as the server's own exports have it. */
function csvCell (value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  if (value === '') return '""'
  const safe = harmless(typeof value === 'object' ? JSON.stringify(value) : String(value))
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Writes users in a format. `head` comes before the first. */
export function createWriter (
  format: Format,
  properties: Readonly<Record<string, Schema>>
): { head: string, line: (user: User) => string } {
  if (format === 'ndjson') return { head: '', line: (user) => `${JSON.stringify(user)}\n` }
  const columns = [['id'], ['name'], ['email'], ...csvColumns(properties), ['createdAt'], ['updatedAt']]
  return {
    // With a mark, since spreadsheets would not read UTF-8 without one.
    head: `\uFEFF${columns.map((path) => csvCell(path.join('.'))).join(',')}\r\n`,
    line: (user) => `${columns.map((path) => csvCell(memberAt(user, path))).join(',')}\r\n`
  }
}

/**
 * All users that match, in the order of their creation: each that is there during the whole walk comes exactly once
 * (the API's walk by `after`).
 */
export async function * walk (
  client: Client,
  filter: Readonly<Record<string, string>>,
  limit: number,
  signal: AbortSignal
): AsyncGenerator<User[]> {
  let last: string | null = null
  for (;;) {
    const query: URLSearchParams = new URLSearchParams({ ...filter, limit: String(limit) })
    if (last !== null) query.set('after', last)
    const answer = await client.get<Listed<User>>(`/users?${query.toString()}`, { signal, isPatient: true })
    const data: User[] = answer.body.data
    if (data.length > 0) yield data
    if (data.length < limit) return
    last = data[data.length - 1]?.id ?? null
  }
}
