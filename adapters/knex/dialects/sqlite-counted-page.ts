import type { Several } from '../../../lib/core/gather.ts'
import type { PageRequest } from '../../../lib/storage/storage.ts'
import type { Statement } from '../drivers/driver.ts'
import { BLOCK, BLOCKS_PER_GROUP } from '../tables/block-sizes.ts'
import type { Column } from '../tables/columns.ts'
import type { Names } from '../tables/names.ts'
import { sqliteReading } from './sqlite-reading.ts'

// Without an OFFSET, SQLite merges a subquery into the outer query and computes a column again at every use.
const ONCE = 'LIMIT 1 OFFSET 0'

interface PageTexts {
  /** For a position near the start of the list, which is reached row by row. */
  near: string
  far: string
  after: string
}

/**
 * The statements that read pages. Each does in one statement what PostgreSQL's function does step by step
 * (postgres-counted-pages.ts).
 * `?1`: size; `?2`: position or id.
 */
function pageTexts (names: Names, columns: readonly Column[], descending: boolean): PageTexts {
  const { users, blocks, groups, changes, state } = names
  const { limit, packed } = sqliteReading
  const [direction, behind] = descending ? [' DESC', '<'] : ['', '>']
  const counts = `total + (SELECT coalesce(sum(change), 0) FROM ${changes} WHERE user_id < boundary) AS counted,
      (SELECT count(*) FROM ${changes} WHERE user_id < boundary) AS changes,
      (SELECT count(*) FROM ${users} WHERE id >= boundary) AS tail`
  const items = (rows: string) => `${packed(columns, `SELECT * FROM ${users}${rows}`)} AS items`
  const all = 'counted + tail'
  const [first, take] = descending
    ? [`max(${all} - ?2 - ?1, 0)`, `max(min(?1, ${all} - ?2), 0)`]
    : ['?2', '?1']
  const usersBefore = 'base + sum(users) OVER (ORDER BY first_id ROWS UNBOUNDED PRECEDING) - users'
  // Each change is +1 or -1, so their sum and their count give the number of additions.
  const position = [
    `SELECT *, ${first} AS first, ${take} AS take, (changes + counted - kept) / 2 AS added
      FROM (SELECT boundary, total AS kept, ${counts} FROM ${state} ${ONCE}) ${ONCE}`,
    `SELECT *, CASE WHEN first < counted AND first >= added + ${BLOCK} THEN (SELECT first_id FROM ${groups}
      WHERE users_before <= first - added ORDER BY users_before DESC, first_id DESC LIMIT 1) END AS low`,
    `SELECT *, (SELECT users_before FROM ${groups} WHERE first_id = low) AS base,
      coalesce((SELECT min(first_id) FROM ${groups} WHERE first_id > low), boundary) AS high`,
    `SELECT *, CASE WHEN first >= counted THEN boundary WHEN low IS NULL THEN ''
      ELSE (SELECT max(first_id) FROM (SELECT first_id, ${usersBefore} AS users_before
        FROM ${blocks} WHERE first_id >= low AND first_id < high) WHERE users_before <= first - added) END AS anchor`,
    `SELECT *, first - CASE WHEN first >= counted THEN counted WHEN low IS NULL THEN 0
      ELSE base + (SELECT coalesce(sum(users), 0) FROM (SELECT users FROM ${blocks}
          WHERE first_id >= low AND first_id < anchor ORDER BY first_id LIMIT ${BLOCKS_PER_GROUP}))
        + (SELECT coalesce(sum(change), 0) FROM ${changes} WHERE user_id < anchor) END AS skip`
  ].reduce((inner, outer) => `${outer} FROM (${inner}) ${ONCE}`)
  const there = descending
    ? ` WHERE id <= (SELECT id FROM ${users} WHERE id >= (SELECT anchor FROM k)
        ORDER BY id LIMIT 1 OFFSET (SELECT skip + take - 1 FROM k)) ORDER BY id DESC LIMIT (SELECT take FROM k)`
    : ` WHERE id >= (SELECT anchor FROM k)
        ORDER BY id LIMIT (SELECT take FROM k) OFFSET (SELECT skip FROM k)`
  return {
    near: `SELECT ${counts}, ${items(` ORDER BY id${direction} LIMIT ${limit(1)} OFFSET ${limit(2)}`)} FROM ${state}`,
    far: `WITH k AS MATERIALIZED (${position}) SELECT counted, tail, changes, ${items(there)} FROM k`,
    after: `SELECT ${counts}, ${items(` WHERE id ${behind} ?2 ORDER BY id${direction} LIMIT ${limit(1)}`)}
      FROM ${state}`
  }
}

/** Returns a function that builds the statement for one page of all users (`docs/exact-counting.md`). */
export function sqliteCountedPage (
  names: Names,
  columns: readonly Column[]
): (pages: Several<PageRequest>) => Statement {
  const texts = { asc: pageTexts(names, columns, false), desc: pageTexts(names, columns, true) }
  return ([{ order, limit, from }]) => {
    const { near, far, after } = texts[order]
    if ('after' in from) return { sql: after, params: [limit, from.after] }
    return { sql: from.offset < BLOCK ? near : far, params: [limit, from.offset] }
  }
}
