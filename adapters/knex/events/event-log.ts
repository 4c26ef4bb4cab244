import { afterPruning } from '../../../lib/storage/recorded-events.ts'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { EventLog, EventsRequest, PrunedEvents } from '../../../lib/storage/storage.ts'
import { isStorable } from '../../../lib/core/text.ts'
import type { Executor, Query } from '../connection/executor.ts'
import type { Param } from '../drivers/driver.ts'
import { EVENT_COLUMNS, PRUNED_COLUMNS } from '../tables/columns.ts'
import type { Names } from '../tables/names.ts'
import { type Row, toEvent, unpacked } from '../tables/rows.ts'
import type { EventWrites } from './event-writes.ts'
import type { Numbering } from './numbering.ts'

/** The statements that read and prune events. */
function eventLogSql ({ dialect }: Executor, { events, prunedEvents }: Names) {
  const { p, limit, packed, select, events: { number, writtenOrder } } = dialect

  // The partial index of positions has it. Where all events have a position, nobody asks for it.
  const newest = number === null ? '' : `, (SELECT max(position) FROM ${events}) AS newest`

  /**
   * 1: id of the event to read after, or null; 2: limit; from 3 on: each type, then the tenant. `types`: how many;
   * null: all.
   */
  function read (types: number | null, ofTenant: boolean): string {
    const belongs = ofTenant ? `tenant = ${p(3 + (types ?? 0))} AND tenant <> ''` : ''
    const also = ofTenant ? ` AND ${belongs}` : ''
    const after = `(SELECT position FROM ${events} WHERE id = ${p(1)}${also})`
    const last = `(SELECT id FROM ${events} WHERE position = ` +
      `(SELECT max(position) FROM ${events}${ofTenant ? ` WHERE ${belongs}` : ''}))`
    const start = `coalesce(${after}, CASE WHEN ${p(1)} IS NULL THEN 0 END)`
    const rows = (condition: string) =>
      `SELECT * FROM ${events} WHERE ${condition}position > ${start}${also} ORDER BY position LIMIT ${limit(2)}`
    // Each type by its own part of the index, so that rare ones are found without a look at all others.
    const ofTypes = Array.from({ length: types ?? 0 }, (_, i) =>
      `SELECT * FROM (${rows(`type = ${p(3 + i)} AND `)}) AS t${i}`)
    const union = ofTypes.length === 0 ? rows('1 = 0 AND ') : ofTypes.join(' UNION ALL ')
    const page = types === null
      ? rows('')
      : `SELECT * FROM (${union}) AS of_types ORDER BY position LIMIT ${limit(2)}`
    return `SELECT ${after} AS position, ${last} AS last_id${newest}, ${packed(EVENT_COLUMNS, page)} AS items`
  }

  function history (ofTenant: boolean): string {
    const where = `subject = ${p(1)}${ofTenant ? ` AND tenant = ${p(4)}` : ''}`
    const page = `SELECT * FROM ${events} WHERE ${where} ORDER BY ${writtenOrder} DESC ` +
      `LIMIT ${limit(2)} OFFSET ${limit(3)}`
    return `SELECT (SELECT count(*) FROM ${events} WHERE ${where}) AS total, ${packed(EVENT_COLUMNS, page)} AS items`
  }

  const oldest = `SELECT position, happened_at FROM ${events} WHERE position > 0 ORDER BY position LIMIT ${limit(1)}`
  const next = 'min(position) OVER (ORDER BY position ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING)'
  const latest = 'max(happened_at) OVER (ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING)'
  const withNext = `SELECT position, ${next} AS next, ${latest} AS latest FROM (${oldest}) AS oldest`
  return {
    read,
    history,
    find: `SELECT ${packed(EVENT_COLUMNS, `SELECT * FROM ${events} WHERE id = ${p(1)}`)} AS items`,
    /** 1: how many at most, and one more; 2: the time. */
    prune: `DELETE FROM ${events} WHERE position IN ` +
      `(SELECT position FROM (${withNext}) AS q WHERE next IS NOT NULL AND latest < ${p(2)}) ` +
      'RETURNING position, id, type',
    pruned: `SELECT ${select(PRUNED_COLUMNS)} FROM ${prunedEvents} ORDER BY place`,
    forget: `DELETE FROM ${prunedEvents}`,
    note: `INSERT INTO ${prunedEvents} (place, type, id, greatest_id) VALUES (${[1, 2, 3, 4].map(p).join(', ')})`
  }
}

