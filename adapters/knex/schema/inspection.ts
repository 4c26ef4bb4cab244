import type { SchemaRequirements } from '../../../lib/storage/storage.ts'
import type { Executor, Query } from '../connection/executor.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { Names } from '../tables/names.ts'
import type { Profile } from '../tables/profiles.ts'
import type { RecordedSchema } from './recorded-schema.ts'
import { type FieldIndex, fieldIndexes } from './field-indexes.ts'
import { LATEST, migrations, statementsBetween } from './migrations.ts'

/** The schema in the database, compared with the one that this code makes. */
export interface SchemaReport {
  /** Version of the tables; 0: there are none. */
  version: number
  /** Version that this code works with. */
  latest: number
  /** How the tables use the database, or would; on SQLite always `classic`. */
  profile: Profile
  /** The oldest version whose code works with the tables, so this code can't if `latest` is less; 0: no tables. */
  compatibleFrom: number
  /** Names of the migrations to apply, oldest first. */
  pending: string[]
  /** Indexes, constraints and triggers that are missing or not in force. Those of newer tables are not known. */
  missing: string[]
  /** Filterable fields without an index. */
  unindexed: string[]
  /** Unique fields without an index, so that several users may have one value. */
  notUnique: string[]
  /** The key of what users are found by of their fields; empty: nothing. */
  searchable: string
  /** True if it is another one than is required, or not all users have the words of it. */
  searchesOthers: boolean
}

const OBJECT = /CREATE (?:UNIQUE )?(?:INDEX|TRIGGER) "([^"]+)"/g
const CONSTRAINT = /CONSTRAINT "([^"]+)" (?:PRIMARY KEY|UNIQUE|CHECK)/g

async function objectsInForce (query: Query, { schema }: Dialect, names: Names): Promise<Set<unknown>> {
  return new Set((await query(schema.objectsInForce(names))).map(({ name }) => name))
}

/** The required indexes of fields that are missing, or broken. */
export async function missingIndexes (
  query: Query,
  dialect: Dialect,
  names: Names,
  requirements: SchemaRequirements
): Promise<FieldIndex[]> {
  const required = fieldIndexes(names, requirements)
  if (required.length === 0) return []
  const inForce = await objectsInForce(query, dialect, names)
  return required.filter(({ name }) => !inForce.has(name))
}

/** Makes the function that inspects the schema. `recorded`: reads the record of the migrations. */
export function createInspection (
  { dialect, query }: Executor,
  names: Names,
  recorded: () => Promise<RecordedSchema>
): (requirements?: SchemaRequirements) => Promise<SchemaReport> {
  return async (requirements = {}) => {
    const { version, compatibleFrom, profile, searchable, hasAllWords } = await recorded()
    const known = version > LATEST ? 0 : version
    const statements = statementsBetween(dialect, names, 0, known).join('\n')
    const namesIn = (pattern: RegExp) => [...statements.matchAll(pattern)].map(([, name]) => String(name))
    const constraints = namesIn(CONSTRAINT).filter((name) => dialect.schema.seesConstraint(names, name))
    const inForce = await objectsInForce(query, dialect, names)
    const indexes = await missingIndexes(query, dialect, names, requirements)
    const fieldsOf = (wanted: boolean) =>
      indexes.filter(({ isUnique }) => isUnique === wanted).map(({ field }) => field)
    return {
      version,
      latest: LATEST,
      profile,
      compatibleFrom,
      pending: migrations.slice(version).map(({ name }) => name),
      missing: [...namesIn(OBJECT), ...constraints].filter((name) => !inForce.has(name)),
      unindexed: fieldsOf(false),
      notUnique: fieldsOf(true),
      searchable,
      searchesOthers: !hasAllWords || (requirements.searchable?.key ?? searchable) !== searchable
    }
  }
}
