// Compares the ways to one database: the drivers of SQLite, a pooler, and a Knex instance of the host's. Prints a table
// for each case: throughput, its ratio to that of the first way, latencies, and delays of the event loop:
// node bench/ways.mjs --ways node:sqlite,sqlite3 --cases get,create --rounds 5 --seconds 2
// node bench/ways.mjs --ways postgres,postgres-portable,postgres-pooler,knex-pg,knex-pg-pooler
// With `--before DIRECTORY` the server of each way is compared with that of another checkout, which is built:
// node bench/ways.mjs --ways sqlite3,postgres --before ../before
// NODE_PATH may name folders of drivers that are not installed beside the package. A pooler needs PgBouncer.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { postgres } from '../dist/adapters/postgres.js'
import { sqlite } from '../dist/adapters/sqlite.js'
import { startPgBouncer } from '../test/servers/pgbouncer.mjs'
import { startPostgres } from '../test/servers/postgres.mjs'
import { casesFor } from './lib/cases.mjs'
import { requireSameAnswers, startServer } from './lib/fleet.mjs'
import { load } from './lib/load.mjs'
import { RUNTIME } from './lib/machine.mjs'
import { median, uncertainty } from './lib/median.mjs'
import { seedPostgres, seedSqlite } from './lib/seed.mjs'

/** The ways, each with the settings of its server. `knex`: `knexStorage()` on a Knex instance with this client. */
const WAYS = {
  'better-sqlite3': { DRIVER: 'better-sqlite3' },
  'node:sqlite': { DRIVER: 'node:sqlite' },
  sqlite3: { DRIVER: 'sqlite3' },
  'knex-better-sqlite3': { KNEX: 'better-sqlite3' },
  'knex-sqlite3': { KNEX: 'sqlite3' },
  postgres: {},
  'postgres-portable': {},
  'postgres-pooler': { POOLER: 'true' },
  'knex-pg': { KNEX: 'pg' },
  'knex-pg-pooler': { KNEX: 'pg', POOLER: 'true' }
}
const usesPostgres = (way) => way.startsWith('postgres') || way.startsWith('knex-pg')

const { values: given } = parseArgs({
  options: {
    ways: { type: 'string', default: 'sqlite3,node:sqlite,better-sqlite3' },
    cases: { type: 'string', default: 'get,first,random,patch,create' },
    size: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '32' },
    load: { type: 'string', default: 'autocannon' },
    before: { type: 'string' }
  }
})
const [size, rounds, seconds, connections] =
  [given.size, given.rounds, given.seconds, given.connections].map(Number)
const directory = await mkdtemp(join(tmpdir(), 'fastify-users-ways-'))
const servers = []
/** The functions that stop what was started. */
const stops = [() => rm(directory, { recursive: true, force: true })]

/** The delays of a server's event loop since the last call. */
async function delayOf ({ child }) {
  child.send('delay')
  const [delay] = await once(child, 'message')
  return delay
}

/** A new database with `size` users: where a server finds it by this way, and the process of the database. */
async function openDatabase (way) {
  if (!usesPostgres(way)) {
    const place = join(directory, `${way.replace(':', '-')}-${servers.length}.db`)
    const storage = sqlite({ filename: place, driver: WAYS[way].DRIVER ?? WAYS[way].KNEX })
    await storage.open({ migrate: true })
    await storage.close()
    await seedSqlite(place, 'fastify_users_users', size, { create: false })
    return { place }
  }
  const { url, pid, stop } = await startPostgres({ durable: true })
  stops.push(stop)
  const storage = postgres({ connection: url })
  await storage.open({ migrate: true })
  await storage.close()
  await seedPostgres(url, 'fastify_users_users', size, { create: false })
  if (way === 'postgres-portable') {
    const moved = postgres({ connection: url, profile: 'portable' })
    await moved.open({ migrate: true })
    await moved.close()
  }
  if (WAYS[way].POOLER === undefined) return { place: url, databasePid: pid }
  const pooler = await startPgBouncer(url)
  if (pooler === undefined) throw new Error(`${way} needs PgBouncer, which this machine does not have`)
  stops.push(pooler.stop)
  return { place: pooler.url, databasePid: pid }
}

async function start (way, name = way, checkout = join(import.meta.dirname, '..')) {
  const { place, databasePid } = await openDatabase(way)
  const program = resolve(checkout, 'bench', 'servers', 'ours-delayed.mjs')
  const server = await startServer(name, program, { place, size, env: WAYS[way] })
  stops.push(server.stop)
  servers.push({ ...server, databasePid })
  await requireSameAnswers(server, size)
}

/** Loads the servers in turn. Returns the rounds of each. */
async function measure (name) {
  const results = new Map(servers.map((server) => [server.name, []]))
  // Round -1 is a warm-up.
  for (let round = -1; round < rounds; round++) {
    for (const server of servers) {
      await delayOf(server)
      const next = casesFor(size, server.dialect)[name](`${server.name.replace(/\W/g, '')}-${round}`)
      const result = await load(server, next, {
        loader: given.load, seconds, connections, databasePid: server.databasePid
      })
      errors += result.errors
      const { p99: loopP99, max: loopMax } = await delayOf(server)
      if (round >= 0) results.get(server.name).push({ ...result, loopP99, loopMax })
    }
  }
  return results
}

function print (name, results) {
  const delays = ['p50 ms', 'p99 ms', 'event loop p99 ms', 'longest ms']
  const other = given.before === undefined ? servers[0].name : 'before'
  const columns = ['req/s', `× ${other}`, '±', ...delays, 'node CPU µs', 'db CPU µs']
  console.log(`\n| ${[name, ...columns].join(' | ')} |\n|---|${'--:|'.repeat(columns.length)}`)
  for (const [way, rounds] of results) {
    const first = results.get(given.before === undefined ? servers[0].name : `${way.replace(/ before$/, '')} before`)
    const of = (member, digits) => median(rounds.map((round) => round[member])).toFixed(digits)
    const ratios = rounds.map(({ perSecond }, i) => perSecond / first[i].perSecond)
    const longest = Math.max(...rounds.map(({ loopMax }) => loopMax)).toFixed(1)
    const cells = [
      of('perSecond', 0), median(ratios).toFixed(2), `${(uncertainty(ratios) * 100).toFixed(1)} %`, of('p50', 1),
      of('p99', 1), of('loopP99', 1), longest, of('node', 0), of('database', 0)
    ]
    console.log(`| ${[way, ...cells].join(' | ')} |`)
  }
}

let errors = 0
console.log(`${size} users, ${connections} connections, ${rounds} × ${seconds} s in turn, by ${given.load}, ${RUNTIME}`)
try {
  for (const way of given.ways.split(',')) {
    if (given.before !== undefined) await start(way, `${way} before`, given.before)
    await start(way)
  }
  for (const name of given.cases.split(',')) print(name, await measure(name))
} finally {
  for (const stop of stops.reverse()) await stop()
}
console.log(`\nerrors: ${errors}`)
process.exit(errors === 0 ? 0 : 1)