/** The recorded events in SQL. */
export function knexEventLog (
  executor: Executor,
  names: Names,
  writes: EventWrites,
  numbering: Numbering
): EventLog {
  const { dialect, read, query, transaction } = executor
  const sql = eventLogSql(executor, names)

  async function readPage ({ after, limit, types, tenant }: EventsRequest) {
    const params: Param[] = [after, limit + 1, ...types ?? [], ...tenant === undefined ? [] : [tenant]]
    const [row] = await read(sql.read(types === null ? null : types.length, tenant !== undefined), params)
    const events = unpacked(EVENT_COLUMNS, row?.['items']).map(toEvent)
    const isKnown = after === null || row?.['position'] !== null
    const more = events.length > limit
    const shown = events.slice(0, limit)
    const last: string | null = Object(row)['last_id']
    const position = (more ? shown.at(-1)?.id : last) ?? null
    return { isKnown, events: shown, more, position, newest: Number(row?.['newest'] ?? 0) }
  }

  async function readPruned (on: Query): Promise<PrunedEvents[]> {
    return (await on(sql.pruned)).map(({ type, id, greatestId }) =>
      ({ type: String(type), id: String(id), greatestId: String(greatestId) }))
  }

  /** Notes what is left of events that are pruned. */
  async function note (on: Query, rows: readonly Row[]): Promise<void> {
    const inOrder = rows.toSorted((a, b) => Number(a['position']) - Number(b['position']))
      .map(({ id, type }) => ({ id: String(id), type: String(type) }))
    const left = afterPruning(await readPruned(on), inOrder)
    await on(sql.forget)
    for (const [place, { type, id, greatestId }] of left.entries()) await on(sql.note, [place, type, id, greatestId])
  }

  /** True if an event has a position now that it did not have when the page was read, whoever has given it. */
  async function isBehind (newest: number): Promise<boolean> {
    return numbering.some !== null && (await numbering.some()).newest > newest
  }

  /** True for a standby: what it does not have may be on its primary. */
  async function isReadOnly (): Promise<boolean> {
    return dialect.isReadOnly !== null && (await query(dialect.isReadOnly)).length > 0
  }

  return {
    async read (request) {
      if (request.after !== null && !isStorable(request.after)) return null
      const types = request.types === null ? null : [...new Set(request.types)].filter(isStorable)
      let page = await readPage({ ...request, types })
      if (!page.isKnown) await numbering.all()
      // What it lacks may be committed, and not have its position yet.
      if (!page.more && (await isBehind(page.newest) || !page.isKnown)) page = await readPage({ ...request, types })
      const { isKnown, events, more, position } = page
      if (!isKnown && await isReadOnly()) {
        throw new StorageError('unavailable', 'the server accepts no writes, and does not have the event, or not yet')
      }
      return isKnown ? { events, more, position } : null
    },

    async find (id) {
      const [row] = isStorable(id) ? await read(sql.find, [id]) : []
      return unpacked(EVENT_COLUMNS, row?.['items'] ?? null).map(toEvent)[0] ?? null
    },

    async history (subject, { offset, limit, tenant }) {
      if (!isStorable(subject)) return { items: [], total: 0 }
      const of = tenant === undefined ? [] : [tenant]
      const [row] = await read(sql.history(tenant !== undefined), [subject, limit, offset, ...of])
      return { items: unpacked(EVENT_COLUMNS, row?.['items']).map(toEvent), total: Number(row?.['total']) }
    },

    async erase (userId, tenant) {
      if (!isStorable(userId)) return 0
      const since = performance.now()
      const counted = await writes.writesToErase(query, userId)
      return transaction((on) => writes.erase(on, userId, tenant), { waitsFor: userId, since, writes: counted })
    },

    async prune (before, limit) {
      await numbering.all()
      // Exclusive: each call goes on from what the one before has noted.
      return transaction(async (on) => {
        const rows = await on(sql.prune, [limit + 1, before])
        if (rows.length > 0) await note(on, rows)
        return rows.length
      }, { exclusive: true })
    },

    pruned: () => readPruned(query)
  }
}
