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

/**
 * The statements of compaction for all users, or for a tenant. Values are numbered from 1, and the first of each
 * statement is the scope: empty, or the tenant.
 */
export function compactionSql (dialect: Dialect, names: Names, ofTenant: boolean) {
  const { users, blocks, groups, changes, state } = names
  const { p } = dialect
  const scope = `scope = ${p(1)}`
  const belongs = belongsTo(dialect, ofTenant)
  // The boundary of a tenant is never ahead of that of all users: an insertion looks at this one alone.
  const boundaryOfAll = `SELECT boundary FROM ${state} WHERE scope = ''`
  const counted = ofTenant ? ` AND id < (${boundaryOfAll})` : ''
  const idAfter =
    `SELECT id FROM ${users} WHERE ${belongs} AND id >= ${p(2)}${counted} ORDER BY id LIMIT 1 OFFSET ${p(3)}`
  const firstId = `SELECT max(b.first_id) FROM ${blocks} AS b WHERE b.${scope} AND b.first_id <= h.user_id`
  const blockOfChange =
    `SELECT (${firstId}) AS first_id, h.change FROM ${changes} AS h WHERE h.${scope} AND h.user_id < ${p(2)}`
  return {
    readState: 'SELECT boundary, next_boundary, round, ' +
      `(SELECT count(*) FROM ${changes} WHERE ${scope} AND user_id < boundary) AS changes FROM ${state} WHERE ${scope}`,
    /** Makes the rows that count no user. The state comes last: it says that the others are there. */
    begin: [
      `INSERT INTO ${blocks} (scope, first_id, users) VALUES (${p(1)}, '', 0) ON CONFLICT DO NOTHING`,
      `INSERT INTO ${groups} (scope, first_id, users_before) VALUES (${p(1)}, '', 0) ON CONFLICT DO NOTHING`,
      `INSERT INTO ${state} (scope, boundary, next_boundary, round, total) VALUES (${p(1)}, '', '', '', 0) ` +
        'ON CONFLICT DO NOTHING'
    ],
    /** 2: boundary. */
    tailLength: 'SELECT count(*) AS tail FROM ' +
      `(SELECT id FROM ${users} WHERE ${belongs} AND id >= ${p(2)}${counted} ` +
      `ORDER BY id LIMIT ${BLOCKS_PER_ROUND * BLOCK + TAIL_MAX}) AS t`,
    /**
     * 2: boundary, 3: number of users after it. A tenant that has just so many below the boundary of all gets that one:
     * who has all users of a mount always has.
     */
    idAfter: ofTenant ? `SELECT coalesce((${idAfter}), (${boundaryOfAll})) AS id` : idAfter,
    /** 2: new round, 3: next boundary, 4: round before, 5: boundary. */
    announce: `UPDATE ${state} SET round = ${p(2)}, next_boundary = ${p(3)} ` +
      `WHERE ${scope} AND round = ${p(4)} AND boundary = ${p(5)}`,
    /** 2: round. */
    lockRound: `UPDATE ${state} SET round = round WHERE ${scope} AND round = ${p(2)} RETURNING boundary, next_boundary`,
    /** Adds the changes below a boundary to their blocks. 2: boundary. */
    foldChanges: `UPDATE ${blocks} AS k SET users = k.users + c.change ` +
      `FROM (SELECT first_id, sum(change) AS change FROM (${blockOfChange}) AS r GROUP BY first_id) AS c ` +
      `WHERE k.${scope} AND k.first_id = c.first_id`,
    /** 2: boundary. */
    deleteChanges: `DELETE FROM ${changes} WHERE ${scope} AND user_id < ${p(2)}`,
    /** 2: from, 3: to. */
    split: splitUsers(dialect, names, ofTenant),
    /** The blocks to split again, each with the end of its range. 2: boundary. */
    largeBlocks: 'SELECT first_id, coalesce(' +
      `(SELECT min(n.first_id) FROM ${blocks} AS n WHERE n.${scope} AND n.first_id > k.first_id), ${p(2)}) AS next ` +
      `FROM ${blocks} AS k WHERE ${scope} AND users > ${BLOCK_MAX} ORDER BY first_id LIMIT ${SPLITS_PER_ROUND}`,
    deleteEmptyBlocks: `DELETE FROM ${blocks} WHERE ${scope} AND users = 0 AND first_id <> ''`,
    regroup: splitBlocks(dialect, names),
    /** 2: boundary. */
    setBoundary: `UPDATE ${state} SET boundary = ${p(2)} WHERE ${scope}`
  }
}

