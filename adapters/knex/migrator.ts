import { StorageError } from '../../lib/errors.ts'
import { migrations } from './migrations.ts'
import type { Names } from './names.ts'
import type { Run, Session } from './session.ts'

const LATEST = migrations.length

/**
 * Keeps the tables in step with the code. A runner of our own and not Knex's, because Knex merges a host's migration settings into ours, leaves its
 * lock behind when a process dies, and fails where several processes start on an empty database.
 */
export function createMigrator ({ dialect, run, exclusively }: Session, names: Names): { check: () => Promise<void>, migrate: () => Promise<void> } {
  const exists = dialect.name === 'postgres'
    ? `SELECT 1 AS found WHERE to_regclass(${dialect.p(1)}) IS NOT NULL`
    : `SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = ${dialect.p(1)}`
  const table = dialect.name === 'postgres' ? names.migrations : names.migrationsTable

  /** 0: no schema of ours yet. */
  async function version (on: Run): Promise<number> {
    if ((await on(exists, [table])).length === 0) return 0
    const [row] = await on(`SELECT max(version) AS version FROM ${names.migrations}`)
    return Number(row?.['version'] ?? 0)
  }

  function refuseNewer (found: number): void {
    if (found > LATEST) throw new StorageError('schema_newer', `the tables are at version ${found}, this code knows ${LATEST}: install a newer fastify-users`)
  }

  return {
    async check () {
      const found = await version(run)
      refuseNewer(found)
      if (found < LATEST) {
        throw new StorageError('schema_behind', `the tables are at version ${found}, this code needs ${LATEST}: call storage.migrate(), or register with migrate: true`)
      }
    },

    async migrate () {
      // On a current schema nothing is asked for that takes the right to change one.
      if (await version(run) !== LATEST) await exclusively(bringUpToDate, { patient: true })
    }
  }

  async function bringUpToDate (on: Run): Promise<void> {
    if (names.schema !== null && (await on(`SELECT 1 AS found FROM pg_namespace WHERE nspname = ${dialect.p(1)}`, [names.schema])).length === 0) await on(`CREATE SCHEMA "${names.schema}"`)
    await on(`CREATE TABLE IF NOT EXISTS ${names.migrations} (
      version integer NOT NULL CONSTRAINT ${names.own('migrations_pkey')} PRIMARY KEY,
      name text NOT NULL,
      applied_at ${dialect.moment} NOT NULL
    )`)
    const found = await version(on)
    refuseNewer(found)
    for (const [i, { name, up }] of migrations.slice(found).entries()) {
      for (const statement of up(dialect, names)) await on(statement)
      const { p } = dialect
      await on(`INSERT INTO ${names.migrations} (version, name, applied_at) VALUES (${p(1)}, ${p(2)}, ${p(3)})`, [found + i + 1, name, new Date().toISOString()])
    }
  }
}
