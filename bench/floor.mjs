// How near our server can come to L0, a bare route with a constant answer, on a storage:
// node bench/floor.mjs --storage sqlite,postgres --rounds 9 --seconds 1 [--load wrk]
//
// The floor does of the storage only what no server can leave out (servers/floor.mjs). What is between it and L0 is the
// driver, the database and the text of the rows; what is between it and ours is what we do beside. With events it
// writes one row more for each change, in a table without any index. All are loaded in turn. The ratios are medians of
// those of the rounds, with the distance between their quartiles.
import { parseArgs } from 'node:util'
import { casesFor } from './lib/cases.mjs'
import { startServer } from './lib/fleet.mjs'
import { load } from './lib/load.mjs'
import { RUNTIME } from './lib/machine.mjs'
import { median } from './lib/median.mjs'
import { atEach, openPlace } from './lib/places.mjs'

const CASES = ['random', 'get', 'patch', 'create']
const EVENTS = { EVENTS: 'true', EVENT_LOG: 'true' }

const { values: given } = parseArgs({
  options: {
    storage: { type: 'string', default: 'sqlite,postgres' },
    cases: { type: 'string', default: CASES.join(',') },
    size: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '32' },
    load: { type: 'string', default: 'autocannon' }
  }
})
const [size, rounds, seconds, connections] = [given.size, given.rounds, given.seconds, given.connections].map(Number)

/** Two filled databases, one for each that writes. `stops` gets what ends a server of them. */
async function placesOf (storage, { directory, stops }) {
  const places = []
  for (const name of ['plain', 'events']) {
    const place = await openPlace(storage, { directory, name, size })
    if (place.stop !== undefined) stops.push(place.stop)
    places.push(place)
  }
  return places
}

function spreadOf (values) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.75)] - sorted[Math.floor(sorted.length * 0.25)]
}

async function measure (storage, at) {
  const { stops } = at
  const [plain, events] = await placesOf(storage, at)
  const servers = []
  for (const [name, program, place, env] of [
    ['L0', 'l0.mjs', { url: '' }, {}],
    ['floor', 'floor.mjs', plain, {}],
    ['ours', 'ours.mjs', plain, {}],
    ['floor with events', 'floor.mjs', events, EVENTS],
    ['ours with events', 'ours.mjs', events, EVENTS]
  ]) {
    const server = await startServer(name, program, { place: place.url, size, env })
    stops.push(server.stop)
    servers.push({ server, databasePid: place.pid })
  }
  let mark = 0
  for (const name of given.cases.split(',')) {
    const isWrite = name === 'patch' || name === 'create'
    const loaded = servers.filter(({ server }) => isWrite || !server.name.endsWith('events'))
    const found = new Map(loaded.map(({ server }) => [server.name, []]))
    // The first round warms up.
    for (let round = -1; round < rounds; round++) {
      for (const { server, databasePid } of round % 2 === 0 ? loaded : loaded.toReversed()) {
        const next = casesFor(size, server.dialect)[name](`f${++mark}`)
        const result = await load(server, next, { loader: given.load, seconds, connections, databasePid })
        if (result.errors > 0) throw new Error(`${storage}, ${name}, ${server.name}: ${result.errors} failed`)
        if (round >= 0) found.get(server.name).push(result)
      }
    }
    for (const [server, results] of found) {
      const base = server.replace(/^\w+/, '').trim() === '' ? 'L0' : server.split(' ')[0]
      const ratios = results.map(({ perSecond }, i) => perSecond / found.get(base)[i].perSecond)
      const cpu = (member) => Math.round(median(results.map((result) => result[member])))
      const cells = [storage, name, server, Math.round(median(results.map(({ perSecond }) => perSecond))),
        `${median(ratios).toFixed(2)} × ${base}`, spreadOf(ratios).toFixed(2), cpu('node'), cpu('database')]
      console.log(`| ${cells.join(' | ')} |`)
    }
  }
}

console.log(`${RUNTIME}; ${size} users, ${connections} connections, ${rounds} rounds of ${seconds} s, ${given.load}\n`)
console.log('| Storage | Case | Server | Per second | Ratio | Spread | Node.js CPU µs | Database CPU µs |')
console.log('|---|---|---|--:|--:|--:|--:|--:|')
await atEach(given.storage.split(','), measure)
process.exit(0)
