import { forgotten } from '../../lib/storage/recorded-events.ts'
import type { TenantRecord, TenantStore } from '../../lib/storage/storage.ts'
import { isStorable } from '../../lib/core/text.ts'
import type { Executor, Query } from './connection/executor.ts'
import type { Compaction } from './counting/hand-counting.ts'
import { type Bookkeeping, changesOf } from './bookkeeping.ts'
import { forgetCounts } from './counting/compaction-sql.ts'
import { EVENT_PARTS, eventParts } from './events/event-writes.ts'
import { type Column, EVENT_COLUMNS } from './tables/columns.ts'
import type { Names } from './tables/names.ts'
import { type Row, toEvent, unpacked } from './tables/rows.ts'
import { knexAssignment } from './tenant-assignment.ts'

const TENANT_COLUMNS: readonly Column[] = [
  { name: 'id', column: 'tenant', kind: 'plain' }, { name: 'users', column: 'users', kind: 'plain' }
]

const toTenant = ({ id, users }: Row): TenantRecord => ({ id: String(id), users: Number(users) })

/** The statements of tenants. */
function tenantSql ({ dialect }: Executor, names: Names) {
  const { users, apiKeys, events, webhooks, webhookDeliveries, deletedUsers, changes, state } = names
  const { p, limit, packed, batch } = dialect
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
  const some = (table: string) =>
    `SELECT id FROM ${table} WHERE tenant = ${p(1)} AND tenant <> '' ORDER BY id LIMIT ${limit(2)}`
  const someEvents = `SELECT * FROM ${events} WHERE tenant = ${p(1)} AND tenant <> '' LIMIT ${limit(2)}`
  return {
    /** 1: how many, 2: how many to skip, or the name to go on behind. */
    list (descending: boolean, after: boolean): string {
      const behind = after ? ` WHERE tenant ${descending ? '<' : '>'} ${p(2)}` : ''
      const page = `SELECT tenant, ${count} FROM names${behind} ORDER BY tenant${descending ? ' DESC' : ''} ` +
        `LIMIT ${limit(1)}${after ? '' : ` OFFSET ${limit(2)}`}`
      return `${all} SELECT (SELECT count(*) FROM names) AS total, ${packed(TENANT_COLUMNS, page)} AS items`
    },
    // 1: the tenant; 2: how many at most.
    removeKeys: `DELETE FROM ${apiKeys} WHERE tenant = ${p(1)} AND tenant <> '' RETURNING id`,
    removeUsers: `DELETE FROM ${users} WHERE id IN (${some(users)}) RETURNING id`,
    removeDeleted: `DELETE FROM ${deletedUsers} WHERE id IN (${some(deletedUsers)}) RETURNING id`,
    removeWebhooks: `DELETE FROM ${webhooks} WHERE id IN (${some(webhooks)}) RETURNING id`,
    forgetCounts: byHand === null ? forgetCounts(dialect, names) : [byHand.forget(names)],
    removeDeliveries: `DELETE FROM ${webhookDeliveries} WHERE webhook_id IN ` +
      `(SELECT q_id FROM ${batch.rows([['id', 'text']])})`,
    readEvents: `SELECT ${packed(EVENT_COLUMNS, someEvents)} AS items`,
    forget: `UPDATE ${events} SET data = q_data, before = q_before, context = q_context, tenant = '' ` +
      `FROM ${batch.rows(EVENT_PARTS)} WHERE id = q_id${batch.idCondition}`
  }
}

/** The tenants in SQL. */
export function knexTenants (
  executor: Executor,
  names: Names,
  compaction: Pick<Compaction, 'onAssign'>,
  books: Bookkeeping
): TenantStore {
  const { read, transaction, dialect: { batch } } = executor
  const sql = tenantSql(executor, names)

  async function forgetEvents (on: Query, tenant: string, limit: number): Promise<number> {
    const [row] = await on(sql.readEvents, [tenant, limit])
    const events = unpacked(EVENT_COLUMNS, row?.['items']).map((each) => forgotten(toEvent(each)))
    if (events.length === 0) return 0
    await on(sql.forget, batch.values(events.map(eventParts)))
    return events.length
  }

  return {
    assign: knexAssignment(executor, names, compaction, books),

    async list ({ order, limit, from }) {
      const [after, place] = 'after' in from ? [true, from.after] as const : [false, from.offset] as const
      if (typeof place === 'string' && !isStorable(place)) return { items: [], total: 0 }
      const [row] = await read(sql.list(order === 'desc', after), [limit, place])
      return { items: unpacked(TENANT_COLUMNS, row?.['items']).map(toTenant), total: Number(row?.['total']) }
    },

    async remove (tenant, limit) {
      if (!isStorable(tenant)) return 0
      return transaction(async (on) => {
        let count = (await on(sql.removeKeys, [tenant])).length
        const users = count < limit ? (await on(sql.removeUsers, [tenant, limit - count])).length : 0
        count += users
        if (count < limit) count += (await on(sql.removeDeleted, [tenant, limit - count])).length
        if (count < limit) count += await forgetEvents(on, tenant, limit - count)
        if (count === 0) {
          // The endpoints first: that waits for a change that is adding deliveries, and none can be added after it.
          const webhooks = await on(sql.removeWebhooks, [tenant, limit])
          if (webhooks.length > 0) await on(sql.removeDeliveries, batch.values(webhooks.map(({ id }) => [String(id)])))
          count += webhooks.length
          for (const statement of sql.forgetCounts) await on(statement, [tenant])
        }
        await books.count(on, changesOf(tenant, -users))
        return count
      }, { writes: limit })
    }
  }
}
