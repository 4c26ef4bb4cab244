// How many users there are: of each tenant, and in ranges of ids, so that pages far from the first one have a flat
// cost. Both are kept in the step that writes users. A range is divided when a page has found it large.

import { COLLATION, type Tables } from './tables.ts'
import { listOf, partsOf, type Query, type Row, type Sql, sqlOf } from './sql.ts'
import type { Row as StoredRow, Unit } from '../../../lib/storage/storage.ts'

/** A change of the number of users. `scope`: a tenant, or empty for all. */
interface CountChange { scope: string, id: string, by: number }

/** Users before a page that are counted in blocks, not passed one by one. */
export const FAR = 500

const BLOCK = 1000
const DIVIDED_MAX = 100_000
// Above every id.
const END = '~'

const is = (column: string, value: string): string => `${column} = ${value} COLLATE ${COLLATION}`

/** Adds changes to the blocks. They are in a statement that writes, so they see what others have committed. */
async function addToBlocks (query: Query, { of }: Tables, changes: readonly CountChange[]): Promise<void> {
  const blocks = of('blocks')
  const scopes = [...new Set(changes.map(({ scope }) => scope))]
  if (scopes.length === 0) return
  await query(`INSERT INTO ${blocks} (scope, first_id, users) VALUES ${scopes.map(() => "(?, '', 0)").join(', ')} ` +
    'ON DUPLICATE KEY UPDATE users = users', scopes)
  for (const part of partsOf(changes, ({ scope, id }) => [scope, id])) {
    const rows = part.map((_, i) => i === 0 ? 'SELECT ? AS scope, ? AS id, ? AS users' : 'SELECT ?, ?, ?')
    await query(`UPDATE ${blocks} AS b JOIN (SELECT scope, first_id, sum(users) AS users FROM (
        SELECT q.scope, q.users, (SELECT max(k.first_id) FROM ${blocks} AS k
            WHERE ${is('k.scope', 'q.scope')} AND k.first_id <= q.id COLLATE ${COLLATION}) AS first_id
          FROM (${rows.join(' UNION ALL ')}) AS q) AS found GROUP BY scope, first_id) AS c
      ON ${is('b.scope', 'c.scope')} AND ${is('b.first_id', 'c.first_id')} SET b.users = b.users + c.users`,
    part.flatMap(({ scope, id, by }) => [scope, id, by]))
  }
}

/** Counts the users that units add to tenants, or take from them. */
export async function count (query: Query, tables: Tables, units: readonly Unit[]): Promise<void> {
  const counts = new Map<string, number>()
  const inBlocks = new Map<string, CountChange>()
  const add = (row: StoredRow<'users'> | null, by: number): void => {
    if (row === null) return
    const { id, tenant = '' } = row.record
    counts.set(tenant, (counts.get(tenant) ?? 0) + by)
    for (const scope of new Set(['', tenant])) {
      const key = `${scope} ${id}`
      inBlocks.set(key, { scope, id, by: by + (inBlocks.get(key)?.by ?? 0) })
    }
  }
  for (const write of units.flatMap(({ writes }) => writes)) {
    if (write.in !== 'users') continue
    add(write.put, 1)
    add(write.was, -1)
  }
  await addToBlocks(query, tables, [...inBlocks.values()].filter(({ by }) => by !== 0))
  const changes = [...counts].filter(([, users]) => users !== 0)
  if (changes.length === 0) return
  const { sql, values } = listOf(changes)
  await query(`INSERT INTO ${tables.of('userCounts')} (tenant, users) VALUES ${sql} ` +
    'ON DUPLICATE KEY UPDATE users = users + VALUES(users)', values)
}

/** The block that has the user at a place, and how many users are before it. */
export async function blockAt (
  query: Query, { of }: Tables, scope: string, place: number
): Promise<{ firstId: string, before: number, users: number }> {
  const { rows: [row] } = await query(`SELECT first_id, users, before_it FROM (
      SELECT first_id, users, sum(users) OVER (ORDER BY first_id) - users AS before_it
      FROM ${of('blocks')} WHERE scope = ?) AS b
    WHERE before_it <= ? ORDER BY first_id DESC LIMIT 1`, [scope, place])
  return {
    firstId: String(row?.['first_id'] ?? ''),
    before: Number(row?.['before_it'] ?? 0),
    users: Number(row?.['users'] ?? 0)
  }
}

export const isLarge = ({ users }: { users: number }): boolean => users > 2 * BLOCK

const ofScope = (scope: string): Sql => scope === '' ? sqlOf('1 = 1') : sqlOf('tenant = ?', scope)

/** Divides a block, as the writer whose turn it is. */
export async function divide (query: Query, { of }: Tables, scope: string, firstId: string): Promise<void> {
  const blocks = of('blocks')
  const { rows: [block, next] } = await query(`SELECT first_id, users FROM ${blocks} ` +
    'WHERE scope = ? AND first_id >= ? ORDER BY first_id LIMIT 2 FOR UPDATE', [scope, firstId])
  const users = Number(block?.['users'])
  if (block === undefined || block['first_id'] !== firstId || !isLarge({ users })) return
  const { sql, values } = ofScope(scope)
  const { rows } = await query(`SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM (
      SELECT id FROM ${of('users')} WHERE ${sql} AND id >= ? AND id < ? ORDER BY id LIMIT ?) AS some) AS numbered
    WHERE n % ? = 1 AND n > 1 ORDER BY n`, [...values, firstId, String(next?.['first_id'] ?? END), DIVIDED_MAX, BLOCK])
  const firsts = rows.map((row: Row) => String(row['id']))
  if (firsts.length === 0) return
  await query(`UPDATE ${blocks} SET users = ? WHERE scope = ? AND first_id = ?`, [BLOCK, scope, firstId])
  const rest = users - BLOCK * firsts.length
  await query(`INSERT INTO ${blocks} (scope, first_id, users) VALUES ${firsts.map(() => '(?, ?, ?)').join(', ')}`,
    firsts.flatMap((id, i) => [scope, id, i === firsts.length - 1 ? rest : BLOCK]))
}

/** Counts all users again, in one block for each scope. */
export async function recount (query: Query, { of }: Tables): Promise<void> {
  await query(`DELETE FROM ${of('blocks')}`)
  await query(`INSERT INTO ${of('blocks')} (scope, first_id, users) SELECT '', '', count(*) FROM ${of('users')}
    UNION ALL SELECT tenant, '', count(*) FROM ${of('users')} WHERE tenant <> '' GROUP BY tenant`)
}

/** A query of how many blocks have a wrong number. */
export const wrongBlocks = ({ of }: Tables): string => `SELECT count(*) FROM (
    SELECT scope, first_id, users,
      coalesce(lead(first_id) OVER (PARTITION BY scope ORDER BY first_id), '${END}') AS next
    FROM ${of('blocks')}) AS b
  WHERE b.users <> (SELECT count(*) FROM ${of('users')} AS u
    WHERE u.id >= b.first_id AND u.id < b.next AND (b.scope = '' OR u.tenant = b.scope))`
