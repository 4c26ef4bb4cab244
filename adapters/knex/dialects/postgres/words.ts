import { USER_WORDS } from '../../tables/columns.ts'
import type { WordsSql } from '../words-sql.ts'

/** The words of a user, as PostgreSQL's text search takes them: nothing of its own parses or changes them. */
const VECTOR = 'pg_catalog.array_to_tsvector(pg_catalog.array_remove(' +
  `pg_catalog.string_to_array(${USER_WORDS}, ' '), ''))`

/** An index of PostgreSQL's own text search: no extension and no right is needed for it, and no trigger fills it. */
export const postgresWords: WordsSql = {
  userNumber: '',
  // New users are added to the index together, when they fill a list of this many KiB, which every search reads.
  create: ({ users, quoted }) => [
    `CREATE INDEX ${quoted('users_words')} ON ${users} USING gin ((${VECTOR})) WITH (gin_pending_list_limit = 64)`
  ],
  drop: () => [],
  removals: null,
  // The planner does not see the value behind a subquery: it would make a plan for each.
  has: () => `${VECTOR} OPERATOR(pg_catalog.@@) CAST((SELECT CAST(? AS text)) AS pg_catalog.tsquery)`,
  numbers: null,
  query: (lists) => lists.map((words) => `(${words.map((word) => `'${word}':*`).join(' & ')})`).join(' | ')
}
