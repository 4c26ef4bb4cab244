// The example reads each event exactly once, with several processes that are killed while they do.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import Fastify from 'fastify'
import users from 'fastify-users'
import { knexStorage } from 'fastify-users/adapters/knex'
import type { Knex } from 'knex'
import { test, type Test } from 'tap'
import { from } from '../helpers/level.ts'
import { plainNode } from '../helpers/plain-node.ts'
import { pgHost } from '../helpers/postgres.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'

const PROGRAM = join(import.meta.dirname, 'read-events.mjs')
// As many as one page of the log has; more of both at night.
const [EVENTS, KILLS] = from('nightly') === false ? [300, 6] : [100, 3]

const databases: Array<{
  name: string
  skip: string | false
  open: (t: Test) => Promise<{ knex: Knex, args: string[] }>
}> = [
  {
    name: 'SQLite',
    skip: from('nightly'),
    async open (t) {
      const filename = join(await temporaryDirectory(t), 'users.db')
      const knex = sqliteHost(filename)
      t.teardown(() => knex.destroy())
      return { knex, args: [`sqlite:${filename}`] }
    }
  },
  {
    name: 'PostgreSQL',
    skip: false,
    async open (t) {
      const schema = temporarySchema(t)
      const knex = pgHost(t, { searchPath: [schema] })
      await knex.raw(`CREATE SCHEMA IF NOT EXISTS "${schema}"`)
      return { knex, args: [pgUrl(), schema] }
    }
  }
]

for (const { name, skip, open } of databases) {
  test(`${name}: killed readers miss nothing, and do nothing twice`, { skip }, async (t) => {
    const { knex, args } = await open(t)
    const app = Fastify()
    t.teardown(() => app.close())
    const pageSize = { default: EVENTS, max: EVENTS }
    await app.register(users, { storage: knexStorage(knex), migrate: true, eventLog: true, pageSize })
    await knex.raw('CREATE TABLE effects (event varchar(40) NOT NULL, type text NOT NULL)')
    const counted = async () => Number((await knex('effects').count({ n: '*' }).first())?.['n'])

    const start = () => spawn(...plainNode(PROGRAM, ...args), { stdio: ['ignore', 'ignore', 'inherit'] })
    const readers = [start(), start()]
    t.teardown(() => readers.forEach((reader) => reader.kill('SIGKILL')))
    const writing = (async () => {
      for (let n = 0; n < EVENTS; n++) await app.users.create({ name: 'A', email: `a${n}@example.org` })
    })()
    for (let kills = 0; kills < KILLS; kills++) {
      const before = await counted()
      await until('the readers went on', async () => await counted() > before || before === EVENTS)
      readers.shift()?.kill('SIGKILL')
      readers.push(start())
    }
    await writing
    await until('every event was read', async () => await counted() >= EVENTS)
    const { data: recorded, meta } = await app.users.events.list()
    t.strictSame([recorded.length, meta.more], [EVENTS, false])
    const effects = await knex('effects').orderBy('event').pluck('event')
    t.strictSame(effects, recorded.map(({ id }) => id).toSorted())
  })
}
