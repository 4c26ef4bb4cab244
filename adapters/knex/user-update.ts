import { updateEvents } from '../../lib/storage/recorded-events.ts'
import type { NewEvent, UserChanges } from '../../lib/storage/storage.ts'
import { type GroupedWrite, groupCommits } from './batching/group-commit.ts'
import type { Bookkeeping } from './bookkeeping.ts'
import type { Batching, Executor, Query, QueryOptions } from './connection/executor.ts'
import { LOCK_WAIT_MS } from './dialects/dialect.ts'
import type { Param, Statement } from './drivers/driver.ts'
import { EVENT_VALUES, eventOf, eventValues } from './events/event-writes.ts'
import type { Names } from './tables/names.ts'
import { type Row, toUser } from './tables/rows.ts'
import {
  groupUpdate, guardConditions, type OwnedGuard, recordedUpdate, singleUpdates, type UpdateKind, valuesOf
} from './user-update-sql.ts'
import type { FieldLists } from './schema/word-list.ts'

/**
 * Updates a user if a value differs and the guard holds, and records the event. Returns the row after it; undefined if
 * nothing was done.
 */
export type Update = (
  id: string,
  changes: UserChanges,
  updatedAt: string,
  guard: OwnedGuard,
  event: NewEvent | null
) => Promise<Row | undefined>

/**
 * True if an update sets a value that another user may have. It would have its whole group refused; and if another of
 * the group gives that value up, the group's events may be recorded in another order than its changes are made.
 */
function setsUniqueValue ({ email, fields = {} }: UserChanges, uniqueFields: ReadonlySet<string>): boolean {
  return email !== undefined || [...uniqueFields].some((name) => Object.hasOwn(fields, name))
}

/**
 * Makes the update of an executor. With batching, concurrent updates that set no unique value, and that ask for at most
 * one version, are combined.
 */
export function userUpdate (
  executor: Executor,
  names: Names,
  returned: string,
  { lists, books }: { lists: FieldLists, books: Bookkeeping }
): Update {
  const { dialect, query, transaction, batching } = executor
  const { batch, transaction: { lockTimeoutMs } } = dialect
  const readsFirst = dialect.events.take !== null
  const lockAll = `SELECT ${returned} FROM ${names.users} WHERE ${dialect.isIn('id', 1, 'text')} ` +
    `ORDER BY id${dialect.forUpdate}`
  const groups = new Map<string, GroupedWrite>()
  const singleUpdate = singleUpdates(dialect, names, returned)

  /** Runs the statements of recorded updates, and returns the rows of the last one. */
  async function runAll (
    statements: readonly string[],
    params: readonly Param[],
    options: QueryOptions
  ): Promise<Row[]> {
    const [only = '', ...more] = statements
    if (more.length === 0) return query(only, params, options)
    const { waitsFor = null, since = performance.now() } = options
    return transaction(async (on: Query) => {
      let rows: Row[] = []
      for (const statement of statements) rows = await on(statement, params)
      return rows
    }, { waitsFor, since })
  }

  /**
   * Updates users and records the events, each with what was before: the users are read and locked first, since the
   * database can't write to two tables with one statement. `given`: the events by their users' ids.
   */
  async function readAndUpdate (
    on: Query,
    given: ReadonlyMap<unknown, NewEvent>,
    update: Statement
  ): Promise<Row[]> {
    const before = new Map((await on(lockAll, [[...given.keys()].map(String)])).map((row) => [row['id'], toUser(row)]))
    const rows = await on(update.sql, update.params)
    await books.recordUpdates(on, rows.flatMap((row) => {
      const [event, user] = [given.get(row['id']), before.get(String(row['id']))]
      return event === undefined || user === undefined ? [] : updateEvents(event, user, toUser(row))
    }))
    return rows
  }

  /** A group where what is written is read first. */
  function readingGroup (kind: UpdateKind, isRecorded: boolean, batching: Batching): GroupedWrite {
    const sql = groupUpdate(dialect, names, returned, kind)
    return groupCommits(batching, (all, since) => transaction(async (on) => {
      if (lockTimeoutMs !== null) await on(lockTimeoutMs(LOCK_WAIT_MS))
      if (!isRecorded) return on(sql, batch.values(all))
      const events = new Map(all.map((values) => [values[0], eventOf(values.slice(-EVENT_VALUES.length))]))
      const params = batch.values(all.map((values) => values.slice(0, -EVENT_VALUES.length)))
      return readAndUpdate(on, events, { sql, params })
    }, { since }))
  }

  function groupFor (kind: UpdateKind, isRecorded: boolean, batching: Batching): GroupedWrite {
    const name = `${kind.columns} ${kind.guarded} ${kind.owned} ${kind.standing} ${isRecorded}`
    const known = groups.get(name)
    if (known !== undefined) return known
    if (readsFirst) {
      const reading = readingGroup(kind, isRecorded, batching)
      groups.set(name, reading)
      return reading
    }
    const statements = isRecorded
      ? recordedUpdate(dialect, names, returned, { ...kind, conditions: [], bounded: true })
      : [groupUpdate(dialect, names, returned, kind)]
    const options = { retry: false, keepPlan: batch.keepsPlan }
    const group = groupCommits(batching, (all, since) =>
      runAll(statements, batch.values(all), { ...options, since }))
    groups.set(name, group)
    return group
  }

  return async (id, changes, updatedAt, guard, event) => {
    const values = valuesOf(changes, updatedAt, lists.words)
    const changesNothing = values.size === 1
    if (changesNothing) return undefined
    const columns = [...values.keys()]
    const recorded = event === null ? [] : eventValues(event)

    async function alone (since: number): Promise<Row | undefined> {
      const options = { savepoint: changes.email !== undefined || changes.fields !== undefined, waitsFor: id, since }
      if (event === null) {
        const { sql, params } = singleUpdate({ id, values, guard })
        return (await query(sql, params, options))[0]
      }
      if (readsFirst) {
        const update = singleUpdate({ id, values, guard })
        const rows = await transaction((on) => readAndUpdate(on, new Map([[id, event]]), update), options)
        return rows[0]
      }
      const params = batch.values([[id, ...values.values(), ...recorded]])
      const conditions = guardConditions(dialect, guard, (value) => params.push(value))
      const kind = { columns, guarded: false, owned: false, standing: [], conditions, bounded: false }
      return (await runAll(recordedUpdate(dialect, names, returned, kind), params, options))[0]
    }

    const { ifVersion, unlessVersion, tenant, standing = [] } = guard
    const isPlain = unlessVersion.length === 0 && (ifVersion === null || ifVersion.length === 1)
    if (batching === null || !isPlain || setsUniqueValue(changes, lists.unique)) return alone(performance.now())
    const kept = standing.map(([column]) => column)
    const kind = { columns, guarded: ifVersion !== null, owned: tenant !== undefined, standing: kept }
    const group = groupFor(kind, event !== null, batching)
    const of = tenant === undefined ? [] : [tenant]
    const conditions = [...(ifVersion ?? []), ...of, ...standing.map(([, value]) => value)]
    return group(id, [id, ...values.values(), ...conditions, ...recorded], alone)
  }
}
