import {
  afterPruning, belongsTo, type EventLog, type EventRecord, type EventsRequest, type Rewrite
} from 'fastify-users/storage'
import { type Access, keyOf, type Query, type Row } from './database.ts'
import { allOf, isIn, readPage, readPart, type Selection, type Sql, sqlOf } from './pages.ts'

const PART = 1000

const eventIn = (row: Row): EventRecord => JSON.parse(String(row['record']))

/** What a rewriting may change. The id of an actor may be any text. */
const columnsOf = (event: EventRecord): unknown[] =>
  [event.tenant ?? '', event.actor && keyOf(event.actor.id), JSON.stringify(event)]

/** Records events. The transaction holds the lock until it commits, so positions are in the order of commits. */
export async function addEvents (query: Query, events: readonly EventRecord[]): Promise<void> {
  if (events.length === 0) return
  await query('UPDATE state SET position = position + ?', [events.length])
  const { rows: [state] } = await query('SELECT position FROM state')
  const first = Number(state?.['position']) - events.length + 1
  for (const [i, event] of events.entries()) {
    const { id, type, subject, timestamp } = event
    await query('INSERT INTO events (position, id, type, subject, happened_at, tenant, actor, record) ' +
      'VALUES (?, ?, ?, ?, ?, ?, ?, ?)', [first + i, id, type, subject, timestamp, ...columnsOf(event)])
  }
}

/** Writes events anew, and returns how many. */
// MySQL, MariaDB: the reads here and in prune need FOR UPDATE, or they see an old snapshot.
export async function rewriteEvents (query: Query, { of, make }: Rewrite, limit: number): Promise<number> {
  const [[column = '', value] = []] = Object.entries(of)
  const text = column === 'actor' ? keyOf(value ?? '') : value ?? ''
  let count = 0
  for (let last = 0; count < limit;) {
    const { rows } = await query(`SELECT position, record FROM events WHERE ${column} = ? AND position > ? ` +
      'ORDER BY position LIMIT ?', [text, last, PART])
    for (const row of rows) {
      const before = eventIn(row)
      const after = count < limit ? make(before) : before
      if (after === before) continue
      await query('UPDATE events SET tenant = ?, actor = ?, record = ? WHERE position = ?',
        [...columnsOf(after), row['position']])
      count++
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
  ...tenant === undefined ? [] : [sqlOf('tenant = ?', tenant)],
  // For a large log, an index of moments too.
  ...since === undefined ? [] : [sqlOf('happened_at >= ?', since)],
  ...until === undefined ? [] : [sqlOf('happened_at < ?', until)]
])

function selection (where: Sql, order: 'asc' | 'desc', limit: number, more: Partial<Selection> = {}): Selection {
  const all = { columns: 'record', from: sqlOf('events'), behind: sqlOf('1 = 1'), offset: 0 }
  return { ...all, where, order: `position ${order}`, limit, ...more }
}

const ofTenant = (tenant: string | undefined): Sql =>
  tenant === undefined ? sqlOf('1 = 1') : sqlOf('tenant = ?', tenant)

export function sqlEvents (access: Access): EventLog {
  const read: Access['read'] = (work) => access.read(work)

  async function lastOf (query: Query, where: Sql): Promise<{ id: string, position: number } | null> {
    const [row] = await readPart(query, selection(where, 'desc', 1, { columns: 'id, position' }))
    return row === undefined ? null : { id: String(row['id']), position: Number(row['position']) }
  }

  return {
    read: ({ after, limit, ...asked }) => read(async (query) => {
      const { order = 'asc', subject, tenant } = asked
      const { rows: [place] } = after === null
        ? { rows: [] }
        : await query('SELECT position, record FROM events WHERE id = ?', [after])
      if (after !== null && (place === undefined || !belongsTo(eventIn(place), tenant))) return null
      // Before the events, so that none is passed that is committed meanwhile.
      const last = await lastOf(query, ofTenant(tenant))
      const where = allOf([conditionOf(asked), sqlOf('position <= ?', last?.position ?? 0)])
      const behind = place === undefined
        ? sqlOf('1 = 1')
        : sqlOf(`position ${order === 'asc' ? '>' : '<'} ?`, place['position'])
      const hasTotal = order === 'desc' && subject !== undefined
      const page = selection(where, order, limit + 1, { behind })
      const { rows, total } = hasTotal ? await readPage(query, page) : { rows: await readPart(query, page), total: 0 }
      const more = rows.length > limit
      const events = rows.slice(0, limit).map(eventIn)
      const passed = order === 'desc' ? (after === null ? last : null) : more ? events.at(-1) : last
      return { events, more, position: passed?.id ?? null, ...(hasTotal && { total }) }
    }),

    history: (subject, { offset, limit, types = null, tenant }) => read(async (query) => {
      const where = allOf([conditionOf({ subject, types }), ofTenant(tenant)])
      const { rows, total } = await readPage(query, selection(where, 'desc', limit, { offset }))
      return { items: rows.map(eventIn), total }
    }),

    find: (id) => read(async (query) => {
      const { rows: [row] } = await query('SELECT record FROM events WHERE id = ?', [id])
      return row === undefined ? null : eventIn(row)
    }),

    before: (id, tenant) => read(async (query) => {
      const { sql, values } = allOf([sqlOf('id >= ?', id), ofTenant(tenant)])
      const { rows: [row] } = await query(`SELECT min(position) AS first FROM events WHERE ${sql}`, values)
      const first = row?.['first'] ?? null
      const where = first === null ? [] : [sqlOf('position < ?', first)]
      return (await lastOf(query, allOf([ofTenant(tenant), ...where])))?.id ?? null
    }),

    rewrite: (rewrite, limit) => access.write((query) => rewriteEvents(query, rewrite, limit)),

    prune: (before, limit) => access.write(async (query) => {
      const oldest = (await readPart(query, selection(sqlOf('1 = 1'), 'asc', limit + 1))).map(eventIn)
      const isOld = (event: EventRecord | undefined): boolean => event !== undefined && event.timestamp < before
      const gone = oldest.slice(0, oldest.findIndex((event, i) => !isOld(event) || !isOld(oldest[i + 1])))
      for (const { id } of gone) await query('DELETE FROM events WHERE id = ?', [id])
      const { rows: [state] } = await query('SELECT pruned FROM state')
      const pruned = afterPruning(JSON.parse(String(state?.['pruned'])), gone)
      await query('UPDATE state SET pruned = ?', [JSON.stringify(pruned)])
      return gone.length
    }),

    pruned: () => read(async (query) => {
      const { rows: [state] } = await query('SELECT pruned FROM state')
      return JSON.parse(String(state?.['pruned']))
    })
  }
}
