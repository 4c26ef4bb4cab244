import type { EventRecord, Rewrite, Unit } from '../../../lib/storage/storage.ts'
import type { Query } from '../connection/executor.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { EVENT_PARTS, eventParts } from '../events/event-writes.ts'
import { EVENT_COLUMNS } from '../tables/columns.ts'
import { actorKey } from '../tables/event-places.ts'
import type { Names } from '../tables/names.ts'
import { toEvent, unpacked } from '../tables/rows.ts'

// Rewrite at most 500 events per statement.
const TOGETHER = 500

export type RewriteEvents = ReturnType<typeof rewriteEvents>

/** The events of a unit as its rewritings of an actor leave them: in the log they reach those that have a position. */
export function eventsOf ({ events, rewrites }: Unit): EventRecord[] {
  return events.map((event) => rewrites.reduce((each, { of, make }) =>
    'actor' in of && each.actor?.id === of.actor ? make(each) : each, event))
}

/** Makes what writes recorded events anew. */
export function rewriteEvents (dialect: Dialect, names: Names) {
  const { events } = names
  const { batch, p, limit, packed, events: { writtenOrder } } = dialect
  const replace = `UPDATE ${events} SET data = q_data, before = q_before, context = q_context, tenant = q_tenant ` +
    `FROM ${batch.rows(EVENT_PARTS)} WHERE id = q_id${batch.idCondition}`

  /** Which events, by the first value, and the order in which they are read. */
  function chosen (of: Rewrite['of']): { where: string, order: string, value: string } {
    if ('subject' in of) return { where: `subject = ${p(1)}`, order: writtenOrder, value: of.subject }
    if ('actor' in of) {
      // Of the index of actors. One of another subject that has no position yet stays: while it is locked, a later
      // version could get its position first.
      const where = `actor_key = ${p(1)} AND actor_key <> '' AND position IS NOT NULL AND subject <> ${p(1)}`
      return { where, order: 'position', value: actorKey(of.actor) }
    }
    const isOne = of.tenant === null ? '' : " AND tenant <> ''"
    return { where: `tenant = ${p(1)}${isOne}`, order: writtenOrder, value: of.tenant ?? '' }
  }

  return {
    /** Rewrites at most `most` of them, and returns how many. */
    async all (on: Query, { of, make }: Rewrite, most: number): Promise<number> {
      const { where, order, value } = chosen(of)
      const columns = [...EVENT_COLUMNS, { name: 'place', column: order, kind: 'plain' } as const]
      const some = `SELECT * FROM ${events} WHERE ${where} AND ${order} > ${p(2)} ORDER BY ${order} LIMIT ${limit(3)}`
      const read = `SELECT ${packed(columns, some)} AS items`
      let count = 0
      // Not by their number: others may prune some of them meanwhile.
      for (let after = 0; count < most;) {
        const [row] = await on(read, [value, after, TOGETHER])
        const rows = unpacked(columns, row?.['items'])
        const last = rows.at(-1)
        if (last === undefined) break
        const made = rows.flatMap((each) => {
          const before = toEvent(each)
          const event = make(before)
          return event === before ? [] : [eventParts(event)]
        }).slice(0, most - count)
        if (made.length > 0) await on(replace, batch.values(made))
        after = Number(last['place'])
        count += made.length
      }
      return count
    },

    /** About how many events these are. */
    async count (on: Query, rewrites: readonly Rewrite[]): Promise<number> {
      let sum = 0
      for (const { of } of rewrites) {
        const { where, value } = chosen(of)
        const [row] = await on(`SELECT count(*) AS total FROM ${events} WHERE ${where}`, [value])
        sum += Number(row?.['total'])
      }
      return sum
    }
  }
}
