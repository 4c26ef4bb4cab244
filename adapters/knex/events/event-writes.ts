import { apiKeyEvent, erased, userEvent, withoutActorName } from '../../../lib/storage/recorded-events.ts'
import type { ApiKeyRecord, EventRecord, JsonObject, NewEvent, UserRecord } from '../../../lib/storage/storage.ts'
import type { Query } from '../connection/executor.ts'
import type { Dialect, TypedColumn } from '../dialects/dialect.ts'
import type { Param } from '../drivers/driver.ts'
import { EVENT_COLUMNS } from '../tables/columns.ts'
import { actorKey } from '../tables/event-places.ts'
import type { Names } from '../tables/names.ts'
import { toEvent, unpacked } from '../tables/rows.ts'

/** What a row of a batch has of the event that its write records. */
export const EVENT_VALUES: readonly TypedColumn[] = [
  ['event_id', 'text'], ['event_type', 'text'], ['event_time', 'timestamptz'], ['event_context', 'json'],
  ['event_actor', 'text']
]

/** The columns that an event is written to, in the order of {@link EVENT_VALUES}, then the rest. */
export const EVENT_TARGETS = 'id, type, happened_at, context, actor_key, subject, data, tenant'

/** The event of which these are the values. */
export function eventOf ([id, type, timestamp, context]: readonly Param[]): NewEvent {
  const { actor, requestId } = Object(JSON.parse(String(context)))
  return { id: String(id), type: String(type), timestamp: String(timestamp), actor, requestId }
}

/** The columns of an event of which nothing was before. */
export const RECORDED: readonly TypedColumn[] = [
  ...EVENT_VALUES, ['subject', 'text'], ['data', 'json'], ['tenant', 'text']
]

// Erase at most 500 events of a user per statement.
const ERASED_TOGETHER = 500
// Each 100 erased events extend the time limit by that of one write.
const ERASED_PER_WRITE = 100

/** The values of an event, in the order of {@link EVENT_VALUES}. */
export function eventValues ({ id, type, timestamp, actor, requestId }: NewEvent): string[] {
  return [id, type, timestamp, JSON.stringify({ actor, requestId }), actorKey(actor?.id)]
}

/** All values of the event of a user's creation or deletion. */
export function userEventValues (event: NewEvent, user: UserRecord): string[] {
  return recordedValues(userEvent(event, user))
}

/** All values of an event of which nothing was before. */
export function recordedValues (event: EventRecord): string[] {
  return [...eventValues(event), event.subject, JSON.stringify(event.data), event.tenant ?? '']
}

/** What an erasure changes of an event, by its id. */
export const EVENT_PARTS: readonly TypedColumn[] = [
  ['id', 'text'], ['data', 'json'], ['before', 'json'], ['context', 'json']
]

/** The values of an event, in the order of {@link EVENT_PARTS}. */
export function eventParts ({ id, data, before, actor, requestId }: EventRecord): string[] {
  return [id, JSON.stringify(data), JSON.stringify(before), JSON.stringify({ actor, requestId })]
}

const POSITION: TypedColumn = ['position', 'bigint']

const UPDATES: readonly TypedColumn[] = [...RECORDED, ['before', 'json']]

/** What was before, as a row has it: null would say that the reason has not changed. */
function beforeOf ({ before }: EventRecord): JsonObject | null {
  return before?.['statusReason'] === null ? { ...before, statusReason: '' } : before
}

/** Writes events, in the transaction of their changes. */
export interface EventWrites {
  /** Records events whose values are complete. */
  record (on: Query, events: ReadonlyArray<readonly Param[]>): Promise<void>
  /** Records events that say what was before. */
  recordUpdates (on: Query, events: readonly EventRecord[]): Promise<void>
  recordApiKey (on: Query, event: NewEvent | null, key: ApiKeyRecord): Promise<void>
  /**
   * Erases the events of a user, and its name in those of changes that it made, and returns how many there are. One of
   * another subject that has no position yet stays: while it is locked, a later version could get its position first.
   */
  erase (on: Query, userId: string, tenant?: string): Promise<number>
  /** As how many writes an erasure counts for the time that it may take. */
  writesToErase (on: Query, userId: string): Promise<number>
}

