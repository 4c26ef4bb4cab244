import type { PoolExecutor } from '../connection/executor.ts'
import { USER_CONSTRAINTS } from '../dialects/user-constraints.ts'
import type { Names } from '../tables/names.ts'

/** The counted numbers, compared with the users themselves. */
export interface CountsReport {
  /** Users in the table. */
  users: number
  /** Users as lists count them. */
  counted: number
  /** Wrong numbers in the counting tables, of all users and of tenants; 0 if all are right. */
  wrong: number
  /** Users that do not fit the table's constraints: those that there are, each with the number of users. */
  malformed: ReadonlyArray<{ constraint: string, users: number, asks: string }>
}

/** Makes the function that compares every number of the counting tables with a count, in one statement. */
export function countsVerifier ({ dialect, snapshot }: PoolExecutor, names: Names): () => Promise<CountsReport> {
  const { users, blocks, groups, changes, state } = names
  const firstId = `SELECT max(b.first_id) FROM ${blocks} AS b WHERE b.scope = h.scope AND b.first_id <= h.user_id`
  const blockOfChange = `SELECT h.scope, (${firstId}) AS first_id, h.change
        FROM ${changes} AS h JOIN s ON s.scope = h.scope WHERE h.user_id < s.boundary`
  const usersIn = `SELECT count(*) FROM ${users} AS u WHERE u.id >= b.first_id AND u.id < b.next`
  const usersOfScope = `CASE WHEN b.scope = '' THEN (${usersIn})
          ELSE (${usersIn} AND u.tenant = b.scope AND u.tenant <> '') END`
  const misfits = USER_CONSTRAINTS.map(({ holds }, i) =>
    `count(*) FILTER (WHERE (${holds(dialect.schema)}) IS NOT TRUE) AS misfits${i}`)
  const byBlocks = `WITH s AS (SELECT scope, boundary, total FROM ${state}),
    c AS (SELECT scope, first_id, sum(change) AS change FROM (${blockOfChange}) AS r GROUP BY scope, first_id),
    b AS (SELECT s.scope, first_id, users,
        sum(users) OVER (PARTITION BY s.scope ORDER BY first_id) - users AS users_before,
        coalesce(min(first_id) OVER (PARTITION BY s.scope ORDER BY first_id ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING),
          s.boundary) AS next FROM ${blocks} AS l JOIN s ON s.scope = l.scope),
    k AS (SELECT b.users + coalesce(c.change, 0) AS counted, ${usersOfScope} AS found
        FROM b LEFT JOIN c ON c.scope = b.scope AND c.first_id = b.first_id)
    SELECT (SELECT count(*) FROM ${users}) AS users,
      (SELECT total FROM s WHERE scope = '') +
        CAST(coalesce((SELECT sum(change) FROM c WHERE scope = ''), 0) AS bigint) +
        (SELECT count(*) FROM ${users} WHERE id >= (SELECT boundary FROM s WHERE scope = '')) AS counted,
      (SELECT count(*) FROM k WHERE counted <> found) +
        (SELECT count(*) FROM ${groups} AS g LEFT JOIN b ON b.scope = g.scope AND b.first_id = g.first_id
          WHERE b.users_before IS NULL OR b.users_before <> g.users_before) +
        (SELECT count(*) FROM s WHERE total <>
          (SELECT coalesce(sum(users), 0) FROM ${blocks} AS l WHERE l.scope = s.scope)) AS wrong,
      ${misfits.join(', ')} FROM ${users}`
  const byHand = dialect.counting.byHand?.counted(names)
  const sql = byHand === undefined
    ? byBlocks
    : `SELECT (SELECT count(*) FROM ${users}) AS users, ${byHand.all} AS counted, ${byHand.wrong} AS wrong,
      ${misfits.join(', ')} FROM ${users}`

  return () => snapshot(async (query) => {
    const [row] = await query(sql)
    return {
      users: Number(row?.['users']),
      counted: Number(row?.['counted']),
      wrong: Number(row?.['wrong']),
      malformed: USER_CONSTRAINTS
        .map(({ name, asks }, i) => ({ constraint: names.bare(name), users: Number(row?.[`misfits${i}`]), asks }))
        .filter(({ users }) => users > 0)
    }
  }, { begin: dialect.transaction.beginSnapshotRead })
}
