// What the event log costs clients: creations and changes over HTTP, with `eventLog` and without.
// node bench/events-http.mjs --storage memory,sqlite,postgres --rounds 9 --seconds 1 --connections 32
//
// Two equal servers, each on a database of its own, get the same load in turn. The ratio is with to without, the median
// of the rounds; the spread is the distance between its quartiles.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { postgres } from '../dist/adapters/postgres.js'
import { sqlite } from '../dist/adapters/sqlite.js'
import { startPostgres } from '../test/servers/postgres.mjs'
import { casesFor } from './lib/cases.mjs'
import { startServer } from './lib/fleet.mjs'
import { load } from './lib/load.mjs'
import { RUNTIME } from './lib/machine.mjs'
import { median } from './lib/median.mjs'
import { seedPostgres, seedSqlite } from './lib/seed.mjs'

const TABLE = 'fastify_users_users'

const { values: given } = parseArgs({
  options: {
    storage: { type: 'string', default: 'memory,sqlite,postgres' },
    size: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '32' }
  }
})
const [size, rounds, seconds, connections] = [given.size, given.rounds, given.seconds, given.connections].map(Number)
const directory = await mkdtemp(join(tmpdir(), 'bench-events-http-'))
let mark = 0

/** A filled database of its own for a server. `stops` gets what ends it. */
async function placeOf (storage, name, stops) {
  if (storage === 'memory') return { place: '' }
  if (storage === 'sqlite') {
    const place = join(directory, `${name}.db`)
    const store = sqlite({ filename: place })
    await store.open({ migrate: true })
    await store.close()
    await seedSqlite(place, TABLE, size, { create: false })
    return { place }
  }
  const { url, pid, stop } = await startPostgres({ durable: true })
  stops.push(stop)
  const store = postgres({ connection: url })
  await store.open({ migrate: true })
  await store.close()
  await seedPostgres(url, TABLE, size, { create: false })
  return { place: url, databasePid: pid }
}

const quartile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]

async function compare (storage) {
  const stops = []
  try {
    const servers = []
    for (const name of ['with', 'without']) {
      const { place, databasePid } = await placeOf(storage, name, stops)
      const env = name === 'with' ? { EVENT_LOG: 'true' } : {}
      const server = await startServer(name, 'ours.mjs', { place, size, env })
      stops.push(server.stop)
      servers.push({ server, databasePid })
    }
    for (const [name, title] of [['create', 'creations'], ['patch', 'changes']]) {
      const ratios = []
      for (let round = 0; round < rounds; round++) {
        const rates = {}
        for (const { server, databasePid } of round % 2 === 0 ? servers : servers.toReversed()) {
          const next = casesFor(size, server.dialect)[name](`e${++mark}`)
          const { perSecond, errors } = await load(server, next, { seconds, connections, databasePid })
          if (errors > 0) throw new Error(`${storage}: ${errors} requests failed`)
          rates[server.name] = perSecond
        }
        // The first round warms up.
        if (round > 0) ratios.push({ ratio: rates.with / rates.without, ...rates })
      }
      const sorted = ratios.map(({ ratio }) => ratio).sort((a, b) => a - b)
      const of = (key) => Math.round(median(ratios.map((each) => each[key])))
      console.log(`| ${storage} | ${title} | ${of('without')} | ${of('with')} | ${median(sorted).toFixed(2)} | ` +
        `${(quartile(sorted, 0.75) - quartile(sorted, 0.25)).toFixed(2)} |`)
    }
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}

console.log(`${RUNTIME}; ${connections} connections, ${rounds - 1} rounds of ${seconds} s\n`)
console.log('| Storage | Requests | Without, per second | With | Ratio | Spread |\n|---|---|---|---|---|---|')
try {
  for (const storage of given.storage.split(',')) await compare(storage)
} finally {
  await rm(directory, { recursive: true, force: true })
}
