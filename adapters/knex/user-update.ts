import type { NewEvent, UserChanges } from '../../lib/storage/storage.ts'
import { type GroupedWrite, groupCommits } from './batching/group-commit.ts'
import type { Batching, Executor, Query, QueryOptions } from './connection/executor.ts'
import type { Param } from './drivers/driver.ts'
import { eventValues } from './events/event-writes.ts'
import type { Names } from './tables/names.ts'
import type { Row } from './tables/rows.ts'
import {
  groupUpdate, guardConditions, type OwnedGuard, recordedUpdate, singleUpdate, type UpdateKind, valuesOf
} from './user-update-sql.ts'

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
  uniqueFields: ReadonlySet<string>
): Update {
  const { dialect, query, transaction, batching } = executor
  const { batch } = dialect
  const groups = new Map<string, GroupedWrite>()

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

  function groupFor (kind: UpdateKind, isRecorded: boolean, batching: Batching): GroupedWrite {
    const name = `${kind.columns} ${kind.guarded} ${kind.owned} ${kind.standing} ${isRecorded}`
    const known = groups.get(name)
    if (known !== undefined) return known
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
    const values = valuesOf(changes, updatedAt)
    const changesNothing = values.size === 1
    if (changesNothing) return undefined
    const columns = [...values.keys()]
    const recorded = event === null ? [] : eventValues(event)

    async function alone (since: number): Promise<Row | undefined> {
      const options = { savepoint: changes.email !== undefined || changes.fields !== undefined, waitsFor: id, since }
      if (event === null) {
        const { sql, params } = singleUpdate(dialect, names, returned, { id, values, guard })
        return (await query(sql, params, options))[0]
      }
      const params = batch.values([[id, ...values.values(), ...recorded]])
      const conditions = guardConditions(dialect, guard, (value) => params.push(value))
      const kind = { columns, guarded: false, owned: false, standing: [], conditions, bounded: false }
      return (await runAll(recordedUpdate(dialect, names, returned, kind), params, options))[0]
    }

    const { ifVersion, unlessVersion, tenant, standing = [] } = guard
    const isPlain = unlessVersion.length === 0 && (ifVersion === null || ifVersion.length === 1)
    if (batching === null || !isPlain || setsUniqueValue(changes, uniqueFields)) return alone(performance.now())
    const kept = standing.map(([column]) => column)
    const kind = { columns, guarded: ifVersion !== null, owned: tenant !== undefined, standing: kept }
    const group = groupFor(kind, event !== null, batching)
    const of = tenant === undefined ? [] : [tenant]
    const conditions = [...(ifVersion ?? []), ...of, ...standing.map(([, value]) => value)]
    return group(id, [id, ...values.values(), ...conditions, ...recorded], alone)
  }
}
