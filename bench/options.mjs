// What tenants, searchable fields and the event log cost over HTTP, alone and together:
// node bench/options.mjs --storage sqlite,postgres --rounds 7 --seconds 1 [--load wrk]
//
// Each server has a database of its own with the same users; with tenants, all are of one, whose key asks. All are
// loaded in turn. The ratios are medians of those of the rounds, against a server without any of these options.
import { parseArgs } from 'node:util'
import { casesFor } from './lib/cases.mjs'
import { startServer } from './lib/fleet.mjs'
import { load } from './lib/load.mjs'
import { RUNTIME } from './lib/machine.mjs'
import { median } from './lib/median.mjs'
import { atEach, openPlace } from './lib/places.mjs'

const TENANT = { TENANT: 'acme' }
const SEARCHABLE = { SEARCHABLE: 'company' }
const EVENT_LOG = { EVENT_LOG: 'true' }
const SERVERS = [
  ['plain', {}],
  ['tenants', TENANT],
  ['searchable', SEARCHABLE],
  ['event log', EVENT_LOG],
  ['all', { ...TENANT, ...SEARCHABLE, ...EVENT_LOG }]
]

const { values: given } = parseArgs({
  options: {
    storage: { type: 'string', default: 'sqlite,postgres' },
    cases: { type: 'string', default: 'random,get,email,q,patch,create' },
    size: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '32' },
    load: { type: 'string', default: 'autocannon' }
  }
})
const [size, rounds, seconds, connections] = [given.size, given.rounds, given.seconds, given.connections].map(Number)

/** Every user has the field that is searched. */
function casesOf (server, env) {
  const cases = casesFor(size, server.dialect)
  if (env.SEARCHABLE === undefined) return cases
  const create = (mark) => {
    const next = cases.create(mark)
    return () => {
      const request = next()
      return { ...request, body: JSON.stringify({ ...JSON.parse(request.body), company: `Company ${mark}` }) }
    }
  }
  return { ...cases, create }
}

async function start (storage, { directory, stops }) {
  const servers = []
  for (const [name, env] of SERVERS) {
    const place = await openPlace(storage, { directory, name: `${storage} ${name}`, size, tenant: env.TENANT })
    if (place.stop !== undefined) stops.push(place.stop)
    const server = await startServer(name, 'ours.mjs', { place: place.url, size, env })
    stops.push(server.stop)
    servers.push({ server, cases: casesOf(server, env), databasePid: place.pid, found: [] })
  }
  return servers
}

async function measure (storage, at) {
  const servers = await start(storage, at)
  let mark = 0
  for (const name of given.cases.split(',')) {
    for (const each of servers) each.found = []
    // The first round warms up.
    for (let round = -1; round < rounds; round++) {
      for (const { server, cases, databasePid, found } of round % 2 === 0 ? servers : servers.toReversed()) {
        const next = cases[name](`x${++mark}`)
        const result = await load(server, next, { loader: given.load, seconds, connections, databasePid })
        if (result.errors > 0) throw new Error(`${storage}, ${name}, ${server.name}: ${result.errors} failed`)
        if (round >= 0) found.push(result)
      }
    }
    const [plain] = servers
    const ratios = servers.map(({ found }) =>
      median(found.map(({ perSecond }, i) => perSecond / plain.found[i].perSecond)).toFixed(2))
    const cells = [storage, name, Math.round(median(plain.found.map(({ perSecond }) => perSecond))), ...ratios.slice(1)]
    console.log(`| ${cells.join(' | ')} |`)
  }
}

console.log(`${RUNTIME}; ${size} users, ${connections} connections, ${rounds} rounds of ${seconds} s, ${given.load}\n`)
const names = SERVERS.slice(1).map(([name]) => `× with ${name}`)
console.log(`| Storage | Case | Plain, per second | ${names.join(' | ')} |`)
console.log(`|---|---|--:|${'--:|'.repeat(names.length)}`)
await atEach(given.storage.split(','), measure)
process.exit(0)
