import type { Several } from '../../../../lib/core/gather.ts'
import type { TenantPageRequest } from '../../../../lib/storage/storage.ts'
import type { Statement } from '../../drivers/driver.ts'
import { BLOCK } from '../../tables/block-sizes.ts'
import type { Column } from '../../tables/columns.ts'
import type { Names } from '../../tables/names.ts'
import type { TypedColumn } from '../batch-sql.ts'
import type { CountingByHand, CountingSql } from '../dialect.ts'
import { postgresDialect } from '../postgres/dialect.ts'

/** The rows that are added. */
const COUNTED: readonly TypedColumn[] = [['scope', 'text'], ['slot', 'integer'], ['users', 'bigint']]

const { bytewise } = postgresDialect.schema
const { rows } = postgresDialect.batch

const totalOf = ({ userCounts }: Names, scope: string): string =>
  `(SELECT coalesce(sum(c.users), 0)::bigint FROM ${userCounts} AS c WHERE c.scope = ${scope})`

/**
 * Numbers of users by scope, each in several rows, so that writers seldom wait for one another. Whoever changes the
 * number of users adds to one of them, in the same transaction.
 */
export const byHand: CountingByHand = {
  create: ({ userCounts, quoted }) => [`CREATE TABLE ${userCounts} (
        scope ${bytewise} NOT NULL,
        slot integer NOT NULL,
        users bigint NOT NULL,
        CONSTRAINT ${quoted('user_counts_pkey')} PRIMARY KEY (scope, slot)
      ) WITH (fillfactor = 50)`],
  drop: ({ userCounts }) => [`DROP TABLE ${userCounts}`],
  add: ({ userCounts }) => `INSERT INTO ${userCounts} AS c (scope, slot, users) ` +
    `SELECT q_scope, q_slot, q_users FROM ${rows(COUNTED)} ORDER BY q_scope COLLATE "C" ` +
    'ON CONFLICT (scope, slot) DO UPDATE SET users = c.users + excluded.users',
  forget: ({ userCounts }) => `DELETE FROM ${userCounts} WHERE scope = $1`,
  ofTenant: totalOf,
  counted: (names) => ({
    all: totalOf(names, "''"),
    wrong: `(SELECT count(*) FROM (
        SELECT scope, sum(users) AS users FROM ${names.userCounts} WHERE scope <> '' GROUP BY scope) AS c
      FULL JOIN (SELECT tenant, count(*) AS users FROM ${names.users} WHERE tenant <> '' GROUP BY tenant) AS u
        ON u.tenant = c.scope WHERE coalesce(c.users, 0) <> coalesce(u.users, 0))`
  }),
  recount: ({ users, userCounts }) => [
    `DELETE FROM ${userCounts}`,
    `INSERT INTO ${userCounts} (scope, slot, users) SELECT '', 0, count(*) FROM ${users}`,
    `INSERT INTO ${userCounts} (scope, slot, users) ` +
      `SELECT tenant, 0, count(*) FROM ${users} WHERE tenant <> '' GROUP BY tenant`
  ]
}

/**
 * The statement that reads one page. Behind the first users it skips others within an index, from the nearer end: the
 * cost of a page grows with that distance (100,000 users: 9 ms).
 */
function pages (
  names: Names,
  ofTenant: boolean,
  columns: readonly Column[]
): (pages: Several<TenantPageRequest>) => Statement {
  const { users } = names
  const [scope, belongs] = ofTenant ? ['$3', "tenant = $3 AND tenant <> ''"] : ["''", 'true']
  const total = totalOf(names, scope)
  const select = (page: string, total: string) => `SELECT ${total} AS counted, 0 AS tail, 0 AS changes, ` +
    `${postgresDialect.packed(columns, page)} AS items`
  return ([{ order, limit, from, tenant }]) => {
    const [direction, back, follows] = order === 'asc' ? ['ASC', 'DESC', '>'] : ['DESC', 'ASC', '<']
    const all = `FROM ${users} WHERE ${belongs}`
    const of = tenant === undefined ? [] : [tenant]
    if ('after' in from) {
      const page = `SELECT * ${all} AND id ${follows} $2 ORDER BY id ${direction} LIMIT $1`
      return { sql: select(page, total), params: [limit, from.after, ...of] }
    }
    const params = [limit, from.offset, ...of]
    const near = `${all} ORDER BY id ${direction} LIMIT $1 OFFSET $2`
    if (from.offset < BLOCK) return { sql: select(`SELECT * ${near}`, total), params }
    const known = '(SELECT total FROM known)'
    const ids = `(SELECT id ${all} AND ${known} >= 2 * $2::bigint ORDER BY id ${direction} LIMIT $1 OFFSET $2) ` +
      'UNION ALL ' +
      `(SELECT id ${all} AND ${known} < 2 * $2::bigint ORDER BY id ${back} ` +
      `LIMIT greatest(least($1::bigint, ${known} - $2::bigint), 0) ` +
      `OFFSET greatest(${known} - $2::bigint - $1::bigint, 0))`
    const page = `SELECT * FROM ${users} WHERE id = ANY(ARRAY(${ids})) ORDER BY id ${direction}`
    return { sql: `WITH known AS MATERIALIZED (SELECT ${total} AS total) ${select(page, known)}`, params }
  }
}

export const portableCounting: CountingSql = { byHand, pages, pagesTogether: 1, openWriters: null, vacuum: null }
