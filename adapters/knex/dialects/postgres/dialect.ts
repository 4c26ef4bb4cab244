import { pgDriver } from '../../drivers/pg.ts'
import type { Names } from '../../tables/names.ts'
import { type Dialect, FIRST_ROWS_MAX, LOCK_WAIT_MS, withQueries } from '../dialect.ts'
import { postgresCountedPages } from './counted-pages.ts'
import { postgresValues } from '../value-sql.ts'
import { postgresEvents } from './events.ts'
import { postgresReading } from './reading.ts'
import { postgresSchema } from './schema.ts'
import { postgresWords } from './words.ts'

const LOCK_TIMEOUT_MS = 2000

/**
 * The name by which processes on the same tables exclude each other, whether options or search paths say where these
 * are: the schema that they are in, or will be in, and the prefix. Every version of the package needs the same name.
 * Under `quote_all_identifiers` the schema is quoted.
 */
function installation ({ schema, migrations, bare }: Names): string {
  if (schema !== null) return `'fastify-users.${schema}.${bare('')}'::text`
  // Not by a query of pg_class: that would be locked until the end, and a lock that is held already does not make
  // PostgreSQL see what others have committed meanwhile.
  const identity = "pg_catalog.pg_identify_object('pg_catalog.pg_class'::pg_catalog.regclass, " +
    `pg_catalog.to_regclass('${migrations}'), 0)`
  const found = `(pg_catalog.parse_ident((${identity}).schema))[1]`
  return `'fastify-users.' || coalesce(${found}, pg_catalog.current_schema()::text, '') || '.${bare('')}'`
}

/** Locks a name until the end of the transaction. */
const lockBy = (name: string): string => `pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(${name}, 0))`

export const postgresDialect: Dialect = {
  ...pgDriver,
  ...postgresReading,
  ...postgresValues,
  name: 'postgres',
  profile: 'classic',
  hasProfiles: true,
  mayBeUnable: true,
  hasSchemas: true,
  writesTwoTables: true,
  p: (n) => `$${n}`,
  limit: (n) => `$${n}`,
  // A planner that sees the number finds a plan for it alone better each time, and plans each time: 0.4 of 0.6 ms of a
  // search. So it sees a limit that is always the same.
  firstRows: (query, n) => `SELECT * FROM (${query} LIMIT ${FIRST_ROWS_MAX}) AS first_rows ` +
    `LIMIT (SELECT CAST($${n} AS bigint))`,
  isIn: (column, n, type) => `${column} = ANY($${n}::${type}[])`,
  usersBy: (_column, { users }) => users,
  returning: (statement, columns, queries) => withQueries(queries, `${statement} RETURNING ${columns}`),
  least: (a, b) => `least(${a}, ${b})`,
  contains: (text, part) => `pg_catalog.strpos(${text}, ${part}) > 0`,
  weakSettings: 'SELECT name, setting AS value FROM pg_catalog.pg_settings ' +
    "WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off' ORDER BY name",
  isReadOnly: 'SELECT 1 AS found WHERE pg_catalog.pg_is_in_recovery() ' +
    "OR pg_catalog.current_setting('transaction_read_only') = 'on'",

  batch: {
    rows (columns) {
      const lists = columns.map(([, type], i) => `pg_catalog.unnest($${i + 1}::${type}[])`).join(', ')
      return `ROWS FROM (${lists}) AS q (${columns.map(([name]) => `q_${name}`).join(', ')})`
    },
    one (columns, n) {
      const values = columns.map(([name, type], i) => `$${n + i}::${type} AS q_${name}`)
      return `(SELECT ${values.join(', ')}) AS q`
    },
    values: (rows) => rows.slice(0, 1).flatMap((first) => first.map((_, i) => rows.map((row) => String(row[i])))),
    idCondition: '',
    keepsPlan: false,
    // For this statement alone, which is a transaction. PostgreSQL always calls a volatile function.
    lockTimeout: `(SELECT pg_catalog.set_config('lock_timeout', '${LOCK_WAIT_MS}', true)) AS lock_timeout, `,
    order: (column) => ` ORDER BY ${column}`
  },

  forUpdate: ' FOR UPDATE',
  skipLocked: ' FOR UPDATE SKIP LOCKED',

  transaction: {
    begin: 'BEGIN ISOLATION LEVEL READ COMMITTED',
    beginSnapshotRead: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
    beginSnapshotWrite: 'BEGIN ISOLATION LEVEL REPEATABLE READ',
    shareTable: (table) => [`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`, `LOCK TABLE ${table} IN ACCESS SHARE MODE`],
    // transaction_timeout came with PostgreSQL 17, and a setting that does not exist can't be set.
    readForLong: "SELECT pg_catalog.set_config(name, '0', true) FROM pg_catalog.pg_settings WHERE name IN " +
      "('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')",
    readsApart: null,
    lockTimeoutMs: (ms) => `SET LOCAL lock_timeout = ${ms}`,
    locksTable: null,
    tryLock: (names) => `SELECT ${lockBy(installation(names)).replace('pg_advisory', 'pg_try_advisory')} AS got`,
    exclusiveLock: (names) => `SELECT ${lockBy(installation(names))}`,
    lockWriters: ({ users }) => `LOCK TABLE ${users} IN SHARE ROW EXCLUSIVE MODE`,
    lockNames: (names) => `SELECT ${lockBy(`${installation(names)} || ' ' || name`)} ` +
      'FROM pg_catalog.unnest($1::text[]) AS name',
    statementTimeoutMs: (ms) => `SET LOCAL statement_timeout = ${ms}`,
    // Not by set_config: the first SELECT of a transaction takes its snapshot, and that must be taken behind its locks.
    liftTimeouts: 'SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0'
  },

  schema: postgresSchema,

  counting: {
    byHand: null,
    pages: postgresCountedPages,
    pagesTogether: 8,
    openWriters: 'SELECT virtualtransaction AS writer FROM pg_catalog.pg_locks ' +
      "WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted AND relation = " +
      'pg_catalog.to_regclass($1)::oid AND database = ' +
      '(SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())',
    // A role that does not own the tables gets a notice, and nothing happens.
    vacuum: (tables) => `VACUUM ${tables.join(', ')}`
  },

  words: postgresWords,
  events: postgresEvents
}
