import type { Names } from '../../tables/names.ts'
import type { TransactionSql } from '../dialect.ts'
import { LOCK_NAMES } from '../../tables/lock-names.ts'

const ALL = 'installation'

/** Locks that are rows of a table, for servers without advisory ones. */
export const portableLocks: Pick<TransactionSql, 'locksTable' | 'exclusiveLock' | 'lockNames'> = {
  locksTable: {
    exists: ({ locks }) => ({
      sql: 'SELECT 1 AS found FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass($1)::oid',
      params: [locks]
    }),
    create: ({ schema, locks, quoted }: Names) => [
      ...schema === null ? [] : [`CREATE SCHEMA IF NOT EXISTS "${schema}"`],
      `CREATE TABLE IF NOT EXISTS ${locks} (
        name text COLLATE "C" NOT NULL CONSTRAINT ${quoted('locks_pkey')} PRIMARY KEY
      )`,
      `INSERT INTO ${locks} (name) VALUES ${[ALL, ...LOCK_NAMES].map((name) => `('${name}')`).join(', ')} ` +
        'ON CONFLICT (name) DO NOTHING'
    ]
  },
  exclusiveLock: ({ locks }) => `SELECT name FROM ${locks} WHERE name = '${ALL}' FOR UPDATE`,
  lockNames: ({ locks }) => `SELECT name FROM ${locks} WHERE name = ANY($1::text[]) ORDER BY name FOR UPDATE`
}
