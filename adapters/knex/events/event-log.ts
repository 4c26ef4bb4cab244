import type { EventLog, EventsRequest } from '../../../lib/core/storage.ts'
import { isStorable } from '../../../lib/core/text.ts'
import type { Executor } from '../connection/executor.ts'
import type { Param } from '../drivers/driver.ts'
import { EVENT_COLUMNS } from '../tables/columns.ts'
import type { Names } from '../tables/names.ts'
import { toEvent, unpacked } from '../tables/rows.ts'
import type { EventWrites } from './event-writes.ts'
import type { Numbering } from './numbering.ts'

/** The statements that read and prune events. */
function eventLogSql ({ dialect }: Executor, { events }: Names) {
  const { p, limit, packed, events: { number, writtenOrder } } = dialect

  // The partial index of positions has it. Where all events have a position, nobody asks for it.
  const newest = number === null ? '' : `, (SELECT max(position) FROM ${events}) AS newest`

  /** 1: id of the event to read after, or null; 2: limit; from 3 on: each type. */
  function read (types: number): string {
    const after = `(SELECT position FROM ${events} WHERE id = ${p(1)})`
    const start = `coalesce(${after}, CASE WHEN ${p(1)} IS NULL THEN 0 END)`
    const rows = (condition: string) =>
      `SELECT * FROM ${events} WHERE ${condition}position > ${start} ORDER BY position LIMIT ${limit(2)}`
    // Each type by its own part of the index, so that rare ones are found without a look at all others.
    const ofTypes = Array.from({ length: types }, (_, i) =>
      `SELECT * FROM (${rows(`type = ${p(3 + i)} AND `)}) AS t${i}`)
    const page = types === 0
      ? rows('')
      : `SELECT * FROM (${ofTypes.join(' UNION ALL ')}) AS of_types ORDER BY position LIMIT ${limit(2)}`
    return `SELECT ${after} AS position${newest}, ${packed(EVENT_COLUMNS, page)} AS items`
  }

  const history = `SELECT * FROM ${events} WHERE subject = ${p(1)} ORDER BY ${writtenOrder} DESC ` +
    `LIMIT ${limit(2)} OFFSET ${limit(3)}`
  const oldest = `SELECT position, happened_at FROM ${events} WHERE position > 0 ORDER BY position LIMIT ${limit(1)}`
  const next = 'min(position) OVER (ORDER BY position ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING)'
  const latest = 'max(happened_at) OVER (ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING)'
  const withNext = `SELECT position, ${next} AS next, ${latest} AS latest FROM (${oldest}) AS oldest`
  return {
    read,
    history: `SELECT (SELECT count(*) FROM ${events} WHERE subject = ${p(1)}) AS total, ` +
      `${packed(EVENT_COLUMNS, history)} AS items`,
    /** 1: how many at most, and one more; 2: the time. */
    prune: `DELETE FROM ${events} WHERE position IN ` +
      `(SELECT position FROM (${withNext}) AS q WHERE next IS NOT NULL AND latest < ${p(2)}) RETURNING position`
  }
}

/** The recorded events in SQL. */
export function knexEventLog (
  executor: Executor,
  names: Names,
  writes: EventWrites,
  numbering: Numbering
): EventLog {
  const { read, query, transaction } = executor
  const sql = eventLogSql(executor, names)

  async function readPage ({ after, limit, types }: EventsRequest) {
    const params: Param[] = [after, limit + 1, ...types ?? []]
    const [row] = await read(sql.read(types?.length ?? 0), params)
    const events = unpacked(EVENT_COLUMNS, row?.['items']).map(toEvent)
    const isKnown = after === null || row?.['position'] !== null
    const more = events.length > limit
    return { isKnown, events: events.slice(0, limit), more, newest: Number(row?.['newest'] ?? 0) }
  }

  /** True if an event has a position now that it did not have when the page was read, whoever has given it. */
  async function isBehind (newest: number): Promise<boolean> {
    return numbering.some !== null && (await numbering.some()).newest > newest
  }

  return {
    async read (request) {
      if (request.after !== null && !isStorable(request.after)) return null
      const types = request.types === null ? null : [...new Set(request.types)].filter(isStorable)
      let page = await readPage({ ...request, types })
      if (!page.isKnown) await numbering.all()
      // What it lacks may be committed, and not have its position yet.
      if (!page.more && (await isBehind(page.newest) || !page.isKnown)) page = await readPage({ ...request, types })
      return page.isKnown ? { events: page.events, more: page.more } : null
    },

    async history (subject, { offset, limit }) {
      if (!isStorable(subject)) return { items: [], total: 0 }
      const [row] = await read(sql.history, [subject, limit, offset])
      return { items: unpacked(EVENT_COLUMNS, row?.['items']).map(toEvent), total: Number(row?.['total']) }
    },

    async erase (userId) {
      if (!isStorable(userId)) return 0
      const since = performance.now()
      const counted = await writes.writesToErase(query, userId)
      return transaction((on) => writes.erase(on, userId), { waitsFor: userId, since, writes: counted })
    },

    async prune (before, limit) {
      await numbering.all()
      return (await query(sql.prune, [limit + 1, before])).length
    }
  }
}
