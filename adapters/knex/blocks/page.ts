import type { PageRequest } from '../../../lib/storage.ts'
import type { Dialect } from '../dialect.ts'
import type { Statement } from '../drivers/driver.ts'
import type { Names } from '../names.ts'
import { type Column, packed } from '../rows.ts'
import { BLOCK, groupOf } from './cut.ts'

// SQLite merges a query into the one around it, and works a column out again wherever that uses it, unless the query has an OFFSET.
const ONCE = 'LIMIT 1 OFFSET 0'

interface SqlitePages {
  /** Of a place so near to an end that walking there is all that is to be done. */
  near: string
  far: string
  after: string
}

/** Pages in SQLite, each in one statement: what the function of PostgreSQL does step by step (page-postgres.ts). `?1` size, `?2` place or id. */
function sqlitePages (dialect: Dialect, { users, blocks, blockGroups, blockChanges, sealing }: Names, columns: readonly Column[], descending: boolean): SqlitePages {
  const [direction, behind] = descending ? [' DESC', '<'] : ['', '>']
  const looked = `counted + (SELECT coalesce(sum(change), 0) FROM ${blockChanges} WHERE id < sealed) AS counted,
      (SELECT count(*) FROM ${blockChanges} WHERE id < sealed) AS changes, (SELECT count(*) FROM ${users} WHERE id >= sealed) AS tail`
  const items = (rows: string) => `${packed(dialect, columns, `SELECT * FROM ${users}${rows}`)} AS items`
  const total = 'counted + tail'
  const [first, take] = descending ? [`max(${total} - ?2 - ?1, 0)`, `max(min(?1, ${total} - ?2), 0)`] : ['?2', '?1']
  const place = [
    // Changes are +1 or -1: their sum and their number tell how many of them were added.
    `SELECT *, ${first} AS first, ${take} AS take, (changes + counted - kept) / 2 AS added FROM (SELECT sealed, counted AS kept, ${looked} FROM ${sealing} ${ONCE}) ${ONCE}`,
    `SELECT *, CASE WHEN first < counted AND first >= added + ${BLOCK} THEN (SELECT start FROM ${blockGroups} WHERE before <= first - added ORDER BY before DESC, start DESC LIMIT 1) END AS low`,
    `SELECT *, (SELECT before FROM ${blockGroups} WHERE start = low) AS base, coalesce((SELECT min(start) FROM ${blockGroups} WHERE start > low), sealed) AS high`,
    `SELECT *, CASE WHEN first >= counted THEN sealed WHEN low IS NULL THEN '' ELSE (SELECT max(start) FROM (SELECT start, base + sum(live) OVER (ORDER BY start ROWS UNBOUNDED PRECEDING) - live AS before
      FROM ${blocks} WHERE start >= low AND start < high) WHERE before <= first - added) END AS anchor`,
    `SELECT *, first - CASE WHEN first >= counted THEN counted WHEN low IS NULL THEN 0
      ELSE base + (SELECT coalesce(sum(live), 0) FROM (SELECT live FROM ${blocks} WHERE start >= low AND start < anchor ORDER BY start LIMIT ${groupOf(dialect)})) + (SELECT coalesce(sum(change), 0) FROM ${blockChanges} WHERE id < anchor) END AS skip`
  ].reduce((inner, outer) => `${outer} FROM (${inner}) ${ONCE}`)
  const there = descending
    ? ` WHERE id <= (SELECT id FROM ${users} WHERE id >= (SELECT anchor FROM k) ORDER BY id LIMIT 1 OFFSET (SELECT skip + take - 1 FROM k)) ORDER BY id DESC LIMIT (SELECT take FROM k)`
    : ' WHERE id >= (SELECT anchor FROM k) ORDER BY id LIMIT (SELECT take FROM k) OFFSET (SELECT skip FROM k)'
  return {
    near: `SELECT ${looked}, ${items(` ORDER BY id${direction} LIMIT ${dialect.bound(1)} OFFSET ${dialect.bound(2)}`)} FROM ${sealing}`,
    far: `WITH k AS MATERIALIZED (${place}) SELECT counted, tail, changes, ${items(there)} FROM k`,
    after: `SELECT ${looked}, ${items(` WHERE id ${behind} ?2 ORDER BY id${direction} LIMIT ${dialect.bound(1)}`)} FROM ${sealing}`
  }
}

/** Builds the one statement that answers a page of all users by the blocks: `items` as JSON; users that are `counted` in blocks, and in the `tail` by looking; `changes` that were looked at. */
export function blocksPage (dialect: Dialect, names: Names, columns: readonly Column[]): (page: PageRequest) => Statement {
  if (dialect.name === 'sqlite') {
    const texts = { asc: sqlitePages(dialect, names, columns, false), desc: sqlitePages(dialect, names, columns, true) }
    return ({ order, limit, from }) => 'after' in from
      ? { sql: texts[order].after, params: [limit, from.after] }
      : { sql: from.offset < BLOCK ? texts[order].near : texts[order].far, params: [limit, from.offset] }
  }
  const sql = `SELECT counted, tail, changes, items FROM ${names.schema === null ? '' : `"${names.schema}".`}${names.own('page')}($1, $2, $3, $4)`
  return ({ order, limit, from }) => ({
    sql,
    params: [order === 'desc' ? 'true' : 'false', limit, ...('after' in from ? [0, from.after] : [from.offset, null])]
  })
}