/** Makes the functions that write events. */
export function eventWrites (dialect: Dialect, names: Names): EventWrites {
  const { events } = names
  const { batch, p, limit, packed, events: { writtenOrder } } = dialect
  const take = dialect.events.take?.(names) ?? null
  const insertOf = (given: readonly TypedColumn[], targets: string): string => {
    const all = take === null ? given : [POSITION, ...given]
    return `INSERT INTO ${events} (${take === null ? '' : 'position, '}${targets}) ` +
      `SELECT ${all.map(([name]) => `q_${name}`).join(', ')} FROM ${batch.rows(all)}`
  }
  const insert = insertOf(RECORDED, EVENT_TARGETS)
  const insertUpdates = insertOf(UPDATES, `${EVENT_TARGETS}, before`)

  /** Inserts events, each with its place among all others. */
  async function insertAll (on: Query, statement: string, rows: ReadonlyArray<readonly Param[]>): Promise<void> {
    if (rows.length === 0) return
    if (take === null) {
      await on(statement, batch.values(rows))
      return
    }
    const [taken] = await on(take, [rows.length])
    const first = Number(taken?.['last']) - rows.length + 1
    await on(statement, batch.values(rows.map((row, i) => [first + i, ...row])))
  }

  // Of the index of actors.
  const byActor = `actor_key = ${p(1)} AND actor_key <> '' AND position IS NOT NULL AND subject <> ${p(1)}`
  const parts = [
    { where: `subject = ${p(1)}`, order: writtenOrder, change: erased },
    { where: byActor, order: 'position', change: withoutActorName }
  ]
  const replace = `UPDATE ${events} SET data = q_data, before = q_before, context = q_context ` +
    `FROM ${batch.rows(EVENT_PARTS)} WHERE id = q_id${batch.idCondition}`

  const record: EventWrites['record'] = (on, all) => insertAll(on, insert, all)

  return {
    record,
    async recordUpdates (on, all) {
      const rows = all.map((event) => [...recordedValues(event), JSON.stringify(beforeOf(event))])
      await insertAll(on, insertUpdates, rows)
    },
    recordApiKey: (on, event, key) => record(on, event === null ? [] : [recordedValues(apiKeyEvent(event, key))]),
    async erase (on, userId, tenant) {
      const [condition, of] = tenant === undefined ? ['', []] : [` AND tenant = ${p(4)}`, [tenant]]
      let count = 0
      for (const { where, order, change } of parts) {
        const columns = [...EVENT_COLUMNS, { name: 'place', column: order, kind: 'plain' } as const]
        const some = `SELECT * FROM ${events} WHERE ${where} AND ${order} > ${p(2)}${condition} ` +
          `ORDER BY ${order} LIMIT ${limit(3)}`
        const read = `SELECT ${packed(columns, some)} AS items`
        // Not by their number: others may prune some of them meanwhile.
        for (let after = 0; ;) {
          const [row] = await on(read, [userId, after, ERASED_TOGETHER, ...of])
          const rows = unpacked(columns, row?.['items'])
          const last = rows.at(-1)
          if (last === undefined) break
          await on(replace, batch.values(rows.map((each) => eventParts(change(toEvent(each))))))
          after = Number(last['place'])
          count += rows.length
        }
      }
      return count
    },
    async writesToErase (on, userId) {
      const counts = parts.map(({ where }) => `(SELECT count(*) FROM ${events} WHERE ${where})`)
      const [row] = await on(`SELECT ${counts.join(' + ')} AS total`, [userId])
      return Math.ceil(Number(row?.['total']) / ERASED_PER_WRITE)
    }
  }
}
