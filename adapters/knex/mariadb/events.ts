// The event log. Whoever writes events has the turn until it commits, so their positions are in the order of commits.

import { afterPruning } from '../../../lib/storage/recorded-events.ts'
import { belongsTo } from '../../../lib/storage/storage-rules.ts'
import type { EventLog, EventRecord, EventsRequest, Rewrite } from '../../../lib/storage/storage.ts'
import type { Access } from './connections.ts'
import { keyOf } from './keys.ts'
import {
  allOf, isIn, listOf, ofTenant, partsOf, type Query, readPage, readPart, type Row, type Selection, type Sql, sqlOf
} from './sql.ts'
import type { Tables } from './tables.ts'

const PART = 1000

/** Milliseconds that a write may take longer for events that are written anew. */
export const REWRITE_MS = 60_000

const eventIn = (row: Row): EventRecord => JSON.parse(String(row['record']))

/** What a rewriting may change. The id of an actor may be any text. */
const columnsOf = (event: EventRecord): unknown[] =>
  [event.tenant ?? '', event.actor && keyOf(event.actor.id), JSON.stringify(event)]

const COLUMNS = 'position, id, type, subject, happened_at, tenant, actor, record'

const rowOf = (event: EventRecord, position: number): unknown[] =>
  [position, event.id, event.type, event.subject, event.timestamp, ...columnsOf(event)]

/** Records events behind a position, which was moved for them already. */
export async function addEvents (
  query: Query, { of }: Tables, events: readonly EventRecord[], position: number
): Promise<void> {
  const rows = events.map((event, i) => rowOf(event, position + i + 1))
  for (const part of partsOf(rows, (row) => row)) {
    const { sql, values } = listOf(part)
    await query(`INSERT INTO ${of('events')} (${COLUMNS}) VALUES ${sql}`, values)
  }
}

/** Writes events anew, and returns how many. Locked: in a host's transaction other reads see an old snapshot. */
export async function rewriteEvents (
  query: Query, { of: table }: Tables, { of, make }: Rewrite, limit: number
): Promise<number> {
  const [[column = '', value] = []] = Object.entries(of)
  const text = column === 'actor' ? keyOf(value ?? '') : value ?? ''
  let count = 0
  for (let last = 0; count < limit;) {
    const { rows } = await query(`SELECT position, record FROM ${table('events')} WHERE ${column} = ? ` +
      'AND position > ? ORDER BY position LIMIT ? FOR UPDATE', [text, last, PART])
    const changed = rows.flatMap((row) => {
      const before = eventIn(row)
      const after = count < limit ? make(before) : before
      if (after === before) return []
      count++
      return [rowOf(after, Number(row['position']))]
    })
    for (const part of partsOf(changed, (row) => row)) {
      const { sql, values } = listOf(part)
      await query(`INSERT INTO ${table('events')} (${COLUMNS}) VALUES ${sql} ON DUPLICATE KEY UPDATE ` +
        'tenant = VALUES(tenant), actor = VALUES(actor), record = VALUES(record)', values)
    }
    if (rows.length < PART) break
    last = Number(rows.at(-1)?.['position'])
  }
  return count
}

type Asked = Omit<EventsRequest, 'after' | 'limit'>

const conditionOf = ({ types, subject, actor, tenant, since, until }: Asked): Sql => allOf([
  ...types === null ? [] : [isIn('type', types)],
  ...subject === undefined ? [] : [sqlOf('subject = ?', subject)],
  ...actor === undefined ? [] : [sqlOf('actor = ?', keyOf(actor))],
  ofTenant(tenant),
  ...since === undefined ? [] : [sqlOf('happened_at >= ?', since)],
  ...until === undefined ? [] : [sqlOf('happened_at < ?', until)]
])

