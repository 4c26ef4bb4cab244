import type { UserChanges, VersionGuard } from '../../lib/storage.ts'
import type { Dialect } from './dialect.ts'
import type { Param, Statement } from './drivers.ts'

/** The conditions of a guard, each of which is worth its look only where it asks for something. */
export function guardedBy (dialect: Dialect, { ifVersion, unlessVersion }: VersionGuard, place: (value: Param) => number): string[] {
  return [
    ...(ifVersion === null ? [] : [dialect.in('version', place(ifVersion), 'bigint')]),
    ...(unlessVersion.length === 0 ? [] : [`NOT ${dialect.in('version', place(unlessVersion), 'bigint')}`])
  ]
}

/**
 * Builds the update that sets these values where one of them is another; null where there are none. It names just the columns that it sets: SQLite writes the indexes
 * of every column that an update names, changed or not, and each look at a guard is a table of its own (a PATCH of the name: 40 became 30 µs).
 */
export function updateOf (dialect: Dialect, table: string, returned: string, id: string, { name, email, fields }: UserChanges, updatedAt: string, guard: VersionGuard): Statement | null {
  const params: Param[] = [id, updatedAt]
  const place = (value: Param): number => params.push(value)
  const set: string[] = []
  const differs: string[] = []
  for (const [column, change] of [['name', name], ['email', email]] as const) {
    if (change === undefined) continue
    const value = dialect.p(place(change.value))
    set.push(`${column} = ${value}, ${column}_key = ${dialect.p(place(change.key))}`)
    differs.push(`${column} <> ${value}`)
  }
  if (fields !== undefined) {
    const value = `CAST(${dialect.p(place(JSON.stringify(fields)))} AS ${dialect.jsonType})`
    const text = dialect.read.json.alone
    set.push(`fields = ${value}`)
    differs.push(`${text('fields')} <> ${text(value)}`)
  }
  if (set.length === 0) return null
  const conditions = [`id = ${dialect.p(1)}`, `(${differs.join(' OR ')})`, ...guardedBy(dialect, guard, place)]
  return { sql: `UPDATE ${table} SET ${set.join(', ')}, version = version + 1, updated_at = ${dialect.p(2)} WHERE ${conditions.join(' AND ')} RETURNING ${returned}`, params }
}
