import type { Several } from '../../../../lib/core/gather.ts'
import type { TenantPageRequest } from '../../../../lib/storage/storage.ts'
import type { Statement } from '../../drivers/driver.ts'
import { BLOCK, BLOCKS_PER_GROUP } from '../../tables/block-sizes.ts'
import type { Column } from '../../tables/columns.ts'
import type { Names } from '../../tables/names.ts'
import { sqliteReading } from './reading.ts'

// Without an OFFSET, SQLite merges a subquery into the outer query and computes a column again at every use.
const ONCE = 'LIMIT 1 OFFSET 0'

const { limit, packed, p } = sqliteReading
const [PLACE, TENANT] = [p(2), p(3)]

interface PageTexts {
  /** For a position near the start of the list, which is reached row by row. */
  near: string
  far: string
  after: string
}

/**
 * The statements that read pages. Each does in one statement what PostgreSQL's function does step by step
 * (postgres-counted-pages.ts).
 * `?1`: size; `?2`: position or id; `?3`: the tenant.
 */
function pageTexts (names: Names, columns: readonly Column[], ofTenant: boolean, descending: boolean): PageTexts {
  const { blocks, groups, changes, state, quoted } = names
  const scope = ofTenant ? `scope = ${TENANT}` : "scope = ''"
  // Otherwise SQLite may walk the primary key through the users of all others.
  const users = ofTenant ? `${names.users} INDEXED BY ${quoted('users_tenant')}` : names.users
  const belongs = ofTenant ? `tenant = ${TENANT} AND tenant <> ''` : '1'
  // A tenant with few users has no row.
  const kept = `(SELECT coalesce(max(boundary), '') AS boundary, coalesce(max(total), 0) AS total
      FROM ${state} WHERE ${scope} ${ONCE})`
  const [direction, behind] = descending ? [' DESC', '<'] : ['', '>']
  const changesWhere = `FROM ${changes} WHERE ${scope} AND user_id`
  const counts = `total + (SELECT coalesce(sum(change), 0) ${changesWhere} < boundary) AS counted,
      (SELECT count(*) ${changesWhere} < boundary) AS changes,
      (SELECT count(*) FROM ${users} WHERE ${belongs} AND id >= boundary) AS tail`
  const items = (rows: string) => `${packed(columns, `SELECT * FROM ${users} WHERE ${belongs}${rows}`)} AS items`
  const all = 'counted + tail'
  const [first, take] = descending
    ? [`max(${all} - ?2 - ?1, 0)`, `max(min(?1, ${all} - ?2), 0)`]
    : ['?2', '?1']
  const usersBefore = 'base + sum(users) OVER (ORDER BY first_id ROWS UNBOUNDED PRECEDING) - users'
  // Each change is +1 or -1, so their sum and their count give the number of additions.
  const position = [
    `SELECT *, ${first} AS first, ${take} AS take, (changes + counted - kept) / 2 AS added
      FROM (SELECT boundary, total AS kept, ${counts} FROM ${kept} ${ONCE}) ${ONCE}`,
    `SELECT *, CASE WHEN first < counted AND first >= added + ${BLOCK} THEN (SELECT first_id FROM ${groups}
      WHERE ${scope} AND users_before <= first - added ORDER BY users_before DESC, first_id DESC LIMIT 1) END AS low`,
    `SELECT *, (SELECT users_before FROM ${groups} WHERE ${scope} AND first_id = low) AS base,
      coalesce((SELECT min(first_id) FROM ${groups} WHERE ${scope} AND first_id > low), boundary) AS high`,
    `SELECT *, CASE WHEN first >= counted THEN boundary WHEN low IS NULL THEN ''
      ELSE (SELECT max(first_id) FROM (SELECT first_id, ${usersBefore} AS users_before
        FROM ${blocks} WHERE ${scope} AND first_id >= low AND first_id < high)
        WHERE users_before <= first - added) END AS anchor`,
    `SELECT *, first - CASE WHEN first >= counted THEN counted WHEN low IS NULL THEN 0
      ELSE base + (SELECT coalesce(sum(users), 0) FROM (SELECT users FROM ${blocks}
          WHERE ${scope} AND first_id >= low AND first_id < anchor ORDER BY first_id LIMIT ${BLOCKS_PER_GROUP}))
        + (SELECT coalesce(sum(change), 0) ${changesWhere} < anchor) END AS skip`
  ].reduce((inner, outer) => `${outer} FROM (${inner}) ${ONCE}`)
  const there = descending
    ? ` AND id <= (SELECT id FROM ${users} WHERE ${belongs} AND id >= (SELECT anchor FROM k)
        ORDER BY id LIMIT 1 OFFSET (SELECT skip + take - 1 FROM k)) ORDER BY id DESC LIMIT (SELECT take FROM k)`
    : ` AND id >= (SELECT anchor FROM k)
        ORDER BY id LIMIT (SELECT take FROM k) OFFSET (SELECT skip FROM k)`
  return {
    near: `SELECT ${counts}, ${items(` ORDER BY id${direction} LIMIT ${limit(1)} OFFSET ${limit(2)}`)} FROM ${kept}`,
    far: `WITH k AS MATERIALIZED (${position}) SELECT counted, tail, changes, ${items(there)} FROM k`,
    after: `SELECT ${counts}, ${items(` AND id ${behind} ${PLACE} ORDER BY id${direction} LIMIT ${limit(1)}`)}
      FROM ${kept}`
  }
}

/** Returns a function that builds the statement for one page of all users, or of those of a tenant. */
export function sqliteCountedPage (
  names: Names,
  ofTenant: boolean,
  columns: readonly Column[]
): (pages: Several<TenantPageRequest>) => Statement {
  const texts = { asc: pageTexts(names, columns, ofTenant, false), desc: pageTexts(names, columns, ofTenant, true) }
  return ([{ order, limit, from, tenant }]) => {
    const { near, far, after } = texts[order]
    const of = tenant === undefined ? [] : [tenant]
    if ('after' in from) return { sql: after, params: [limit, from.after, ...of] }
    return { sql: from.offset < BLOCK ? near : far, params: [limit, from.offset, ...of] }
  }
}