export function eventLog (access: Access, tables: Tables): EventLog {
  const events = tables.of('events')
  const state = tables.of('state')
  const read: Access['read'] = (work) => access.read(work)
  const selection = (
    where: Sql, order: 'asc' | 'desc', limit: number, more: Partial<Selection> = {}
  ): Selection => ({
    columns: 'record',
    from: sqlOf(events),
    where,
    behind: sqlOf('1 = 1'),
    by: ['position'],
    order,
    limit,
    offset: 0,
    ...more
  })

  async function lastOf (query: Query, where: Sql): Promise<{ id: string, position: number } | null> {
    const [row] = await readPart(query, selection(where, 'desc', 1, { columns: 'id, position' }))
    return row === undefined ? null : { id: String(row['id']), position: Number(row['position']) }
  }

  return {
    read: ({ after, limit, ...asked }) => read(async (query) => {
      const { order = 'asc', subject, tenant } = asked
      const { rows: [place] } = after === null
        ? { rows: [] }
        : await query(`SELECT position, record FROM ${events} WHERE id = ?`, [after])
      if (after !== null && (place === undefined || !belongsTo(eventIn(place), tenant))) return null
      // Before the events, so that none is passed that is committed meanwhile.
      const last = await lastOf(query, ofTenant(tenant))
      const where = allOf([conditionOf(asked), sqlOf('position <= ?', last?.position ?? 0)])
      const behind = place === undefined
        ? sqlOf('1 = 1')
        : sqlOf(`position ${order === 'asc' ? '>' : '<'} ?`, Number(place['position']))
      const hasTotal = order === 'desc' && subject !== undefined
      const page = selection(where, order, limit + 1, { behind })
      const { rows, total } = hasTotal ? await readPage(query, page) : { rows: await readPart(query, page), total: 0 }
      const more = rows.length > limit
      const found = rows.slice(0, limit).map(eventIn)
      const passed = order === 'desc' ? (after === null ? last : null) : more ? found.at(-1) : last
      return { events: found, more, position: passed?.id ?? null, ...(hasTotal && { total }) }
    }),

    history: (subject, { offset, limit, types = null, tenant }) => read(async (query) => {
      const where = allOf([conditionOf({ subject, types }), ofTenant(tenant)])
      const { rows, total } = await readPage(query, selection(where, 'desc', limit, { offset }))
      return { items: rows.map(eventIn), total }
    }),

    find: (id) => read(async (query) => {
      const { rows: [row] } = await query(`SELECT record FROM ${events} WHERE id = ?`, [id])
      return row === undefined ? null : eventIn(row)
    }),

    before: (id, tenant) => read(async (query) => {
      const { sql, values } = allOf([sqlOf('id >= ?', id), ofTenant(tenant)])
      const { rows: [row] } = await query(`SELECT min(position) AS first FROM ${events} WHERE ${sql}`, values)
      const first = row?.['first'] ?? null
      const where = first === null ? [] : [sqlOf('position < ?', Number(first))]
      return (await lastOf(query, allOf([ofTenant(tenant), ...where])))?.id ?? null
    }),

    rewrite: (rewrite, limit) =>
      access.write((query) => rewriteEvents(query, tables, rewrite, limit), { extraMs: REWRITE_MS }),

    prune: (before, limit) => access.write(async (query) => {
      const { rows } = await query(`SELECT record FROM ${events} ORDER BY position LIMIT ? FOR UPDATE`, [limit + 1])
      const oldest = rows.map(eventIn)
      const isOld = (event: EventRecord | undefined): boolean => event !== undefined && event.timestamp < before
      const gone = oldest.slice(0, oldest.findIndex((event, i) => !isOld(event) || !isOld(oldest[i + 1])))
      for (let at = 0; at < gone.length; at += PART) {
        const { sql, values } = isIn('id', gone.slice(at, at + PART).map(({ id }) => id))
        await query(`DELETE FROM ${events} WHERE ${sql}`, values)
      }
      const { rows: [row] } = await query(`SELECT pruned FROM ${state} FOR UPDATE`)
      const pruned = afterPruning(JSON.parse(String(row?.['pruned'])), gone)
      await query(`UPDATE ${state} SET pruned = ?`, [JSON.stringify(pruned)])
      return gone.length
    }, { extraMs: REWRITE_MS }),

    pruned: () => read(async (query) => {
      const { rows: [row] } = await query(`SELECT pruned FROM ${state}`)
      return JSON.parse(String(row?.['pruned']))
    })
  }
}
