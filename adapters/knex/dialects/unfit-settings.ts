import type { UnfitSetting } from './dialect.ts'

const fault = (value: string, isUnfit: string, message: UnfitSetting['message']): UnfitSetting =>
  ({ value, isUnfit, code: 'fault', message })

const setting = (name: string): string => `pg_catalog.current_setting('${name}')`
// In this statement operators are qualified too: the search path is only judged by it.
const is = (name: string, value: string): string => `${setting(name)} OPERATOR(pg_catalog.=) '${value}'`

/** What PostgreSQL may be set to, by the database, the role or the connection, that a store can't work with. */
export const postgresUnfit: readonly UnfitSetting[] = [
  fault(setting('server_encoding'), `NOT ${is('server_encoding', 'UTF8')}`, (value) =>
    `the database has the encoding ${value}, which cannot store every name: use one with UTF8, made with ` +
    "CREATE DATABASE users ENCODING 'UTF8' TEMPLATE template0"),
  fault(setting('client_encoding'), `NOT ${is('client_encoding', 'UTF8')}`, (value) =>
    `client_encoding is ${value} on the connection, so names would be altered when stored: leave it at UTF8`),
  // No operator is exempt: without this, whoever creates one in the schema before decides what is equal.
  fault(setting('search_path'), `${setting('search_path')} OPERATOR(pg_catalog.~) ',\\s*"?pg_catalog"?\\s*(,|$)'`,
    (value) => `the search path is ${value}, so operators of other schemas precede those of PostgreSQL: remove ` +
      'pg_catalog from it, or name it first'),
  fault(setting('TimeZone'), "'2000-01-01T00:00:00Z'::pg_catalog.timestamptz OPERATOR(pg_catalog.<>) " +
    "'2000-01-01 00:00:00+00'::pg_catalog.timestamptz", (value) =>
    `the time zone of the connection is ${value}, in which Z does not mean UTC: set another one`),
  fault(setting('session_replication_role'), is('session_replication_role', 'replica'), (value) =>
    `session_replication_role is ${value} on the connection, so the triggers that count users do not run: leave it ` +
    'at origin'),
  fault(setting('exit_on_error'), is('exit_on_error', 'on'), () =>
    'exit_on_error is on for the connection, so a refused write would close the connection: set it to off'),
  {
    value: setting('default_transaction_read_only'),
    isUnfit: `${is('default_transaction_read_only', 'on')} AND NOT pg_catalog.pg_is_in_recovery()`,
    // As for writes: some services set it on a full disk, until there is room.
    code: 'unavailable',
    message: () => 'the database accepts no writes: default_transaction_read_only is on for it, the role or the ' +
      'connection'
  }
]

const source = "(SELECT source FROM pg_catalog.pg_settings WHERE name OPERATOR(pg_catalog.=) 'statement_timeout')"

/** What says that a session has not got the settings that `postgres()` begins it with. Some servers know no source. */
export const postgresUnfitSession: readonly UnfitSetting[] = [
  fault(source, `${source} OPERATOR(pg_catalog.<>) 'client'`, () =>
    'a pooler ignores the session settings, and may use another session for each statement: set the option ' +
    'pooler of postgres(), DATABASE_POOLER of the service, or --pooler of the command line')
]

const pragma = (name: string): string => `(SELECT ${name} FROM pragma_${name})`

/** The same of SQLite: of the file, and of a host's connection. */
export const sqliteUnfit: readonly UnfitSetting[] = [
  fault(pragma('encoding'), `${pragma('encoding')} <> 'UTF-8'`, (value) =>
    `the database file has the encoding ${value}, which sorts texts differently: create it with UTF-8, the default`),
  fault(pragma('full_column_names'), pragma('full_column_names'), () =>
    'PRAGMA full_column_names is on for the connection, so columns have other names: leave it off'),
  fault("'none'", "NOT EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'fts5')", () =>
    'this SQLite is built without FTS5, which the search for users needs: use a driver that has it'),
  fault(pragma('query_only'), pragma('query_only'), () =>
    'the connection accepts no writes: PRAGMA query_only is on')
]
