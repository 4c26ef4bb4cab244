import type { Storage } from '../../lib/storage/storage.ts'
import type { TenantRecord } from '../../lib/storage/storage.ts'
import { isStorable } from '../../lib/core/text.ts'
import type { Reading } from './connection/executor.ts'
import type { Column } from './tables/columns.ts'
import type { Names } from './tables/names.ts'
import { type Row, unpacked } from './tables/rows.ts'

const TENANT_COLUMNS: readonly Column[] = [
  { name: 'id', column: 'tenant', kind: 'plain' }, { name: 'users', column: 'users', kind: 'plain' }
]

const toTenant = ({ id, users }: Row): TenantRecord => ({ id: String(id), users: Number(users) })

/** 1: how many, 2: how many to skip, or the name to go on behind. */
function listSql ({ dialect }: Reading, names: Names): (descending: boolean, after: boolean) => string {
  const { users, apiKeys, changes, state } = names
  const { p, limit, packed } = dialect
  // One step along the index for each name. DISTINCT would read every user.
  const namesIn = (name: string, table: string) => `${name} AS (
      SELECT min(tenant) AS tenant FROM ${table} WHERE tenant <> ''
      UNION ALL SELECT (SELECT min(t.tenant) FROM ${table} AS t WHERE t.tenant > ${name}.tenant AND t.tenant <> '')
        FROM ${name} WHERE ${name}.tenant IS NOT NULL)`
  const found = (name: string) => `SELECT tenant FROM ${name} WHERE tenant IS NOT NULL`
  const all = `WITH RECURSIVE ${namesIn('of_users', users)}, ${namesIn('of_keys', apiKeys)},
    names AS (${found('of_users')} UNION ${found('of_keys')})`
  // As a page of the tenant counts them (docs/exact-counting.md).
  const { byHand } = dialect.counting
  const inBlocks = `(SELECT s.total + coalesce((SELECT sum(c.change) FROM ${changes} AS c
      WHERE c.scope = s.scope AND c.user_id < s.boundary), 0) FROM ${state} AS s WHERE s.scope = names.tenant)`
  const inTail = `(SELECT count(*) FROM ${users} AS u WHERE u.tenant = names.tenant AND u.tenant <> '' AND u.id >=
      coalesce((SELECT s.boundary FROM ${state} AS s WHERE s.scope = names.tenant), ''))`
  const counted = `coalesce(${inBlocks}, 0) + ${inTail}`
  const count = `${byHand?.ofTenant(names, 'names.tenant') ?? counted} AS users`
  return (descending, after) => {
    const behind = after ? ` WHERE tenant ${descending ? '<' : '>'} ${p(2)}` : ''
    const page = `SELECT tenant, ${count} FROM names${behind} ORDER BY tenant${descending ? ' DESC' : ''} ` +
      `LIMIT ${limit(1)}${after ? '' : ` OFFSET ${limit(2)}`}`
    return `${all} SELECT (SELECT count(*) FROM names) AS total, ${packed(TENANT_COLUMNS, page)} AS items`
  }
}

/** Lists the tenants that have users or keys, each with its number of users. */
export function tenantLists (executor: Reading, names: Names): Storage['listTenants'] {
  const sql = listSql(executor, names)
  return async ({ order, limit, from }) => {
    const [after, place] = 'after' in from ? [true, from.after] as const : [false, from.offset] as const
    if (typeof place === 'string' && !isStorable(place)) return { items: [], total: 0 }
    const [row] = await executor.read(sql(order === 'desc', after), [limit, place])
    return { items: unpacked(TENANT_COLUMNS, row?.['items']).map(toTenant), total: Number(row?.['total']) }
  }
}
