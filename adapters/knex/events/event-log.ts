import { afterPruning } from '../../../lib/storage/recorded-events.ts'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { EventLog } from '../../../lib/storage/storage.ts'
import type { EventsRequest, PrunedEvents } from '../../../lib/storage/storage.ts'
import { isStorable } from '../../../lib/core/text.ts'
import type { Executor, Query } from '../connection/executor.ts'
import { EVENT_COLUMNS, PRUNED_COLUMNS } from '../tables/columns.ts'
import type { Names } from '../tables/names.ts'
import { type Row, toEvent, unpacked } from '../tables/rows.ts'
import { pageOfEvents } from './event-pages.ts'
import type { Numbering } from './numbering.ts'

/** The statements that read and prune events, beside those of pages. */
function eventLogSql ({ dialect }: Executor, { events, prunedEvents }: Names) {
  const { p, limit, packed, select, events: { writtenOrder } } = dialect

  /** 1: the subject; 2: limit; 3: offset; from 4 on: the tenant, then each type. `types`: how many; null: all. */
  function history (types: number | null, ofTenant: boolean): string {
    const list = Array.from({ length: types ?? 0 }, (_, i) => p((ofTenant ? 5 : 4) + i))
    const where = `subject = ${p(1)}${ofTenant ? ` AND tenant = ${p(4)}` : ''}` +
      (types === null ? '' : ` AND type IN (${types === 0 ? 'NULL' : list.join(', ')})`)
    const page = `SELECT * FROM ${events} WHERE ${where} ORDER BY ${writtenOrder} DESC ` +
      `LIMIT ${limit(2)} OFFSET ${limit(3)}`
    return `SELECT (SELECT count(*) FROM ${events} WHERE ${where}) AS total, ${packed(EVENT_COLUMNS, page)} AS items`
  }

  const oldest = `SELECT position, happened_at FROM ${events} WHERE position > 0 ORDER BY position LIMIT ${limit(1)}`
  const next = 'min(position) OVER (ORDER BY position ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING)'
  const latest = 'max(happened_at) OVER (ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING)'
  const withNext = `SELECT position, ${next} AS next, ${latest} AS latest FROM (${oldest}) AS oldest`
  return {
    history,
    find: `SELECT ${packed(EVENT_COLUMNS, `SELECT * FROM ${events} WHERE id = ${p(1)}`)} AS items`,
    /** 1: how many at most, and one more; 2: the time. */
    prune: `DELETE FROM ${events} WHERE position IN ` +
      `(SELECT position FROM (${withNext}) AS q WHERE next IS NOT NULL AND latest < ${p(2)}) ` +
      'RETURNING position, id, type',
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
    },
    pruned: `SELECT ${select(PRUNED_COLUMNS)} FROM ${prunedEvents} ORDER BY place`,
    forget: `DELETE FROM ${prunedEvents}`,
    note: `INSERT INTO ${prunedEvents} (place, type, id, greatest_id) VALUES (${[1, 2, 3, 4].map(p).join(', ')})`
  }
}

/** The recorded events in SQL. */
export function knexEventLog (
  executor: Executor, names: Names, numbering: Numbering
): Omit<EventLog, 'rewrite'> {
  const { dialect, read, query, transaction } = executor
  const sql = eventLogSql(executor, names)

  async function readPage (request: EventsRequest) {
    const { after, limit, order, subject } = request
    const { sql, params } = pageOfEvents(request, executor.dialect, names)
    const [row] = await read(sql, params)
    const events = unpacked(EVENT_COLUMNS, row?.['items']).map(toEvent)
    const isKnown = after === null || row?.['position'] !== null
    const more = events.length > limit
    const shown = events.slice(0, limit)
    const last: string | null = Object(row)['last_id']
    const passed = more && order !== 'desc' ? shown.at(-1)?.id : last
    const position = order === 'desc' && after !== null ? null : passed ?? null
    const total = subject === undefined || order !== 'desc' ? {} : { total: Number(row?.['total']) }
    return { isKnown, page: { events: shown, more, position, ...total }, newest: Number(row?.['newest'] ?? 0) }
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

  /** True for a standby: what it does not have may be on its primary. */
  async function isReadOnly (): Promise<boolean> {
    return dialect.isReadOnly !== null && (await query(dialect.isReadOnly)).length > 0
  }

  return {
    async read ({ types, ...asked }) {
      const { after, order, subject } = asked
      if (after !== null && !isStorable(after)) return null
      const request = {
        ...asked,
        types: types && [...new Set(types)].filter(isStorable),
        // Nothing has an empty id.
        ...(subject !== undefined && { subject: isStorable(subject) ? subject : '' })
      }
      // The newest may be committed, and not have their positions yet.
      if (after === null && order === 'desc') await numbering.all()
      let found = await readPage(request)
      if (!found.isKnown) {
        await numbering.all()
        found = await readPage(request)
      }
      // What it lacks may be committed, and not have its position yet, however many events do not.
      let mayLack = order !== 'desc'
      while (mayLack && !found.page.more && numbering.some !== null) {
        const { newest, isWhole } = await numbering.some()
        // Whoever has given the positions.
        if (newest > found.newest) found = await readPage(request)
        mayLack = !isWhole
      }
      if (!found.isKnown && await isReadOnly()) {
        throw new StorageError('unavailable', 'the server accepts no writes, and does not have the event (yet)')
      }
      return found.isKnown ? found.page : null
    },

    async find (id) {
      const [row] = isStorable(id) ? await read(sql.find, [id]) : []
      return unpacked(EVENT_COLUMNS, row?.['items'] ?? null).map(toEvent)[0] ?? null
    },

    async history (subject, { offset, limit, types, tenant }) {
      if (!isStorable(subject)) return { items: [], total: 0 }
      const wanted = types?.filter(isStorable)
      const of = [...tenant === undefined ? [] : [tenant], ...wanted ?? []]
      const statement = sql.history(wanted?.length ?? null, tenant !== undefined)
      const [row] = await read(statement, [subject, limit, offset, ...of])
      return { items: unpacked(EVENT_COLUMNS, row?.['items']).map(toEvent), total: Number(row?.['total']) }
    },

    async before (id, tenant) {
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
