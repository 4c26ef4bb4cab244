import { BLOCK, BLOCKS_PER_GROUP } from '../tables/block-sizes.ts'
import type { Names } from '../tables/names.ts'

/**
 * The statement that splits the users from one id up to another, exclusive, into blocks. Both are SQL expressions. An
 * existing block with the same first id is counted again.
 */
export function splitUsers ({ users, blocks }: Names, from: string, to: string): string {
  const numbered = `SELECT id, (row_number() OVER (ORDER BY id) - 1) / ${BLOCK} AS n ` +
    `FROM ${users} WHERE id >= ${from} AND id < ${to}`
  return `INSERT INTO ${blocks} (first_id, users) SELECT CASE WHEN n = 0 THEN ${from} ELSE min(id) END, count(*) ` +
    `FROM (${numbered}) AS r GROUP BY n ORDER BY n ON CONFLICT (first_id) DO UPDATE SET users = excluded.users`
}

/** The statements that split all blocks into groups, and add them up. */
export function splitBlocks ({ blocks, groups, state }: Names): string[] {
  const summed = 'SELECT first_id, sum(users) OVER (ORDER BY first_id) - users AS users_before, ' +
    `row_number() OVER (ORDER BY first_id) - 1 AS n FROM ${blocks}`
  const all = `SELECT first_id, users_before FROM (${summed}) AS r WHERE n % CAST(${BLOCKS_PER_GROUP} AS bigint) = 0`
  return [
    `DELETE FROM ${groups} WHERE first_id NOT IN (SELECT first_id FROM (${all}) AS g)`,
    `INSERT INTO ${groups} (first_id, users_before) ${all} ON CONFLICT (first_id) DO UPDATE ` +
      `SET users_before = excluded.users_before WHERE ${groups}.users_before <> excluded.users_before`,
    `UPDATE ${state} SET total = (SELECT sum(users) FROM ${blocks})`
  ]
}
