// The servers that all test files share. The runner starts each one when the first test asks for it: a test process
// makes a file `<name>.wanted` in a directory of both, and waits for the answer in `<name>.url`. Files, because
// `pgUrl()` is synchronous and the tests of one run are many processes.
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startMariadb } from './mariadb.mjs'
import { startPgBouncer } from './pgbouncer.mjs'
import { startPostgres } from './postgres.mjs'

const START_TIMEOUT_MS = 120_000
const POLL_MS = 10

/** The environment variable that names a server which is already there. */
const VARIABLES = { postgres: 'PG_URL', pgbouncer: 'PGBOUNCER_URL', mariadb: 'MARIADB_URL' }

function writeAnswer (directory, name, answer) {
  const partial = join(directory, `${name}.partial`)
  writeFileSync(partial, JSON.stringify(answer))
  renameSync(partial, join(directory, `${name}.url`))
}

/** Starts the servers that test processes ask for: the variables for these, and a function that stops the servers. */
export function serveOnDemand () {
  const directory = mkdtempSync(join(tmpdir(), 'fastify-users-servers-'))
  const started = new Map()
  const start = {
    postgres: () => process.env.PG_URL === undefined ? startPostgres() : { url: process.env.PG_URL, stop () {} },
    pgbouncer: async () => startPgBouncer((await ensure('postgres')).url),
    mariadb: startMariadb
  }
  function ensure (name) {
    if (!started.has(name)) started.set(name, Promise.resolve().then(start[name]))
    return started.get(name)
  }
  async function answer (name) {
    try {
      writeAnswer(directory, name, { url: (await ensure(name)).url })
    } catch (error) {
      writeAnswer(directory, name, { error: String(error) })
    }
  }
  const watcher = watch(directory, (_event, file) => {
    for (const name of Object.keys(start)) {
      if (file === `${name}.wanted` && !started.has(`${name}.answer`)) started.set(`${name}.answer`, answer(name))
    }
  })
  return {
    env: { TEST_SERVERS: directory },
    /** The names of the schemas that were made in the PostgreSQL and are still there. */
    async schemas () {
      const server = await started.get('postgres')?.catch(() => {})
      if (server === undefined || process.env.PG_URL !== undefined) return []
      const client = new pg.Client({ connectionString: server.url })
      await client.connect()
      const text = "SELECT nspname FROM pg_namespace WHERE nspname !~ '^(?:pg_|information_schema$|public$)'"
      const { rows } = await client.query(text)
      await client.end()
      return rows.map(({ nspname }) => nspname)
    },
    async stop () {
      watcher.close()
      for (const name of ['pgbouncer', 'postgres', 'mariadb']) await (await started.get(name)?.catch(() => {}))?.stop()
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

/** The URL of a shared server, `postgres`, `pgbouncer` or `mariadb`. Starts it if no test has asked before. */
export function sharedServerUrl (name) {
  const variable = VARIABLES[name]
  const given = process.env[variable]
  if (given !== undefined) return given
  const directory = process.env.TEST_SERVERS
  if (directory === undefined) throw new Error('there is no server: run the tests with npm test -- <file>')
  const file = join(directory, `${name}.url`)
  const pause = new Int32Array(new SharedArrayBuffer(4))
  const deadline = performance.now() + START_TIMEOUT_MS
  if (!existsSync(file)) writeFileSync(join(directory, `${name}.wanted`), '')
  while (!existsSync(file)) {
    if (performance.now() > deadline) throw new Error(`${name} did not start within ${START_TIMEOUT_MS / 1000} s`)
    Atomics.wait(pause, 0, 0, POLL_MS)
  }
  const { url, error } = JSON.parse(readFileSync(file, 'utf8'))
  if (error !== undefined) throw new Error(`${name} did not start: ${error}`)
  process.env[variable] = url
  return url
}
