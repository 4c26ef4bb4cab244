// Measures what row-level security costs (docs/row-level-security.md, whose SQL sets it up): two databases of one
// PostgreSQL, one with policies and one without, in turn. Prints medians of calls per second, and of the ratios of the
// rounds with the lowest and the highest: node bench/row-security.mjs --rounds 15 --calls 600
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Fastify from 'fastify'
import knex from 'knex'
import pg from 'pg'
import users from '../dist/lib/index.js'
import { knexStorage } from '../dist/adapters/knex/index.js'
import { startPostgres } from '../test/servers/postgres.mjs'
import { RUNTIME } from './lib/machine.mjs'
import { median } from './lib/median.mjs'

const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    calls: { type: 'string', default: '600' },
    cases: { type: 'string', default: 'look-up,list page,search,create,change' }
  }
})
const [rounds, calls] = [given.rounds, given.calls].map(Number)
const [TENANTS, USERS_OF_EACH, CONCURRENT] = [20, 500, 4]

const page = await readFile(join(import.meta.dirname, '..', 'docs', 'row-level-security.md'), 'utf8')
const [, setup] = /```sql pg\n(.*?)```/s.exec(page)
const { url, stop } = await startPostgres({ durable: true })

async function run (text) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(text)
  await client.end()
}

/** A host in a database of its own, whose role is no superuser. */
async function open (name, isFenced) {
  await run(`CREATE DATABASE ${name} OWNER service`)
  const host = knex({
    client: 'pg',
    connection: Object.assign(new URL(url), { username: 'service', password: 'x', pathname: name }).href,
    pool: { min: CONCURRENT, max: CONCURRENT }
  })
  const app = Fastify()
  await app.register(users, { storage: knexStorage(host), migrate: true, tenants: true })
  const ids = []
  for (let tenant = 0; tenant < TENANTS; tenant++) {
    const rows = Array.from({ length: USERS_OF_EACH }, (_, n) => ({ name: `Name ${n}`, email: `${n}@example.org` }))
    await app.users.tenant(`t${tenant}`).import(rows)
  }
  if (isFenced) await host.raw(setup)
  await host.raw('VACUUM ANALYZE')
  const own = app.users.tenant('t7')
  for await (const { id } of own.iterate()) ids.push(id)
  let made = 0
  const someId = () => ids[Math.floor(Math.random() * ids.length)]
  const cases = {
    'look-up': (on) => on.get(someId()),
    'list page': (on) => on.list({ limit: 20 }),
    search: (on) => on.list({ q: 'name 4', limit: 20 }),
    create: (on) => on.create({ name: 'New', email: `new-${++made}@example.org` }),
    change: (on) => on.update(someId(), { name: `Name ${++made}` })
  }
  return { isFenced, app, host, own, cases }
}

/** Calls per second. */
async function measure ({ isFenced, host, own, cases }, name, inTransaction) {
  const work = cases[name]
  const once = () => !inTransaction
    ? work(own)
    : host.transaction(async (trx) => {
      if (isFenced) await trx.raw("SELECT set_config('app.tenant', 't7', true)")
      return work(own.using(trx))
    })
  let left = calls
  const start = performance.now()
  await Promise.all(Array.from({ length: CONCURRENT }, async () => { while (left-- > 0) await once() }))
  return calls / (performance.now() - start) * 1000
}

await run("CREATE ROLE service LOGIN CREATEROLE PASSWORD 'x'")
const [plain, fenced] = [await open('plain', false), await open('fenced', true)]
const size = `${TENANTS} tenants of ${USERS_OF_EACH} users, ${CONCURRENT} connections`
console.log(`${size}, ${rounds} × ${calls} calls, ${RUNTIME}`)
console.log('\n| | without, per s | with, per s | ratio | lowest to highest |\n|---|--:|--:|--:|--:|')
for (const inTransaction of [false, true]) {
  for (const name of given.cases.split(',')) {
    const found = []
    // Round -1 is a warm-up. Whoever is first changes with the rounds.
    for (let round = -1; round < rounds; round++) {
      const result = new Map()
      for (const each of round % 2 === 0 ? [plain, fenced] : [fenced, plain]) {
        result.set(each, await measure(each, name, inTransaction))
      }
      if (round >= 0) found.push([result.get(plain), result.get(fenced)])
    }
    const ratios = found.map(([without, withIt]) => withIt / without)
    const cells = [
      inTransaction ? `${name}, in a transaction` : name,
      ...[0, 1].map((i) => median(found.map((each) => each[i])).toFixed(0)),
      median(ratios).toFixed(2), `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
}
for (const { app, host } of [plain, fenced]) {
  await app.close()
  await host.destroy()
}
await stop()
