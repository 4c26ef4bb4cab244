// Settings of a database that lets acknowledged writes be lost are told when the plugin is registered.
import { join } from 'node:path'
import Fastify from 'fastify'
import { test, type Test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import users, { type Storage } from '../../lib/index.ts'
import { captureLog } from '../helpers/log.ts'
import { pgUrlWith } from '../helpers/postgres.ts'
import { sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

const END = 'so a crash or a loss of power can lose writes that were acknowledged'

/** The warnings in the log of a host that registers the plugin with a store. */
async function warned (t: Test, storage: Storage): Promise<unknown[]> {
  const log = captureLog()
  const app = Fastify({ logger: { stream: log.stream } })
  t.teardown(() => app.close())
  await app.register(users, { storage, migrate: true, apiKeys: { static: ['s'.repeat(32)] } })
  return log.entries().filter(({ level }) => level === 40).map(({ msg }) => msg)
}

/** A store whose sessions wait for the disk, or not. */
const onPostgres = (t: Test, setting: string) => {
  const connection = pgUrlWith({ options: `-c synchronous_commit=${setting}` })
  return postgres({ connection, schema: temporarySchema(t) })
}

test('warns if PostgreSQL does not wait for the disk', async (t) => {
  const about = (messages: unknown[]) => messages.filter((each) => String(each).includes('synchronous_commit'))
  t.strictSame(about(await warned(t, onPostgres(t, 'off'))), [
    `fastify-users: postgres: synchronous_commit is off, ${END}`
  ])
  t.strictSame(about(await warned(t, onPostgres(t, 'on'))), [])
})

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: a host's SQLite that does not wait for its disk is warned of`, { skip }, async (t) => {
    const directory = await temporaryDirectory(t)
    const warnedOn = async (filename: string, setting: string) => {
      const host = sqliteHost(filename, { driver })
      t.teardown(() => host.destroy())
      await host.raw(`PRAGMA synchronous = ${setting}`)
      return warned(t, knexStorage(host))
    }
    for (const setting of ['OFF', 'NORMAL']) {
      t.strictSame(await warnedOn(join(directory, `${setting}.db`), setting), [
        `fastify-users: sqlite: synchronous is ${setting}, ${END}`
      ])
    }
    t.strictSame(await warnedOn(join(directory, 'full.db'), 'FULL'), [])
    t.strictSame(await warnedOn(':memory:', 'OFF'), [], 'a database in memory ends with its process anyway')
    t.strictSame(await warned(t, sqlite({ filename: join(directory, 'own.db'), driver })), [])
  })
}
