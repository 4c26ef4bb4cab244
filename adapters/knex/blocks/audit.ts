import type { Names } from '../names.ts'
import type { OwnSession } from '../session.ts'

/** What the blocks say, held against the users themselves. */
export interface CountsReport {
  /** Users in the table. */
  users: number
  /** Users as lists count them. */
  counted: number
  /** Numbers of the bookkeeping that are wrong; 0 where all is well. */
  wrong: number
}

/** Makes the audit: every number of the bookkeeping against a count, all in one statement. */
export function auditor ({ dialect, snapshot }: OwnSession, { users, blocks, blockGroups, blockChanges, sealing }: Names): () => Promise<CountsReport> {
  const audit = `WITH s AS (SELECT sealed, counted FROM ${sealing}),
    c AS (SELECT start, sum(change) AS change FROM (SELECT (SELECT max(b.start) FROM ${blocks} AS b WHERE b.start <= h.id) AS start, h.change FROM ${blockChanges} AS h, s WHERE h.id < s.sealed) AS r GROUP BY start),
    b AS (SELECT start, live, sum(live) OVER (ORDER BY start) - live AS before, coalesce(lead(start) OVER (ORDER BY start), (SELECT sealed FROM s)) AS next FROM ${blocks}),
    k AS (SELECT b.start, b.live + coalesce(c.change, 0) AS live, (SELECT count(*) FROM ${users} AS u WHERE u.id >= b.start AND u.id < b.next) AS found FROM b LEFT JOIN c ON c.start = b.start)
    SELECT (SELECT count(*) FROM ${users}) AS users,
      (SELECT counted FROM s) + coalesce((SELECT sum(change) FROM c), 0) + (SELECT count(*) FROM ${users} WHERE id >= (SELECT sealed FROM s)) AS counted,
      (SELECT count(*) FROM k WHERE live <> found) +
      (SELECT count(*) FROM ${blockGroups} AS g LEFT JOIN b ON b.start = g.start WHERE b.before IS NULL OR b.before <> g.before) +
      (SELECT count(*) FROM s WHERE counted <> (SELECT coalesce(sum(live), 0) FROM ${blocks})) AS wrong`

  return () => snapshot(async (on) => {
    const [row] = await on(audit)
    return { users: Number(row?.['users']), counted: Number(row?.['counted']), wrong: Number(row?.['wrong']) }
  }, { begin: dialect.snapshot.read })
}
