import { sqlite3Driver } from '../../drivers/sqlite3.ts'
import { type Dialect, type EventSql, withQueries } from '../dialect.ts'
import { sqliteValues } from '../value-sql.ts'
import { sqliteCountedPage } from './counted-page.ts'
import { sqliteReading } from './reading.ts'
import { constraintIndex, sqliteSchema } from './schema.ts'
import { sqliteWords } from './words.ts'

/** The event log of SQLite: there is one writer, so events are written in the order of their commits. */
export const sqliteEvents: EventSql = {
  writtenOrder: 'position',
  take: null,
  restart: () => [],
  number: null,
  between: (columns, values, { low, high }) => ({
    condition: [
      ...columns.map((column, i) => `${column} = ${values[i]}`), `position > ${low}`, `position < ${high}`
    ].join(' AND '),
    order: ['position']
  }),
  columns: ({ quoted }) => `position integer NOT NULL CONSTRAINT ${quoted('events_position')} PRIMARY KEY`,
  // Each entry of an index ends with the position, which is the number of the row.
  create: ({ events, quoted }) => [
    `CREATE INDEX ${quoted('events_subject')} ON ${events} (subject)`,
    `CREATE INDEX ${quoted('events_type')} ON ${events} (type)`
  ],
  drop: () => []
}

/** SQLite with the driver `sqlite3`. */
export const sqliteDialect: Dialect = {
  ...sqlite3Driver,
  ...sqliteReading,
  ...sqliteValues,
  name: 'sqlite',
  profile: 'classic',
  hasProfiles: false,
  mayBeUnable: false,
  hasSchemas: false,
  writesTwoTables: false,
  isIn: (column, n) => `${column} IN (SELECT value FROM json_each(?${n}))`,
  // If ANALYZE saw a small table, SQLite trusts that forever, and scans the table unless the index is named.
  usersBy: (column, { users, bareUsers }) => `${users} INDEXED BY "${constraintIndex(bareUsers, column)}"`,
  returning: (statement, columns, queries) => withQueries(queries, `${statement} RETURNING ${columns}`),
  least: (a, b) => `min(${a}, ${b})`,
  contains: (text, part) => `instr(${text}, ${part}) > 0`,
  // A database in memory ends with its process anyway.
  isReadOnly: null,
  weakSettings: "SELECT 'synchronous' AS name, CASE synchronous WHEN 0 THEN 'OFF' ELSE 'NORMAL' END AS value " +
    "FROM pragma_synchronous, pragma_database_list WHERE synchronous < 2 AND name = 'main' AND file <> ''",

  batch: {
    rows (columns) {
      const values = columns.map(([name], i) => `json_extract(value, '$[${i}]') AS q_${name}`)
      return `(SELECT ${values.join(', ')} FROM json_each(?1) LIMIT -1) AS q`
    },
    one: (columns, n) => `(SELECT ${columns.map(([name], i) => `?${n + i} AS q_${name}`).join(', ')}) AS q`,
    values: (rows) => [rows],
    idCondition: " AND id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))",
    keepsPlan: true,
    // There is only one writer.
    lockTimeout: '',
    order: () => ''
  },

  forUpdate: '',
  skipLocked: '',

  transaction: {
    // A transaction that begins with a read can't write once another writer has committed: SQLite would refuse it.
    begin: 'BEGIN IMMEDIATE',
    beginSnapshotRead: 'BEGIN',
    beginSnapshotWrite: 'BEGIN IMMEDIATE',
    shareTable: () => [],
    readForLong: 'PRAGMA cache_size = -2000',
    readsApart: "SELECT file <> '' AND (SELECT journal_mode FROM pragma_journal_mode) = 'wal' AS apart " +
      "FROM pragma_database_list WHERE name = 'main'",
    lockTimeoutMs: null,
    locksTable: null,
    tryLock: null,
    exclusiveLock: null,
    lockWriters: null,
    lockNames: null,
    statementTimeoutMs: null,
    liftTimeouts: null
  },

  schema: sqliteSchema,

  counting: {
    byHand: null,
    pages: sqliteCountedPage,
    pagesTogether: 1,
    openWriters: null,
    vacuum: null
  },

  words: sqliteWords,
  events: sqliteEvents
}
