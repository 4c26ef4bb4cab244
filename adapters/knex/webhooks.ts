import type { DeliveryRecord, WebhookChange, WebhookRecord, WebhookStore } from '../../lib/storage/storage.ts'
import { isStorable } from '../../lib/core/text.ts'
import type { Executor, Query } from './connection/executor.ts'
import type { Param } from './drivers/driver.ts'
import { type EventWrites, recordedValues } from './events/event-writes.ts'
import type { Numbering } from './events/numbering.ts'
import { ofTenant, pageStatement, toPage } from './pages.ts'
import type { Names } from './tables/names.ts'
import { isoOrNull, type Row, toJson, unpacked } from './tables/rows.ts'
import { DELIVERY_COLUMNS, WEBHOOK_COLUMNS, webhookSql } from './webhook-sql.ts'

const toWebhook = ({ record }: Row): WebhookRecord => Object(toJson(record))

function toDelivery ({ record, dueAt, claims }: Row): DeliveryRecord {
  return { ...Object(toJson(record)), dueAt: isoOrNull(dueAt), claims: Number(claims) }
}

function deliveryValues ({ dueAt, claims, ...record }: DeliveryRecord): Param[] {
  return [record.id, record.webhook, record.event, record.createdAt, dueAt ?? '', claims, JSON.stringify(record)]
}

/** Endpoints and deliveries of webhooks in SQL. */
export function knexWebhooks (
  { query, read, transaction, dialect }: Executor,
  names: Names,
  { record }: EventWrites,
  numbering: Numbering
): WebhookStore {
  const sql = webhookSql(dialect, names)
  const { batch } = dialect

  /**
   * Writes deliveries of an endpoint that is locked: an event has no second one while one of it is due. `locked`: a
   * delivery that is there.
   */
  async function writeDeliveries (
    on: Query,
    webhook: string,
    deliveries: readonly DeliveryRecord[],
    locked: string | null
  ): Promise<void> {
    // The outcome of an attempt: the most frequent change.
    if (deliveries.every(({ id }) => id === locked)) {
      await on(sql.writeDeliveries, batch.values(deliveries.map(deliveryValues)))
      return
    }
    const idsOf = async (sql: string, params: readonly Param[], member: string) =>
      new Set((await on(sql, params)).map((row) => row[member]))
    const pending = await idsOf(sql.pending, [webhook, deliveries.map(({ event }) => event)], 'event')
    const known = pending.size === 0 ? pending : await idsOf(sql.known, [deliveries.map(({ id }) => id)], 'id')
    const written = deliveries.filter(({ id, event }) => known.has(id) || !pending.has(event))
    if (written.length > 0) await on(sql.writeDeliveries, batch.values(written.map(deliveryValues)))
  }

  async function write (
    on: Query,
    id: string,
    locked: string | null,
    { webhook, deliveries = [], event }: WebhookChange
  ): Promise<void> {
    if (webhook !== undefined) await on(sql.update, [webhook.id, JSON.stringify(webhook)])
    if (deliveries.length > 0) await writeDeliveries(on, id, deliveries, locked)
    if (event !== undefined) await record(on, [recordedValues(event)])
  }

  async function one<Item> (statement: string, id: string, toItem: (row: Row) => Item | null): Promise<Item | null> {
    const [row] = isStorable(id) ? await read(statement, [id]) : []
    return row === undefined ? null : toItem(row)
  }

  return {
    async insert (webhook) {
      await query(sql.insert, [webhook.id, JSON.stringify(webhook), webhook.tenant ?? ''])
    },

    find: (id) => one(sql.find, id, toWebhook),

    async list (page) {
      const statement = pageStatement(dialect, names.webhooks, WEBHOOK_COLUMNS, ofTenant(page), page)
      return toPage(await query(statement.sql, statement.params), WEBHOOK_COLUMNS, toWebhook)
    },

    async change (id, delivery, decide) {
      if (!isStorable(id) || !isStorable(delivery ?? '')) return null
      return transaction(async (on) => {
        const [row] = await on(sql.lock, [id], { waitsFor: id })
        const [of] = row === undefined || delivery === null ? [] : await on(sql.lockDelivery, [delivery, id])
        if (row === undefined || (delivery !== null && of === undefined)) return null
        const change = decide(toWebhook(row), of === undefined ? null : toDelivery(of))
        if (change !== null) await write(on, id, delivery, change)
        return change?.webhook ?? toWebhook(row)
      }, { waitsFor: id })
    },

    async remove (id) {
      if (!isStorable(id)) return false
      return transaction(async (on) => {
        const [row] = await on(sql.lock, [id], { waitsFor: id })
        if (row === undefined) return false
        await on(sql.removeDeliveries, [id])
        await on(sql.remove, [id])
        return true
      }, { waitsFor: id })
    },

    due: async (now) => (await read(sql.due, [now])).map(({ id }) => String(id)),

    async claim (id, { now, until, limit }) {
      return (await query(sql.claim, [id, now, until, limit])).map(toDelivery)
    },

    findDelivery: (id) => one(sql.findDelivery, id, toDelivery),

    async listDeliveries (id, { offset, limit }) {
      const [row] = await read(sql.listDeliveries, [id, limit, offset])
      return { items: unpacked(DELIVERY_COLUMNS, row?.['items']).map(toDelivery), total: Number(row?.['total']) }
    },

    deliveriesOf: async (events) => (await read(sql.deliveriesOf, [events.filter(isStorable)])).map(toDelivery),

    async eventBefore (id, tenant) {
      await numbering.all()
      const of = tenant === undefined ? [] : [tenant]
      const { newest, firstFrom, event } = sql.before(tenant !== undefined)
      // A plan for any id would look through the whole log for the first one.
      const [first] = await read(firstFrom, [id, ...of], { keepPlan: false })
      const position = first?.['position'] ?? null
      const [before] = position === null ? await read(newest, of) : await read(event, [String(position), ...of])
      return before === undefined ? null : String(before['id'])
    },

    async prune (before, limit) {
      return (await query(sql.prune, [before, limit])).length
    }
  }
}
