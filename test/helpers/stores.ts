import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { inMariadb } from './mariadb.ts'
import { programPath } from '../servers/program.mjs'
import { sharedServerUrl } from '../servers/shared.mjs'
import { sqliteDriver } from './sqlite.ts'

/** The URL of the suite's PostgreSQL, which starts with the first call in a run. */
export const pgUrl = (): string => sharedServerUrl('postgres')

/** The URL of the suite's PgBouncer, which starts with the first call in a run. */
export const pgBouncerUrl = (): string => sharedServerUrl('pgbouncer')

/** Why tests of a pooler are skipped; false on a machine that has PgBouncer, or must have it. */
export const withoutPgBouncer: string | false =
  programPath('pgbouncer') === undefined && process.env['REQUIRE_PGBOUNCER'] === undefined &&
  'this machine has no PgBouncer: apt-get install pgbouncer'

/** A new directory, removed with the test. */
export async function temporaryDirectory (t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'fastify-users-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Works on a connection of its own. */
export async function connected<Value> (url: string, work: (client: pg.Client) => Promise<Value>): Promise<Value> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return work(client).finally(() => client.end())
}

/** Runs SQL on the suite's PostgreSQL. */
export const sql = (text: string, values: unknown[] = []): Promise<Array<Record<string, unknown>>> =>
  connected(pgUrl(), async (client) => (await client.query(text, values)).rows)

/** The name of a schema for this test, dropped with it. */
export function temporarySchema (t: Test): string {
  const schema = `${process.env['TEST_SCHEMAS'] ?? 't_'}${randomBytes(6).toString('hex')}`
  t.teardown(() => sql(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`))
  return schema
}

export interface StoreKind {
  name: string
  /** What tells stores on one database apart. */
  place: 'none' | 'file' | 'schema' | 'database'
  /** Opens the store at a path, or in a schema or database. */
  at (place: string): Storage
  /** A new store, empty and apart from all others. Its schema does not exist yet. */
  create(t: Test): Promise<Storage>
}

/** A kind of store in SQLite files. */
export const inFiles = (name: string, at: StoreKind['at']): StoreKind => ({
  name, place: 'file', at, create: async (t) => at(join(await temporaryDirectory(t), 'deep', 'users.db'))
})

const inSchemas = (name: string, at: StoreKind['at']): StoreKind => ({
  name, place: 'schema', at, create: async (t) => at(temporarySchema(t))
})

/** PostgreSQL behind PgBouncer; `skip` on a machine without PgBouncer. */
export const pooled: StoreKind & { skip: string | false } = {
  ...inSchemas('postgres through PgBouncer', (schema) =>
    postgres({ connection: pgBouncerUrl(), schema, pool: { max: 8 }, pooler: true })),
  skip: withoutPgBouncer
}

const all: readonly StoreKind[] = [
  { name: 'memory', place: 'none', at: () => memory(), create: async () => memory() },
  inFiles('sqlite', (filename) => sqlite({ filename, driver: sqliteDriver })),
  inSchemas('postgres', (schema) => postgres({ connection: pgUrl(), schema, pool: { max: 8 } }))
]

/**
 * Every storage of the package, on a real database; in a run about one of them, the one that `STORE` names. MariaDB,
 * which not every machine has, only then.
 */
export const stores = process.env['STORE'] === inMariadb.name
  ? [inMariadb]
  : all.filter(({ name }) => [undefined, name].includes(process.env['STORE']))
