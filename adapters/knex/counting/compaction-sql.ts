import type { Dialect } from '../dialects/dialect.ts'
import { BLOCK, BLOCKS_PER_GROUP } from '../tables/block-sizes.ts'
import type { Names } from '../tables/names.ts'

/** The newest users stay in the tail, since the transactions of others of their age may still be open. */
export const KEPT_IN_TAIL = BLOCK / 4
/** A round moves at most so many blocks: it is one short transaction, however much there is to do. */
export const BLOCKS_PER_ROUND = 128
/** Users in the tail at which a part of it is moved into blocks. */
export const TAIL_MAX = BLOCK + KEPT_IN_TAIL
/** A larger block is split again. */
const BLOCK_MAX = 4 * BLOCK
/** A round splits at most so many blocks again. */
export const SPLITS_PER_ROUND = 8

/** The statements of compaction. Values are numbered from 1. */
export function compactionSql (dialect: Dialect, names: Names) {
  const { users, blocks, changes, state } = names
  const { p } = dialect
  const firstId = `SELECT max(b.first_id) FROM ${blocks} AS b WHERE b.first_id <= h.user_id`
  const blockOfChange = `SELECT (${firstId}) AS first_id, h.change FROM ${changes} AS h WHERE h.user_id < ${p(1)}`
  return {
    readState: 'SELECT boundary, next_boundary, round, ' +
      `(SELECT count(*) FROM ${changes} WHERE user_id < boundary) AS changes FROM ${state}`,
    /** 1: boundary. */
    tailLength: 'SELECT count(*) AS tail FROM ' +
      `(SELECT id FROM ${users} WHERE id >= ${p(1)} ORDER BY id LIMIT ${BLOCKS_PER_ROUND * BLOCK + TAIL_MAX}) AS t`,
    /** 1: boundary, 2: number of users after it. */
    idAfter: `SELECT id FROM ${users} WHERE id >= ${p(1)} ORDER BY id LIMIT 1 OFFSET ${p(2)}`,
    /** 1: new round, 2: next boundary, 3: round before, 4: boundary. */
    announce: `UPDATE ${state} SET round = ${p(1)}, next_boundary = ${p(2)} ` +
      `WHERE round = ${p(3)} AND boundary = ${p(4)}`,
    /** 1: round. */
    lockRound: `UPDATE ${state} SET round = round WHERE round = ${p(1)} RETURNING boundary, next_boundary`,
    /** Adds the changes below a boundary to their blocks. 1: boundary. */
    foldChanges: `UPDATE ${blocks} AS k SET users = k.users + c.change ` +
      `FROM (SELECT first_id, sum(change) AS change FROM (${blockOfChange}) AS r GROUP BY first_id) AS c ` +
      'WHERE k.first_id = c.first_id',
    /** 1: boundary. */
    deleteChanges: `DELETE FROM ${changes} WHERE user_id < ${p(1)}`,
    /** 1: from, 2: to. */
    split: splitUsers(names, p(1), p(2)),
    /** The blocks to split again, each with the end of its range. 1: boundary. */
    largeBlocks: 'SELECT first_id, ' +
      `coalesce((SELECT min(n.first_id) FROM ${blocks} AS n WHERE n.first_id > k.first_id), ${p(1)}) AS next ` +
      `FROM ${blocks} AS k WHERE users > ${BLOCK_MAX} ORDER BY first_id LIMIT ${SPLITS_PER_ROUND}`,
    deleteEmptyBlocks: `DELETE FROM ${blocks} WHERE users = 0 AND first_id <> ''`,
    regroup: splitBlocks(names),
    /** 1: boundary. */
    setBoundary: `UPDATE ${state} SET boundary = ${p(1)}`,
    /** Puts all users into the tail. 1: new round. */
    reset: `UPDATE ${state} SET boundary = '', next_boundary = '', round = ${p(1)}`,
    emptyBlocks: [`DELETE FROM ${blocks}`, `INSERT INTO ${blocks} (first_id, users) VALUES ('', 0)`]
  }
}

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
