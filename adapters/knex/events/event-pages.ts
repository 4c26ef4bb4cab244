import type { EventsRequest } from '../../../lib/storage/storage.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { Param } from '../drivers/driver.ts'
import { EVENT_COLUMNS } from '../tables/columns.ts'
import { actorKey, placesOfTimes, type Span } from '../tables/event-places.ts'
import type { Names } from '../tables/names.ts'

// Greater than every position.
const LAST = '9223372036854775807'

/**
 * The statement that reads a part of the log, and its values. It returns `position`, that of the event `after`;
 * `last_id`, the newest event; `items`, at most one more than the limit; `total`, of a subject newest first; and where
 * events get their positions later `newest`, the last position.
 */
export function pageOfEvents (
  { after, limit: count, types, order, subject, actor, since, until, tenant }: EventsRequest,
  { p, limit, packed, events: { number, writtenOrder, between } }: Dialect,
  { events }: Names
): { sql: string, params: Param[] } {
  const params: Param[] = [after, count + 1]
  const param = (value: Param): string => p(params.push(value))
  const isDesc = order === 'desc'
  const direction = isDesc ? ' DESC' : ''
  const all = (conditions: readonly string[]): string => conditions.map((each) => ` AND ${each}`).join('')

  const ownTenant = tenant === undefined ? '' : param(tenant)
  const ofTenant = tenant === undefined ? [] : [`tenant = ${ownTenant}`, "tenant <> ''"]
  const place = `(SELECT position FROM ${events} WHERE id = ${p(1)}${all(ofTenant)})`
  const end = (which: 'min' | 'max', conditions: readonly string[] = []): string =>
    `(SELECT ${which}(position) FROM ${events} WHERE position IS NOT NULL${all(conditions)})`
  const last = `(SELECT id FROM ${events} WHERE position = ${end('max', ofTenant)})`
  // The partial index of positions has it. Where all events have a position, nobody asks for it.
  const newest = number === null ? '' : `, ${end('max')} AS newest`
  // Null if there is no such event: then there is no page.
  const start = (ofAll: string): string => `coalesce(${place}, CASE WHEN ${p(1)} IS NULL THEN ${ofAll} END)`

  const ofTimes = [
    ...since === undefined ? [] : [`happened_at >= ${param(since)}`],
    ...until === undefined ? [] : [`happened_at < ${param(until)}`]
  ]
  const begin = start(isDesc ? LAST : '0')
  const { expressions, ...span }: Span & { expressions: string } = ofTimes.length === 0
    ? { expressions: '', low: isDesc ? '0' : begin, high: isDesc ? begin : LAST }
    : placesOfTimes(events, ofTimes.join(' AND '), {
      low: isDesc ? `${end('min')} - 1` : start(`${end('min')} - 1`),
      high: isDesc ? start(`${end('max')} + 1`) : `${end('max')} + 1`
    })

  const ofSubject = subject === undefined ? [] : [`subject = ${param(subject)}`]
  const key = actor === undefined ? null : param(actorKey(actor))
  const each = types?.map((type) => param(type)) ?? []
  const ofTypes = types === null ? [] : [each.length === 0 ? '1 = 0' : `type IN (${each.join(', ')})`]
  /** The conditions on other columns than these, which an index has. */
  const filters = (without: readonly string[] = []): string[] => [
    ...ofSubject,
    ...key === null || without.includes('actor_key') ? [] : [`actor_key = ${key}`],
    ...key === null ? [] : ["actor_key <> ''"],
    ...without.includes('type') ? [] : ofTypes,
    ...tenant === undefined || without.includes('tenant') ? [] : [`tenant = ${ownTenant}`],
    ...tenant === undefined ? [] : ["tenant <> ''"],
    // Hidden from PostgreSQL, which would go through all events of these times by their index.
    ...ofTimes.length === 0 ? [] : [`CASE WHEN ${ofTimes.join(' AND ')} THEN 1 = 1 ELSE 1 = 0 END`]
  ]
  const rows = (conditions: readonly string[], order: readonly string[]): string =>
    `SELECT * FROM ${events} WHERE ${conditions.join(' AND ')} ` +
    `ORDER BY ${order.map((column) => `${column}${direction}`).join(', ')} LIMIT ${limit(2)}`

  /** The events by the index of some columns. */
  function byIndex (columns: readonly string[], values: readonly string[]): string {
    const found = between(columns, values, span)
    return rows([found.condition, ...filters(columns)], found.order)
  }

  /** Each type by its own part of the index, so that rare ones are found without a look at all others. */
  function byTypes (columns: readonly string[], values: readonly string[]): string {
    const parts = each.map((type, i) => `SELECT * FROM (${byIndex(['type', ...columns], [type, ...values])}) AS t${i}`)
    return `SELECT * FROM (${parts.join(' UNION ALL ')}) AS of_types ORDER BY position${direction} LIMIT ${limit(2)}`
  }

  /** In the index of subjects events are as they were written: those of one are in the order of the log too. */
  function bySubject (): string {
    const place = `SELECT ${writtenOrder} FROM ${events} WHERE id = ${p(1)}${all(ofSubject)}`
    const isBehind = writtenOrder === 'position'
      ? []
      : [`${writtenOrder} ${isDesc ? '<' : '>'} coalesce((${place}), ${isDesc ? LAST : '0'})`]
    const inSpan = [`position > ${span.low}`, `position < ${span.high}`]
    return rows([...filters(), ...inSpan, ...isBehind], [writtenOrder])
  }

  function page (): string {
    const isTyped = each.length > 0
    if (subject !== undefined) return bySubject()
    if (key !== null && tenant !== undefined) return byIndex(['tenant', 'actor_key'], [ownTenant, key])
    if (key !== null) return isTyped ? byTypes(['actor_key'], [key]) : byIndex(['actor_key'], [key])
    if (isTyped) return byTypes([], [])
    return tenant === undefined ? byIndex([], []) : byIndex(['tenant'], [ownTenant])
  }

  const total = subject === undefined || !isDesc
    ? ''
    : `, (SELECT count(*) FROM ${events} WHERE position IS NOT NULL${all(filters())}) AS total`
  const sql = `${expressions}SELECT ${place} AS position, ${last} AS last_id${newest}${total}, ` +
    `${packed(EVENT_COLUMNS, page())} AS items`
  return { sql, params }
}
