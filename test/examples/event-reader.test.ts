// The example reads each event exactly once, with several processes that are killed while they do.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import Fastify from 'fastify'
import users from 'fastify-users'
import { knexStorage } from 'fastify-users/adapters/knex'
import type { Knex } from 'knex'
import { test, type Test } from 'tap'
import { plainNode } from '../helpers/plain-node.ts'
import { pgHost } from '../helpers/postgres.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'

const PROGRAM = join(import.meta.dirname, 'read-events.mjs')
const EVENTS = 300
const KILLS = 6

const databases: Array<{ name: string, open: (t: Test) => Promise<{ knex: Knex, args: string[] }> }> = [
  {
    name: 'SQLite',
    async open (t) {
      const filename = join(await temporaryDirectory(t), 'users.db')
      const knex = sqliteHost(filename)
      t.teardown(() => knex.destroy())
      return { knex, args: [`sqlite:${filename}`] }
    }
  },
  {
    name: 'PostgreSQL',
    async open (t) {
      const schema = temporarySchema(t)
      const knex = pgHost(t, { searchPath: [schema] })
      await knex.raw(`CREATE SCHEMA IF NOT EXISTS "${schema}"`)
      return { knex, args: [pgUrl(), schema] }
    }
  }
]

for (const { name, open } of databases) {
  test(`${name}: killed readers miss nothing, and do nothing twice`, async (t) => {
    const { knex, args } = await open(t)
    const app = Fastify()
    t.teardown(() => app.close())
    await app.register(users, { storage: knexStorage(knex), migrate: true, eventLog: true })
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
    const recorded: string[] = []
    for await (const page of pages(app.users.events)) recorded.push(...page)
    t.equal(recorded.length, EVENTS)
    const effects = await knex('effects').orderBy('event').pluck('event')
    t.strictSame(effects, recorded.toSorted())
  })
}

/** The ids of all recorded events, a page at a time. */
async function * pages (events: { list: (query: object) => Promise<{ data: Array<{ id: string }> }> }) {
  let after: string | undefined
  while (true) {
    const { data } = await events.list({ limit: 100, ...after !== undefined && { after } })
    if (data.length === 0) return
    yield data.map(({ id }) => id)
    after = data.at(-1)?.id
  }
}
