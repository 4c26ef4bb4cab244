import type { Dialect } from '../dialects/dialect.ts'
import type { Names } from '../tables/names.ts'
import { createTables, dropTables } from './tables.ts'

/** One migration. Its statements run in order, in one transaction with the row that records it. */
interface Migration {
  name: string
  /**
   * The oldest version of the tables whose code works with them after this migration, beside newer code. It is its own
   * version if older code would fail, or store what is wrong.
   */
  compatibleFrom: number
  up (dialect: Dialect, names: Names): string[]
  /** Reverts it, and loses the data that it made room for. */
  down (dialect: Dialect, names: Names): string[]
}

/** Every migration, oldest first. Its position, from 1, is its version. A released migration is never changed. */
export const migrations: readonly Migration[] = [
  { name: 'initial schema', compatibleFrom: 1, up: createTables, down: dropTables }
]

/** The version that this code works with. */
export const LATEST = migrations.length

/**
 * The record of the migrations. Code of every version reads `version`, `compatible_from`, `profile` and `searchable` of
 * the newest one, so they stay as they are. `storage_id` of the oldest one tells stores apart. A dump keeps it.
 * `word_list` is the mark of `searchable`, and `words_made` that of the list that every user has words of.
 */
function migrationsTable ({ schema: { moment, randomText } }: Dialect, { migrations: table, quoted }: Names): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (
        version integer NOT NULL CONSTRAINT ${quoted('migrations_pkey')} PRIMARY KEY,
        name text NOT NULL,
        applied_at ${moment} NOT NULL,
        compatible_from integer NOT NULL,
        profile text NOT NULL DEFAULT 'classic',
        searchable text NOT NULL DEFAULT '',
        word_list text NOT NULL DEFAULT '',
        words_made text NOT NULL DEFAULT '',
        storage_id text NOT NULL DEFAULT ${randomText}
      )`
}

/** The statements that migrate from one version to another, up or down. 0: no tables of ours. */
export function statementsBetween (dialect: Dialect, names: Names, from: number, to: number): string[] {
  const { migrations: table } = names
  const steps = migrations.map(({ name, compatibleFrom, up, down }, i) => ({
    up: () => [
      ...up(dialect, names),
      `INSERT INTO ${table} (version, name, applied_at, compatible_from, profile) ` +
        `VALUES (${i + 1}, '${name}', ${dialect.schema.now}, ${compatibleFrom}, '${dialect.profile}')`
    ],
    down: () => [...down(dialect, names), `DELETE FROM ${table} WHERE version = ${i + 1}`]
  }))
  if (from < to) return [migrationsTable(dialect, names), ...steps.slice(from, to).flatMap(({ up }) => up())]
  const reverted = steps.slice(to, from).reverse().flatMap(({ down }) => down())
  return to === 0 && from > 0 ? [...reverted, `DROP TABLE ${table}`] : reverted
}
