import { isStorable } from '../../lib/core/text.ts'
import { unassignedBy } from '../../lib/storage/storage-rules.ts'
import type { AssignmentStep, TenantStore } from '../../lib/storage/storage.ts'
import type { Bookkeeping } from './bookkeeping.ts'
import { waitedTooLong } from './connection/driver-errors.ts'
import type { Executor } from './connection/executor.ts'
import type { Compaction } from './counting/hand-counting.ts'
import { namingTakenField } from './schema/field-indexes.ts'
import { USER_COLUMNS } from './tables/columns.ts'
import type { Names } from './tables/names.ts'
import { toUser } from './tables/rows.ts'

// Ids of users lie between these.
const [BEFORE_ALL, BEHIND_ALL] = ['usr_', 'usr`']
// Events of the users of a step, for each user: a step with more of them has fewer users.
const EVENTS_EACH = 2

type Assigned = Omit<AssignmentStep, 'next'>

function assignmentSql (dialect: Executor['dialect'], names: Names) {
  const { users, events, deletedUsers } = names
  const { p, limit, isIn, member, batch } = dialect
  const assignTo = (lock: string) => `UPDATE ${dialect.usersBy('id', names)} SET tenant = ${p(1)}${lock} ` +
    `WHERE ${isIn('id', 2, 'text')} AND tenant = '' RETURNING id`
  return {
    // 1: the id behind which to look, 2: how many users, 3: how many events. Those of deleted users have no row of
    // users.
    window: `SELECT id, tenant, 0 AS of_event FROM
        (SELECT id, tenant FROM ${users} WHERE id > ${p(1)} ORDER BY id LIMIT ${limit(2)}) AS u
      UNION ALL SELECT subject, tenant, 1 FROM (SELECT subject, tenant FROM ${events}
        WHERE subject > ${p(1)} AND subject < '${BEHIND_ALL}' ORDER BY subject LIMIT ${limit(3)}) AS e`,
    // 1: the tenant, 2: the ids.
    assignAlone: assignTo(''),
    assignAll: assignTo(batch.lockTimeout === '' ? '' : ` FROM ${batch.lockTimeout.replace(/, $/, '')}`),
    assignEvents: `UPDATE ${events} SET tenant = ${p(1)} WHERE ${isIn('subject', 2, 'text')} AND tenant = '' ` +
      `AND coalesce((SELECT u.tenant = ${p(1)} FROM ${users} AS u WHERE u.id = subject), ` +
      `${member('data', 'name')} <> 'null')`,
    // 1: the tenant, 2: how many at most.
    assignDeleted: `UPDATE ${deletedUsers} SET tenant = ${p(1)} WHERE id IN ` +
      `(SELECT id FROM ${deletedUsers} WHERE tenant = '' LIMIT ${limit(2)}) RETURNING id`,
    find: `SELECT ${dialect.select(USER_COLUMNS)} FROM ${users} WHERE id = ${p(1)}`
  }
}

/** Gives users without a tenant to one, in SQL. */
export function knexAssignment (
  { dialect, read, query, transaction }: Executor,
  names: Names,
  { onAssign }: Pick<Compaction, 'onAssign'>,
  books: Bookkeeping
): TenantStore['assign'] {
  const sql = assignmentSql(dialect, names)

  /** Those of the next window who belong to no tenant, and its end; null: it is the last. */
  async function windowAfter (after: string, users: number): Promise<{ ids: string[], end: string | null }> {
    const events = users * EVENTS_EACH
    const rows = (await read(sql.window, [after, users, events]))
      .map((row) => ({ id: String(row['id']), tenant: row['tenant'], ofEvent: Number(row['of_event']) === 1 }))
    const lastOf = (ofEvent: boolean, full: number): string[] => {
      const ids = rows.filter((row) => row.ofEvent === ofEvent).map(({ id }) => id)
      return ids.length < full ? [] : [ids.sort().at(-1) ?? '']
    }
    const end = [...lastOf(false, users), ...lastOf(true, events)].sort()[0] ?? null
    const within = rows.filter(({ id, tenant }) => tenant === '' && (end === null || id <= end))
    return { ids: [...new Set(within.map(({ id }) => id))].sort(), end }
  }

  /** Assigns these users with their events, in one step. */
  function assignAll (tenant: string, ids: readonly string[]): Promise<number> {
    return transaction(async (on) => {
      const rows = await on(ids.length > 1 ? sql.assignAll : sql.assignAlone, [tenant, ids])
      await on(sql.assignEvents, [tenant, ids])
      await books.count(on, [{ scope: tenant, users: rows.length }])
      return rows.length
    }, { writes: ids.length })
  }

  /** Assigns one user, who may be refused. */
  async function assignOne (tenant: string, id: string): Promise<Assigned> {
    const [row] = await read(sql.find, [id])
    const fields = row === undefined ? {} : toUser(row).fields
    try {
      return { assigned: await namingTakenField(names, fields, () => assignAll(tenant, [id])), refused: [] }
    } catch (error) {
      return { assigned: 0, refused: [unassignedBy(error, id)] }
    }
  }

  /** Assigns many. If one of them is refused or locked, each half for itself, so that it holds up nobody else. */
  async function assign (tenant: string, ids: readonly string[]): Promise<Assigned> {
    const [first] = ids
    if (first === undefined) return { assigned: 0, refused: [] }
    if (ids.length === 1) return assignOne(tenant, first)
    try {
      return { assigned: await assignAll(tenant, ids), refused: [] }
    } catch (error) {
      if (!waitedTooLong(error)) unassignedBy(error, first)
      const middle = ids.length >> 1
      const one = await assign(tenant, ids.slice(0, middle))
      const other = await assign(tenant, ids.slice(middle))
      return { assigned: one.assigned + other.assigned, refused: [...one.refused, ...other.refused] }
    }
  }

  /** Assigns users who were deleted and can be restored. They hold nothing, so none of them is refused. */
  async function assignDeleted (tenant: string, limit: number): Promise<void> {
    while ((await query(sql.assignDeleted, [tenant, limit])).length > 0);
  }

  return async (tenant, { after, limit }) => {
    if (!isStorable(tenant)) return { assigned: 0, refused: [], next: null }
    const { ids, end } = await windowAfter(after ?? BEFORE_ALL, limit)
    const { assigned, refused } = await assign(tenant, ids)
    onAssign(tenant, assigned)
    if (end === null) await assignDeleted(tenant, limit)
    return { assigned, refused, next: end }
  }
}
