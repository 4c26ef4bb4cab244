import knex, { type Knex } from 'knex'
import pg from 'pg'
import type { Test } from 'tap'
import { pgUrl, sql } from './stores.ts'

/** The URL of the suite's PostgreSQL with these parameters, such as `application_name` or `options`. */
export function pgUrlWith (parameters: Record<string, string>): string {
  const url = new URL(pgUrl())
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** The URL for a new role that has these rights alone; the role is dropped with the test. */
export async function urlOfRole (t: Test, role: string, rights: readonly string[]): Promise<string> {
  const grants = rights.map((right) => `GRANT ${right} TO "${role}"`)
  await sql([`CREATE ROLE "${role}" LOGIN PASSWORD 'x'`, ...grants].join('; '))
  t.teardown(() => sql(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`))
  const url = new URL(pgUrl())
  url.username = role
  url.password = 'x'
  return url.href
}

/** A connection of pg, closed with the test. */
export async function connectPg (t: Test, connectionString = pgUrl()): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/** A host's Knex instance on the suite's PostgreSQL, destroyed with the test. */
export function pgHost (t: Test, config: Knex.Config = {}): Knex {
  const host = knex({ client: 'pg', connection: pgUrl(), pool: { min: 0, max: 4 }, ...config })
  t.teardown(() => host.destroy())
  return host
}

/** A connection whose sessions have a limit of time, as those of our own pools. */
export const limitedConnection = () => ({ connectionString: pgUrl(), statement_timeout: 5000 })

/** The process ids of the connections with this application name that wait for a lock. */
export async function waitingForLock (applicationName: string): Promise<unknown[]> {
  const rows = await sql(
    "SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'",
    [applicationName]
  )
  return rows.map(({ pid }) => pid)
}

/** Ends the connections with this application name on the server. */
export async function terminate (applicationName: string): Promise<void> {
  await sql('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [applicationName])
}
