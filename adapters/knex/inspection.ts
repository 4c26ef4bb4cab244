import type { Needs } from '../../lib/storage.ts'
import { constraintIndex, type Dialect } from './dialect.ts'
import { fieldIndex } from './fields.ts'
import { migrations, LATEST, statementsBetween } from './migrations.ts'
import type { Names } from './names.ts'
import type { Run, Session } from './session.ts'

/** What of the schema is there, held against what this code makes. */
export interface SchemaReport {
  /** Version of the tables; 0: there are none. */
  version: number
  /** Version that this code works with. */
  latest: number
  /** Names of the migrations that are still to be applied, oldest first. */
  pending: string[]
  /** Indexes, unique constraints and triggers that the tables of this version should have and have not, or that are not in force. */
  missing: string[]
  /** The fields that lists are to be narrowed by and that have no index for it. */
  unindexed: string[]
}

const OBJECT = /CREATE (?:UNIQUE )?(?:INDEX|TRIGGER) "([^"]+)"/g
const CONSTRAINT = /CONSTRAINT "([^"]+)" (?:PRIMARY KEY|UNIQUE)/g

/** The constraints of the users' table, which SQLite keeps under names of its own, and which statements name. */
function constraintsOnSqlite ({ bare, emailUnique }: Names) {
  return [{ constraint: bare('users_pkey'), column: 'id' }, { constraint: emailUnique, column: 'email_key' }] as const
}

/** Names the indexes, constraints and triggers that are in force. */
function presentObjects (dialect: Dialect, names: Names): string {
  const held = constraintsOnSqlite(names).map(({ constraint, column }) =>
    ` UNION ALL SELECT '${constraint}' WHERE (SELECT group_concat(name) FROM pragma_index_info('${constraintIndex(names.usersTable, column)}')) = '${column}'`)
  return dialect.name === 'postgres'
    ? `SELECT c.relname AS name FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
        WHERE i.indisvalid AND c.relnamespace = (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = to_regclass('${names.users}'))
        UNION ALL SELECT tgname FROM pg_catalog.pg_trigger WHERE tgrelid IN (to_regclass('${names.users}'), to_regclass('${names.sealing}'), to_regclass('${names.apiKeys}')) AND (tgenabled = 'A' OR tgenabled = 'O' AND tgrelid IS DISTINCT FROM to_regclass('${names.sealing}'))`
    : `SELECT name FROM sqlite_master WHERE type IN ('index', 'trigger')${held.join('')}`
}

/** Those of the fields that want an index that there is none of, or that is broken. */
export async function unindexedFields (on: Run, dialect: Dialect, names: Names, { filterable = [] }: Needs): Promise<string[]> {
  if (filterable.length === 0) return []
  const present = new Set((await on(presentObjects(dialect, names))).map(({ name }) => name))
  return filterable.filter((field) => !present.has(fieldIndex(names, field)))
}

/** Makes the inspection of a session's tables. `versionOf` says at which version they are. */
export function createInspection ({ dialect, run }: Session, names: Names, versionOf: () => Promise<number>): (needs?: Needs) => Promise<SchemaReport> {
  const present = presentObjects(dialect, names)

  return async (needs = {}) => {
    const version = await versionOf()
    const made = statementsBetween(dialect, names, 0, Math.min(version, LATEST)).join('\n')
    const namesIn = (pattern: RegExp) => [...made.matchAll(pattern)].map(([, name]) => String(name))
    const looked = constraintsOnSqlite(names).map(({ constraint }) => constraint)
    const expected = [...namesIn(OBJECT), ...namesIn(CONSTRAINT).filter((name) => dialect.name === 'postgres' || looked.includes(name))]
    const found = new Set((await run(present)).map(({ name }) => name))
    return {
      version,
      latest: LATEST,
      pending: migrations.slice(version).map(({ name }) => name),
      missing: expected.filter((name) => !found.has(name)),
      unindexed: await unindexedFields(run, dialect, names, needs)
    }
  }
}
