import type { EventRecord } from '../../../lib/storage/storage.ts'
import type { Query } from '../connection/executor.ts'
import type { TypedColumn } from '../dialects/batch-sql.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { actorKey } from '../tables/event-places.ts'
import type { Names } from '../tables/names.ts'

/** What a row of a batch has of an event. An empty `before` stands for NULL. */
export const EVENT_VALUES: readonly TypedColumn[] = [
  // A delivery has an event_id of its own.
  ['recorded_id', 'text'], ['event_type', 'text'], ['event_time', 'timestamptz'], ['event_context', 'json'],
  ['event_actor', 'text'], ['event_subject', 'text'], ['event_data', 'json'], ['event_tenant', 'text'],
  ['event_before', 'text']
]

/** The columns that an event is written to, in the order of {@link EVENT_VALUES}. */
export const EVENT_TARGETS = 'id, type, happened_at, context, actor_key, subject, data, tenant, before'

/** The same values, as a statement writes them. */
export function eventSource ({ schema: { json } }: Dialect): string {
  return EVENT_VALUES.map(([name]) =>
    name === 'event_before' ? `CAST(nullif(q_event_before, '') AS ${json})` : `q_${name}`).join(', ')
}

/** What is kept of an event that nothing compares. */
const contextText = ({ actor, requestId, reverts }: EventRecord): string =>
  JSON.stringify({ actor, requestId, reverts })

/** The values of an event, in the order of {@link EVENT_VALUES}. */
export function eventValues (event: EventRecord): string[] {
  const { id, type, timestamp, subject, data, tenant = '', before } = event
  return [
    id, type, timestamp, contextText(event), actorKey(event.actor?.id), subject, JSON.stringify(data),
    tenant, before === null ? '' : JSON.stringify(before)
  ]
}

/** What a rewriting changes of an event, by its id. */
export const EVENT_PARTS: readonly TypedColumn[] = [
  ['id', 'text'], ['data', 'json'], ['before', 'json'], ['context', 'json'], ['tenant', 'text']
]

/** The values of an event, in the order of {@link EVENT_PARTS}. */
export function eventParts (event: EventRecord): string[] {
  const { id, data, before, tenant = '' } = event
  return [id, JSON.stringify(data), JSON.stringify(before), contextText(event), tenant]
}

/** Records events in the transaction of their changes. */
export type RecordEvents = (on: Query, events: readonly EventRecord[]) => Promise<void>

/** Makes the function that records events, each with its place among all others. */
export function eventWrites (dialect: Dialect, { events, ...names }: Names): RecordEvents {
  const { batch } = dialect
  const take = dialect.events.take?.({ events, ...names }) ?? null
  const given: readonly TypedColumn[] = take === null ? EVENT_VALUES : [...EVENT_VALUES, ['position', 'bigint']]
  const insert = `INSERT INTO ${events} (${EVENT_TARGETS}${take === null ? '' : ', position'}) ` +
    `SELECT ${eventSource(dialect)}${take === null ? '' : ', q_position'} FROM ${batch.rows(given)}`

  return async (on, all) => {
    if (all.length === 0) return
    const rows = all.map(eventValues)
    if (take === null) {
      await on(insert, batch.values(rows))
      return
    }
    const [taken] = await on(take, [rows.length])
    const first = Number(taken?.['last']) - rows.length + 1
    await on(insert, batch.values(rows.map((row, i) => [...row, first + i])))
  }
}
