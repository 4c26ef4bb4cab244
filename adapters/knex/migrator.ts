import { StorageError } from '../../lib/errors.ts'
import type { Needs } from '../../lib/storage.ts'
import { createFieldIndex, fieldIndexesOn } from './fields.ts'
import { createInspection, type SchemaReport, unindexedFields } from './inspection.ts'
import { LATEST, statementsBetween, WITH_FIELDS } from './migrations.ts'
import type { Names } from './names.ts'
import type { Run, Session } from './session.ts'

/** What keeps the tables in step with the code. */
export interface Migrator {
  check (needs?: Needs): Promise<void>
  migrate (needs?: Needs): Promise<void>
  /**
   * Takes the schema back to an earlier version, with everything that it kept since; 0 removes our tables and all that is in them. A schema at that version, or
   * before it, stays as it is.
   * @throws TypeError for a version that there is none of
   * @throws StorageError `schema_newer`, `unavailable`
   */
  rollback (version: number): Promise<void>
  /** Holds the schema against what this code makes; changes nothing. @throws StorageError `unavailable` */
  inspect (needs?: Needs): Promise<SchemaReport>
}

/**
 * Makes the migrator of a session. A runner of our own and not Knex's, because Knex merges a host's migration settings into ours, leaves its
 * lock behind when a process dies, and fails where several processes start on an empty database.
 */
export function createMigrator (session: Session, names: Names): Migrator {
  const { dialect, run, exclusively } = session
  // Reading pg_class, which takes a lock on it, is what makes PostgreSQL look at what others have just committed: to_regclass alone answers from a cache.
  const exists = dialect.name === 'postgres'
    ? `SELECT 1 AS found FROM pg_catalog.pg_class WHERE oid = to_regclass(${dialect.p(1)})`
    : `SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = ${dialect.p(1)}`
  const table = dialect.name === 'postgres' ? names.migrations : names.migrationsTable

  /** 0: no schema of ours yet. */
  async function version (on: Run): Promise<number> {
    if ((await on(exists, [table])).length === 0) return 0
    try {
      const [row] = await on(`SELECT max(version) AS version FROM ${names.migrations}`)
      return Number(row?.['version'] ?? 0)
    } catch (error) {
      // A rollback may have taken the table away since.
      if ((await on(exists, [table])).length === 0) return 0
      throw error
    }
  }

  function refuseNewer (found: number): void {
    if (found > LATEST) throw new StorageError('schema_newer', `the tables are at version ${found}, this code knows ${LATEST}: install a newer fastify-users`)
  }

  async function makeSchema (on: Run): Promise<void> {
    if (names.schema === null || (await on(`SELECT 1 AS found FROM pg_namespace WHERE nspname = ${dialect.p(1)}`, [names.schema])).length > 0) return
    await on(`CREATE SCHEMA "${names.schema}"`)
  }

  /** Goes to a version where that lies in the direction asked for. */
  async function go (on: Run, to: number, direction: 'up' | 'down'): Promise<void> {
    const found = await version(on)
    refuseNewer(found)
    if (direction === 'up' ? found >= to : found <= to) return
    if (direction === 'up') await makeSchema(on)
    for (const statement of statementsBetween(dialect, names, found, to)) await on(statement)
  }

  const unindexed = (on: Run, needs: Needs): Promise<string[]> => unindexedFields(on, dialect, names, needs)

  return {
    inspect: createInspection(session, names, () => version(run)),

    async check (needs = {}) {
      const found = await version(run)
      refuseNewer(found)
      if (found < LATEST) {
        throw new StorageError('schema_behind', `the tables are at version ${found}, this code needs ${LATEST}: call storage.migrate(), or register with migrate: true`)
      }
      const lacking = await unindexed(run, needs)
      if (lacking.length > 0) {
        throw new StorageError('schema_behind', `the tables have no index for lists filtered by ${lacking.join(', ')}: call storage.migrate({ filterable }), or register with migrate: true`)
      }
    },

    async migrate (needs = {}) {
      // On a current schema nothing is asked for that takes the right to change one.
      if (await version(run) === LATEST && (await unindexed(run, needs)).length === 0) return
      await exclusively(async (on) => {
        await go(on, LATEST, 'up')
        for (const field of await unindexed(on, needs)) await on(createFieldIndex(dialect, names, field))
      }, { patient: true })
    },

    async rollback (to) {
      if (!Number.isInteger(to) || to < 0 || to > LATEST) throw new TypeError(`fastify-users: rollback() goes to a version from 0 to ${LATEST}`)
      await exclusively(async (on) => {
        if (dialect.name === 'sqlite' && to < WITH_FIELDS) {
          for (const { name } of await on(fieldIndexesOn(names))) await on(`DROP INDEX "${String(name)}"`)
        }
        await go(on, to, 'down')
      }, { patient: true })
    }
  }
}
