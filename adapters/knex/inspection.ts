import { migrations, LATEST, statementsBetween } from './migrations.ts'
import type { Names } from './names.ts'
import type { Session } from './session.ts'

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
}

const OBJECT = /CREATE (?:UNIQUE )?(?:INDEX|TRIGGER) "([^"]+)"/g
const CONSTRAINT = /CONSTRAINT "([^"]+)" (?:PRIMARY KEY|UNIQUE)/g

/** Makes the inspection of a session's tables. `versionOf` says at which version they are. */
export function createInspection ({ dialect, run }: Session, names: Names, versionOf: () => Promise<number>): () => Promise<SchemaReport> {
  const present = dialect.name === 'postgres'
    ? `SELECT c.relname AS name FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
        WHERE i.indisvalid AND c.relnamespace = (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = to_regclass('${names.users}'))
        UNION ALL SELECT tgname FROM pg_catalog.pg_trigger WHERE tgrelid IN (to_regclass('${names.users}'), to_regclass('${names.sealing}'), to_regclass('${names.apiKeys}')) AND (tgenabled = 'A' OR tgenabled = 'O' AND tgrelid IS DISTINCT FROM to_regclass('${names.sealing}'))`
    : "SELECT name FROM sqlite_master WHERE type IN ('index', 'trigger')"

  return async () => {
    const version = await versionOf()
    const made = statementsBetween(dialect, names, 0, Math.min(version, LATEST)).join('\n')
    const namesIn = (pattern: RegExp) => [...made.matchAll(pattern)].map(([, name]) => String(name))
    // SQLite keeps a constraint with its table, under a name of its own.
    const expected = [...namesIn(OBJECT), ...(dialect.name === 'postgres' ? namesIn(CONSTRAINT) : [])]
    const found = new Set((await run(present)).map(({ name }) => name))
    return {
      version,
      latest: LATEST,
      pending: migrations.slice(version).map(({ name }) => name),
      missing: expected.filter((name) => !found.has(name))
    }
  }
}
