import type { Dialect, TypedColumn } from './dialects/dialect.ts'
import type { Column } from './tables/columns.ts'
import type { Names } from './tables/names.ts'

/** What is read of an endpoint. */
export const WEBHOOK_COLUMNS: readonly Column[] = [{ name: 'record', column: 'record', kind: 'json' }]

/** What is read of a delivery. */
export const DELIVERY_COLUMNS: readonly Column[] = [
  ...WEBHOOK_COLUMNS,
  { name: 'dueAt', column: 'due_at', kind: 'moment' },
  { name: 'claims', column: 'claims', kind: 'plain' }
]

/** What is written of a delivery. An empty `due_at` stands for none. */
const DELIVERY_VALUES: readonly TypedColumn[] = [
  ['id', 'text'], ['webhook_id', 'text'], ['event_id', 'text'], ['created_at', 'timestamptz'], ['due_at', 'text'],
  ['claims', 'integer'], ['record', 'json']
]

/** The statements of webhooks. */
export function webhookSql (dialect: Dialect, { webhooks, webhookDeliveries: deliveries, events }: Names) {
  const { p, limit, select, packed, batch, schema, forUpdate, skipLocked, returning } = dialect
  const columns = select(DELIVERY_COLUMNS)
  const dueAt = `CAST(nullif(q_due_at, '') AS ${schema.moment})`
  const values = DELIVERY_VALUES.map(([name]) => name === 'due_at' ? dueAt : `q_${name}`).join(', ')
  const written = ['due_at', 'claims', 'record'].map((name) => `${name} = excluded.${name}`).join(', ')
  const ofWebhook = `SELECT * FROM ${deliveries} WHERE webhook_id = ${p(1)} ORDER BY id DESC ` +
    `LIMIT ${limit(2)} OFFSET ${limit(3)}`
  return {
    insert: `INSERT INTO ${webhooks} (id, record, tenant) VALUES (${p(1)}, ${p(2)}, ${p(3)})`,
    find: `SELECT ${select(WEBHOOK_COLUMNS)} FROM ${webhooks} WHERE id = ${p(1)}`,
    lock: `SELECT ${select(WEBHOOK_COLUMNS)} FROM ${webhooks} WHERE id = ${p(1)}${forUpdate}`,
    update: `UPDATE ${webhooks} SET record = ${p(2)} WHERE id = ${p(1)}`,
    remove: `DELETE FROM ${webhooks} WHERE id = ${p(1)}`,
    removeDeliveries: `DELETE FROM ${deliveries} WHERE webhook_id = ${p(1)}`,
    findDelivery: `SELECT ${columns} FROM ${deliveries} WHERE id = ${p(1)}`,
    /** 1: id of the delivery, 2: that of its endpoint. */
    lockDelivery: `SELECT ${columns} FROM ${deliveries} WHERE id = ${p(1)} AND webhook_id = ${p(2)}${forUpdate}`,
    writeDeliveries: `INSERT INTO ${deliveries} (${DELIVERY_VALUES.map(([name]) => name).join(', ')}) ` +
      `SELECT ${values} FROM ${batch.rows(DELIVERY_VALUES)} WHERE true ON CONFLICT (id) DO UPDATE SET ${written}`,
    /** The events of an endpoint that have a delivery which is due. 1: endpoint, 2: the ids of events. */
    pending: `SELECT id, event_id AS event FROM ${deliveries} WHERE webhook_id = ${p(1)} ` +
      `AND ${dialect.isIn('event_id', 2, 'text')} AND due_at IS NOT NULL`,
    /** 1: the ids of deliveries. */
    known: `SELECT id FROM ${deliveries} WHERE ${dialect.isIn('id', 1, 'text')}`,
    /** 1: endpoint, 2: limit, 3: offset. */
    listDeliveries: `SELECT (SELECT count(*) FROM ${deliveries} WHERE webhook_id = ${p(1)}) AS total, ` +
      `${packed(DELIVERY_COLUMNS, ofWebhook)} AS items`,
    /** One look-up for each endpoint, however many deliveries are due. 1: now. */
    due: `SELECT id FROM ${webhooks} AS w WHERE EXISTS (SELECT 1 FROM ${deliveries} ` +
      `WHERE webhook_id = w.id AND due_at <= ${p(1)})`,
    /** 1: endpoint, 2: now, 3: end of the claim, 4: limit. */
    claim: returning(
      `UPDATE ${deliveries} SET due_at = ${p(3)}, claims = claims + 1 WHERE id IN (SELECT id FROM due)`,
      columns,
      `due AS MATERIALIZED (SELECT id FROM ${deliveries} WHERE webhook_id = ${p(1)} AND due_at <= ${p(2)} ` +
        `ORDER BY due_at, id LIMIT ${limit(4)}${skipLocked})`
    ),
    /** 1: before, 2: limit. */
    prune: `DELETE FROM ${deliveries} WHERE id IN (SELECT id FROM ${deliveries} ` +
      `WHERE due_at IS NULL AND created_at < ${p(1)} ORDER BY created_at LIMIT ${limit(2)}) RETURNING id`,
    /** 1: the ids of events. */
    deliveriesOf: `SELECT ${columns} FROM ${deliveries} WHERE ${dialect.isIn('event_id', 1, 'text')} ORDER BY id`,
    /** The event before an id, in two steps; `ofTenant`: the last value of each is the tenant. */
    before (ofTenant: boolean) {
      const of = (n: number) => ofTenant ? ` AND tenant = ${p(n)} AND tenant <> ''` : ''
      const last = (condition: string) =>
        `SELECT id FROM ${events} WHERE position > 0${condition} ORDER BY position DESC LIMIT 1`
      return {
        newest: last(of(1)),
        /** 1: id. */
        firstFrom: `SELECT min(position) AS position FROM ${events} WHERE id >= ${p(1)} AND position > 0${of(2)}`,
        /** 1: position. */
        event: last(` AND position < ${p(1)}${of(2)}`)
      }
    }
  }
}
