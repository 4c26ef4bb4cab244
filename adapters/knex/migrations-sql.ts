import type { SqliteDriver } from './sqlite-drivers.ts'
import { Type } from '../../lib/typebox.ts'
import { optionCheck } from '../../lib/option-check.ts'
import { FILTERABLE } from '../../lib/storage-rules.ts'
import { dialectOf } from './dialect.ts'
import { createFieldIndex, fieldIndex } from './fields.ts'
import { LATEST, statementsBetween, WITH_FIELDS } from './migrations.ts'
import { namesOf, type NamingOptions, schema, tablePrefix } from './names.ts'

export interface MigrationsSqlOptions extends NamingOptions {
  /** The version that the schema is at. Default 0: there is none of ours yet. */
  from?: number
  /** The version that it is brought to; one below `from` prints the way back, which loses data. Default: the one that this code works with. */
  to?: number
  /** Fields that lists are narrowed by: their indexes are made too, or, on the way back, taken away. */
  filterable?: readonly string[]
}

const version = { schema: Type.Integer({ minimum: 0, maximum: LATEST }), words: `must be a version from 0 to ${LATEST}` }
const filterable = { schema: Type.Array(Type.String({ pattern: FILTERABLE.source })), words: 'must be a list of names of fields, each of 1 to 63 letters, digits and _' }
const refuseWrong = optionCheck<MigrationsSqlOptions>({ from: version, to: version, filterable, tablePrefix, schema })

/**
 * The SQL of the migrations, as one transaction, for a team that runs its DDL itself: what it makes is what `migrate()` makes, and `check()` accepts it. Run it
 * so that the first error stops it (`psql -v ON_ERROR_STOP=1`, `sqlite3 -bail`). `client`: `pg`, or an SQLite driver: `sqlite3`, `better-sqlite3` or `node:sqlite`.
 * @throws TypeError for another client, or a wrong option
 */
export function migrationsSql (client: 'pg' | SqliteDriver, options: MigrationsSqlOptions = {}): string {
  refuseWrong('fastify-users: migrationsSql()', options)
  const { from = 0, to = LATEST, filterable = [], ...naming } = options
  const dialect = dialectOf(client)
  const names = namesOf(naming, dialect)
  // PostgreSQL takes them away with their column.
  const leaves = dialect.name === 'sqlite' && from >= WITH_FIELDS && to < WITH_FIELDS
  const statements = [
    ...(leaves ? filterable.map((field) => `DROP INDEX IF EXISTS "${fieldIndex(names, field)}"`) : []),
    ...statementsBetween(dialect, names, from, to),
    ...(to >= WITH_FIELDS ? filterable.map((field) => createFieldIndex(dialect, names, field)) : [])
  ]
  // IF NOT EXISTS alone asks for the right to make schemas, also where there is nothing to make.
  const makeSchema = names.schema !== null && from === 0 && to > 0
    ? [`DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = '${names.schema}') THEN CREATE SCHEMA "${names.schema}"; END IF; END $$`]
    : []
  return [dialect.begin, ...makeSchema, ...statements, 'COMMIT'].map((statement) => `${statement};\n`).join('')
}
