import type { Dialect } from '../dialect.ts'
import type { Names } from '../names.ts'

// A page is found by the numbers of the groups, then by those of the blocks in one, and then by skipping at most the users of one block: these sizes keep all three short
// up to far beyond ten million users.

/** Users in a block when it is sealed. */
export const BLOCK = 256

/** Blocks in a group. SQLite has an index that finds a group, so that what counts there is the walk along its blocks; PostgreSQL looks at all groups. */
export function groupOf ({ name }: Dialect): number {
  return name === 'sqlite' ? 16 : 64
}

/** The statement that cuts the users from one id up to another, which is outside, into blocks; both are SQL expressions. A block that begins where one begins is counted anew. */
export function cutUsers ({ users, blocks }: Names, from: string, to: string): string {
  return `INSERT INTO ${blocks} (start, live) SELECT CASE WHEN n = 0 THEN ${from} ELSE min(id) END, count(*) ` +
    `FROM (SELECT id, (row_number() OVER (ORDER BY id) - 1) / ${BLOCK} AS n FROM ${users} WHERE id >= ${from} AND id < ${to}) AS r GROUP BY n ORDER BY n ` +
    'ON CONFLICT (start) DO UPDATE SET live = excluded.live'
}

/** The statements that cut all blocks into groups, and count all. */
export function cutBlocks (dialect: Dialect, { blocks, blockGroups, sealing }: Names): string[] {
  const groups = `SELECT start, before FROM (SELECT start, sum(live) OVER (ORDER BY start) - live AS before, row_number() OVER (ORDER BY start) - 1 AS n FROM ${blocks}) AS r WHERE n % ${groupOf(dialect)} = 0`
  return [
    `DELETE FROM ${blockGroups} WHERE start NOT IN (SELECT start FROM (${groups}) AS g)`,
    `INSERT INTO ${blockGroups} (start, before) ${groups} ON CONFLICT (start) DO UPDATE SET before = excluded.before WHERE ${blockGroups}.before <> excluded.before`,
    `UPDATE ${sealing} SET counted = (SELECT sum(live) FROM ${blocks})`
  ]
}