/** The condition for users of a scope, which is the first value. */
function belongsTo ({ p }: Dialect, ofTenant: boolean): string {
  return ofTenant ? `tenant = ${p(1)} AND tenant <> ''` : `CAST(${p(1)} AS text) = ''`
}

/** The statements that put all users into the tail, and forget what was counted of tenants. */
export function resetSql ({ p }: Dialect, { blocks, groups, changes, state }: Names) {
  return {
    /** 1: new round. */
    all: `UPDATE ${state} SET boundary = '', next_boundary = '', round = ${p(1)}, total = 0 WHERE scope = ''`,
    rest: [
      // First, because whoever compacts a tenant locks it.
      `DELETE FROM ${state} WHERE scope <> ''`,
      `DELETE FROM ${changes} WHERE scope <> ''`,
      `DELETE FROM ${blocks} WHERE scope <> '' OR first_id <> ''`,
      `DELETE FROM ${groups} WHERE scope <> '' OR first_id <> ''`,
      `UPDATE ${blocks} SET users = 0`
    ],
    /** What transactions with an old snapshot noted of tenants that have no blocks. */
    deleteNeedless: `DELETE FROM ${changes} WHERE scope NOT IN (SELECT scope FROM ${state})`
  }
}

/** The statements that forget what was counted of a tenant, in this order. 1: the tenant. */
export function forgetCounts ({ p }: Dialect, { blocks, groups, changes, state }: Names): string[] {
  return [state, changes, blocks, groups].map((table) => `DELETE FROM ${table} WHERE scope = ${p(1)}`)
}

/**
 * The statement that splits the users of a scope from one id up to another, exclusive, into blocks. An existing block
 * with the same first id is counted again. 1: scope, 2: from, 3: to.
 */
function splitUsers (dialect: Dialect, { users, blocks }: Names, ofTenant: boolean): string {
  const { p } = dialect
  const numbered = `SELECT id, (row_number() OVER (ORDER BY id) - 1) / ${BLOCK} AS n ` +
    `FROM ${users} WHERE ${belongsTo(dialect, ofTenant)} AND id >= ${p(2)} AND id < ${p(3)}`
  return `INSERT INTO ${blocks} (scope, first_id, users) ` +
    `SELECT ${p(1)}, CASE WHEN n = 0 THEN ${p(2)} ELSE min(id) END, count(*) FROM (${numbered}) AS r ` +
    'GROUP BY n ORDER BY n ON CONFLICT (scope, first_id) DO UPDATE SET users = excluded.users'
}

/** The statements that split all blocks of a scope into groups, and add them up. 1: scope. */
function splitBlocks ({ p }: Dialect, { blocks, groups, state }: Names): string[] {
  const scope = `scope = ${p(1)}`
  const summed = 'SELECT scope, first_id, sum(users) OVER (ORDER BY first_id) - users AS users_before, ' +
    `row_number() OVER (ORDER BY first_id) - 1 AS n FROM ${blocks} WHERE ${scope}`
  const all = `SELECT scope, first_id, users_before FROM (${summed}) AS r ` +
    `WHERE n % CAST(${BLOCKS_PER_GROUP} AS bigint) = 0`
  return [
    `DELETE FROM ${groups} WHERE ${scope} AND first_id NOT IN (SELECT first_id FROM (${all}) AS g)`,
    `INSERT INTO ${groups} (scope, first_id, users_before) ${all} ON CONFLICT (scope, first_id) DO UPDATE ` +
      `SET users_before = excluded.users_before WHERE ${groups}.users_before <> excluded.users_before`,
    `UPDATE ${state} SET total = (SELECT sum(users) FROM ${blocks} WHERE ${scope}) WHERE ${scope}`
  ]
}
