import type { Dialect } from '../dialects/dialect.ts'
import type { Names } from '../tables/names.ts'

/**
 * The tables of exact counting (`docs/exact-counting.md`), and the rows that count zero users. The scope is empty for
 * all users, or a tenant that has many.
 */
export function countingTables ({ schema: { bytewise, fillFactor } }: Dialect, names: Names): string[] {
  const { blocks, groups, changes, state, quoted } = names
  return [
    `CREATE TABLE ${blocks} (
        scope ${bytewise} NOT NULL DEFAULT '',
        first_id ${bytewise} NOT NULL,
        users integer NOT NULL,
        CONSTRAINT ${quoted('counting_blocks_pkey')} PRIMARY KEY (scope, first_id)
      )${fillFactor}`,
    `CREATE TABLE ${groups} (
        scope ${bytewise} NOT NULL DEFAULT '',
        first_id ${bytewise} NOT NULL,
        users_before bigint NOT NULL,
        CONSTRAINT ${quoted('counting_groups_pkey')} PRIMARY KEY (scope, first_id)
      )`,
    `CREATE INDEX ${quoted('counting_groups_before')} ON ${groups} (scope, users_before, first_id)`,
    `CREATE TABLE ${changes} (
        scope ${bytewise} NOT NULL,
        user_id ${bytewise} NOT NULL,
        change integer NOT NULL
      )`,
    `CREATE INDEX ${quoted('counting_changes_scope')} ON ${changes} (scope, user_id)`,
    `CREATE TABLE ${state} (
        scope ${bytewise} NOT NULL DEFAULT '' CONSTRAINT ${quoted('counting_state_pkey')} PRIMARY KEY,
        boundary ${bytewise} NOT NULL,
        next_boundary ${bytewise} NOT NULL,
        round text NOT NULL,
        total bigint NOT NULL
      )`,
    `INSERT INTO ${blocks} (first_id, users) VALUES ('', 0)`,
    `INSERT INTO ${groups} (first_id, users_before) VALUES ('', 0)`,
    `INSERT INTO ${state} (boundary, next_boundary, round, total) VALUES ('', '', '', 0)`
  ]
}
