import { existsSync } from 'node:fs'
import type { Knex } from 'knex'
import type { Client } from 'pg'
import { isDirectory } from '../adapters/knex/connection/sqlite-file.ts'
import { silentLogger } from '../adapters/knex/drivers/knex-internals.ts'
import { loadSqliteDriver } from '../adapters/knex/drivers/sqlite-drivers.ts'
import { requireOptional } from '../lib/core/optional-packages.ts'
import { UsageError } from './failure.ts'
import { JsonText } from './source-values.ts'

/** A database with a table of somebody else's. */
export interface SourceDatabase {
  knex: Knex
  kind: 'postgres' | 'sqlite'
}

// Moments come as text: the driver would read those without a time zone in that of this process.
const MOMENTS = [1082, 1114, 1184]
// The driver would take JSON that an import refuses.
const JSON_TYPES = [114, 3802]

// Knex takes a `?` for a binding. Escaped, it keeps its backslash on SQLite, and loses those before it on PostgreSQL.
// No argument of a process has a NUL.
const QUESTION_MARK = '\0'

// Moments come in one form whatever the database, the role or the URL sets: an offset of that time zone may have
// seconds, and a day may stand before its month. A database without an encoding (SQL_ASCII) would refuse all rows for
// one that is not UTF-8: it sends bytes as they are. Numbers come with all their digits: that is PostgreSQL's default,
// and PgBouncer keeps the other settings apart for each of its clients.
const SESSION = `SET timezone = 'UTC'; SET datestyle = 'ISO'; SET extra_float_digits = 1;
  SELECT pg_catalog.set_config('client_encoding', 'SQL_ASCII', false)
    WHERE pg_catalog.getdatabaseencoding() = 'SQL_ASCII'`

type Done = (error: unknown, connection: unknown) => void

/** SQL for `whereRaw` on a source, which is sent as the operator wrote it. */
export function literally (statement: string): string {
  return statement.replaceAll('?', QUESTION_MARK)
}

/** Puts the question marks of `literally` back into every statement that is sent. */
function restoreQuestionMarks (knex: Knex): Knex {
  const client: Knex.Client = knex.client
  const positionBindings = client.positionBindings.bind(client)
  client.positionBindings = (statement: string) => positionBindings(statement).replaceAll(QUESTION_MARK, '?')
  return knex
}

/** Opens the database of a table that is read. @throws UsageError */
export function openSource (url: string): SourceDatabase {
  const { knex }: typeof import('knex') = requireOptional('adopt', ['knex'])('knex')
  const common = { log: silentLogger, compileSqlOnError: false, pool: { min: 0, max: 1 } }
  if (/^postgres(?:ql)?:\/\//.test(url)) {
    const { types }: typeof import('pg') = requireOptional('adopt', ['pg'])('pg')
    const getTypeParser = (oid: number): ((value: string) => unknown) => {
      if (JSON_TYPES.includes(oid)) return (value) => new JsonText(value)
      return MOMENTS.includes(oid) ? (value) => value : types.getTypeParser(oid)
    }
    const connection = { connectionString: url, types: { getTypeParser } }
    const afterCreate = (client: Client, done: Done): void => {
      client.query(SESSION).then(() => done(null, client), (error) => done(error, client))
    }
    const instance = knex({ client: 'pg', connection, ...common, pool: { ...common.pool, afterCreate } })
    return { kind: 'postgres', knex: restoreQuestionMarks(instance) }
  }
  if (/^mariadb:\/\//.test(url)) {
    throw new UsageError('adopt reads tables of PostgreSQL and SQLite, not of MariaDB: name one with --from, or ' +
      'write the rows into a file for fastify-users import')
  }
  if (!/^sqlite:./.test(url)) {
    throw new UsageError('--from must be postgres://<user>:<password>@<host>/<database> or sqlite:<path>')
  }
  const filename = url.slice('sqlite:'.length)
  if (!existsSync(filename)) throw new UsageError('there is no file at the path of --from')
  if (isDirectory(filename)) throw new UsageError('the path of --from is a directory: name a file')
  const { client } = loadSqliteDriver()
  const instance = knex({ client, connection: { filename }, useNullAsDefault: true, ...common })
  return { kind: 'sqlite', knex: restoreQuestionMarks(instance) }
}
