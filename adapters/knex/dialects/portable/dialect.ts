import type { Dialect } from '../dialect.ts'
import { postgresDialect } from '../postgres/dialect.ts'
import { portableCounting } from './counting.ts'
import { portableEvents } from './events.ts'
import { portableLocks } from './locks.ts'

const { batch, transaction, schema } = postgresDialect

/**
 * PostgreSQL, and servers that speak its language, with tables, indexes and transactions alone: no triggers, functions
 * and sequences of ours, no advisory locks, nothing that asks which transactions are open, and no NOTIFY. Every
 * statement writes to one table, so that the tables may lie on another machine.
 */
export const portableDialect: Dialect = {
  ...postgresDialect,
  profile: 'portable',
  mayBeUnable: false,
  writesTwoTables: false,
  // Some servers take no query in a LIMIT.
  firstRows: (query, n) => `${query} LIMIT $${n}`,
  // What is returned is formatted outside of the statement that writes.
  returning: (statement, columns, queries) =>
    `WITH ${queries === undefined ? '' : `${queries}, `}written AS (${statement} RETURNING *) ` +
      `SELECT ${columns} FROM written`,
  batch: { ...batch, lockTimeout: '' },
  transaction: { ...transaction, ...portableLocks, tryLock: null, lockWriters: null, shareTable: () => [] },
  schema: {
    ...schema,
    createSchema: ({ schema: name }) => name === null ? [] : [`CREATE SCHEMA IF NOT EXISTS "${name}"`],
    create: () => [],
    drop: ({ locks }) => [`DROP TABLE ${locks}`]
  },
  counting: portableCounting,
  events: portableEvents
}
