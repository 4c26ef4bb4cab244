import type { PageRequest } from '../../../lib/storage.ts'
import type { Dialect } from '../dialect.ts'
import type { Param } from '../drivers.ts'
import type { Names } from '../names.ts'
import { BLOCK } from './cut.ts'

/** A statement and its values. */
export interface Statement {
  sql: string
  params: readonly Param[]
}

/** The page in SQLite, in one statement: what the function of PostgreSQL does step by step (page-postgres.ts). `?1` size, `?2` place or id. */
function sqlitePage ({ users, blocks, blockGroups, blockChanges, sealing }: Names, columns: string, descending: boolean, behind: boolean): string {
  const boundary = '(SELECT sealed FROM s)'
  const counts = `s AS MATERIALIZED (SELECT sealed, counted FROM ${sealing}),
    c AS MATERIALIZED (SELECT coalesce(sum(change), 0) AS net, coalesce(sum(max(change, 0)), 0) AS added, count(*) AS changes FROM ${blockChanges} WHERE id < ${boundary}),
    n AS MATERIALIZED (SELECT counted + net AS counted, added, changes, (SELECT count(*) FROM ${users} WHERE id >= sealed) AS tail FROM s, c)`
  const page = (rows: string) => `SELECT (n.counted + n.tail) || ' ' || n.tail || ' ' || n.changes AS counts, p.* FROM n LEFT JOIN (SELECT ${columns} FROM ${users} WHERE ${rows}) AS p ON true ` +
    `ORDER BY p.id${descending ? ' DESC' : ''}`
  if (behind) return `WITH ${counts} ${page(descending ? 'id < ?2 ORDER BY id DESC LIMIT ?1' : 'id > ?2 ORDER BY id LIMIT ?1')}`
  const [first, take] = descending
    ? ['max(counted + tail - ?2 - ?1, 0)', 'max(min(?1, counted + tail - ?2), 0)']
    : ['?2', '?1']
  return `WITH ${counts},
    k AS MATERIALIZED (SELECT counted, added, ${first} AS first, ${take} AS take FROM n),
    g AS MATERIALIZED (SELECT start, before FROM ${blockGroups} WHERE (SELECT first < counted AND first >= added + ${BLOCK} FROM k) AND before <= (SELECT first - added FROM k) ORDER BY before DESC, start DESC LIMIT 1),
    b AS MATERIALIZED (SELECT start, before FROM (SELECT i.start, g.before + sum(i.live) OVER (ORDER BY i.start) - i.live AS before FROM g, ${blocks} AS i
      WHERE i.start >= g.start AND i.start < coalesce((SELECT min(start) FROM ${blockGroups} WHERE start > g.start), ${boundary}))
      WHERE before <= (SELECT first - added FROM k) ORDER BY start DESC LIMIT 1),
    a AS MATERIALIZED (SELECT ${boundary} AS anchor, first - counted AS skip FROM k WHERE first >= counted
      UNION ALL SELECT '', first FROM k WHERE first < counted AND first < added + ${BLOCK}
      UNION ALL SELECT b.start, first - b.before - (SELECT coalesce(sum(change), 0) FROM ${blockChanges} WHERE id < b.start) FROM k, b)
    ${page('id >= (SELECT anchor FROM a) ORDER BY id LIMIT (SELECT take FROM k) OFFSET (SELECT skip FROM a)')}`
}

/** How many users there are, and how many of them, and changes, were counted by looking: one column, since every row of the page carries it. */
export function toCounts (counts: unknown): { total: number, tail: number, changes: number } {
  const [total = NaN, tail = NaN, changes = NaN] = String(counts).split(' ').map(Number)
  return { total, tail, changes }
}

/** Builds the one statement that answers a page of all users, and their `counts`, by the blocks. */
export function blocksPage (dialect: Dialect, names: Names, columns: string): (page: PageRequest) => Statement {
  if (dialect.name === 'sqlite') {
    const texts = (descending: boolean) => ({ offset: sqlitePage(names, columns, descending, false), after: sqlitePage(names, columns, descending, true) })
    const directions = { asc: texts(false), desc: texts(true) }
    return ({ order, limit, from }) => 'after' in from
      ? { sql: directions[order].after, params: [limit, from.after] }
      : { sql: directions[order].offset, params: [limit, from.offset] }
  }
  const page = names.schema === null ? names.own('page') : `"${names.schema}".${names.own('page')}`
  const text = (direction: string) => `SELECT concat_ws(' ', t.total, t.tail, t.changes) AS counts, p.* FROM ${page}($1, $2, $3, $4) AS t ` +
    `LEFT JOIN LATERAL (SELECT ${columns} FROM ${names.users} WHERE id = ANY(t.ids)) AS p ON true ORDER BY p.id${direction}`
  const directions = { asc: text(''), desc: text(' DESC') }
  return ({ order, limit, from }) => ({
    sql: directions[order],
    params: [order === 'desc' ? 'true' : 'false', limit, ...('after' in from ? [0, from.after] : [from.offset, null])]
  })
}
