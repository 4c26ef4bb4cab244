import { defaulted, type OptionsOf, readOptions } from '../../../lib/core/option-table.ts'
import { FILTERABLE } from '../../../lib/storage/storage-rules.ts'
import { Type } from '../../../lib/core/typebox.ts'
import { dialectOf } from '../dialects/index.ts'
import type { SqliteDriver } from '../drivers/sqlite-drivers.ts'
import { namesOf, namingTable } from '../tables/names.ts'
import { createFieldIndex, fieldIndexes } from './field-indexes.ts'
import { LATEST, statementsBetween } from './migrations.ts'

const version = {
  schema: Type.Integer({ minimum: 0, maximum: LATEST }),
  message: `must be a version from 0 to ${LATEST}`
}

const fieldNames = {
  schema: Type.Array(Type.String({ pattern: FILTERABLE.source })),
  message: 'must be a list of names of fields, each of 1 to 63 letters, digits and _'
}

const optionTable = {
  ...namingTable,
  /** The version that the schema is at. Default 0: there are no tables of ours yet. */
  from: defaulted<number>(0, version),
  /**
   * The version to migrate to. One below `from` reverts, which loses data. Default: the one that this code works with.
   */
  to: defaulted<number>(LATEST, version),
  /** Fields that lists are filtered by: the SQL makes their indexes too. */
  filterable: defaulted<readonly string[]>([], fieldNames),
  /** Fields whose value at most one user has: the SQL makes their unique indexes too. */
  unique: defaulted<readonly string[]>([], fieldNames)
}

export interface MigrationsSqlOptions extends OptionsOf<typeof optionTable> {}

/**
 * The SQL of the migrations, as one transaction, for a team that runs its DDL itself. It makes what opening with
 * `migrate` makes.
 * Run it so that the first error stops it (`psql -v ON_ERROR_STOP=1`, `sqlite3 -bail`).
 * @throws TypeError for another client, or a wrong option
 */
export function migrationsSql (client: 'pg' | SqliteDriver, options: MigrationsSqlOptions = {}): string {
  const checked = readOptions('fastify-users: migrationsSql()', optionTable, options)
  const { from, to, filterable, unique, schema, tablePrefix, profile } = checked
  const dialect = dialectOf(client, profile)
  if (!dialect.hasProfiles && profile !== undefined) {
    throw new TypeError('fastify-users: the option profile is for PostgreSQL')
  }
  const naming = { ...(schema !== undefined && { schema }), ...(tablePrefix !== undefined && { tablePrefix }) }
  const names = namesOf(naming, dialect.hasSchemas)
  const indexes = fieldIndexes(names, { filterable, unique })
  const statements = [
    dialect.transaction.begin,
    ...(from === 0 && to > 0 ? dialect.schema.createSchema(names) : []),
    ...(from === 0 && to > 0 ? dialect.transaction.locksTable?.create(names) ?? [] : []),
    ...statementsBetween(dialect, names, from, to),
    ...(to > 0 ? indexes.map((index) => createFieldIndex(dialect, names, index)) : []),
    'COMMIT'
  ]
  return statements.map((statement) => `${statement};\n`).join('')
}
