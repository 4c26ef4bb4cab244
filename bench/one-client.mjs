// One client at a time, against routes written by hand, from the first request on:
// node bench/one-client.mjs --storage postgres,sqlite --size 10000 --rounds 5
//
// Most servers never see so many requests that all of their JavaScript is compiled. So each round starts both servers
// anew, and asks the same of them in turn: first 1,000 requests, then a second each, twelve times. Told are the CPU
// time of those 1,000, and the requests a second at the fourth and at the last second.
import { parseArgs } from 'node:util'
import { casesFor } from './lib/cases.mjs'
import { startServer } from './lib/fleet.mjs'
import { load } from './lib/load.mjs'
import { RUNTIME } from './lib/machine.mjs'
import { median } from './lib/median.mjs'
import { atEach, openPlace } from './lib/places.mjs'

const CASES = ['get', 'create', 'patch']
const FIRST_REQUESTS = 1000
const SECONDS = 12

const { values: given } = parseArgs({
  options: {
    storage: { type: 'string', default: 'postgres,sqlite' },
    cases: { type: 'string', default: CASES.join(',') },
    size: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    // Of SQLite, for both.
    driver: { type: 'string', default: 'sqlite3' }
  }
})
const size = Number(given.size)
let mark = 0

/** One round: by name of the server, its CPU µs a request at the beginning, and what it answered in each second. */
async function round (storage, place, name, isReversed) {
  const servers = []
  try {
    for (const [server, program] of [['by hand', 'l1.mjs'], ['ours', 'ours.mjs']]) {
      const env = { DRIVER: given.driver }
      servers.push(await startServer(server, program, { place: place.url, size, env }))
    }
    const found = new Map(servers.map((server) => [server.name, { cpu: NaN, perSecond: [], node: [] }]))
    for (let second = 0; second <= SECONDS; second++) {
      for (const server of isReversed ? servers.toReversed() : servers) {
        const next = casesFor(size, server.dialect)[name](`o${++mark}`)
        const asked = second === 0 ? { amount: FIRST_REQUESTS } : { seconds: 1 }
        const { perSecond, node, errors } = await load(server, next, { ...asked, connections: 1, settlePid: place.pid })
        if (errors > 0) throw new Error(`${storage}, ${name}, ${server.name}: ${errors} failed`)
        if (second === 0) found.get(server.name).cpu = node
        else {
          found.get(server.name).perSecond.push(perSecond)
          found.get(server.name).node.push(node)
        }
      }
    }
    return found
  } finally {
    for (const server of servers) await server.stop()
  }
}

async function measure (storage, place) {
  for (const name of given.cases.split(',')) {
    const rounds = []
    for (let i = 0; i < Number(given.rounds); i++) rounds.push(await round(storage, place, name, i % 2 === 1))
    const of = (server, take) => rounds.map((found) => take(found.get(server)))
    const ratio = (take) => {
      const byHand = of('by hand', take)
      return median(of('ours', take).map((value, i) => value / byHand[i])).toFixed(2)
    }
    const pair = (take) => `${Math.round(median(of('ours', take)))} / ${Math.round(median(of('by hand', take)))}`
    const first = ({ cpu }) => cpu
    const after = (second) => ({ perSecond }) => perSecond[second]
    const last = ({ node }) => node.at(-1)
    const cells = [
      storage, name, pair(first), ratio(first),
      ...[3, SECONDS - 1].flatMap((second) => [pair(after(second)), ratio(after(second))]), pair(last)
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
}

console.log(`${RUNTIME}; ${size} users, ${given.rounds} rounds, SQLite by ${given.driver}; ours / by hand\n`)
console.log(`| Storage | Case | CPU µs, first ${FIRST_REQUESTS} | Ratio | Per second after 3 s | Ratio | ` +
  `after ${SECONDS} s | Ratio | CPU µs then |\n|---|---|--:|--:|--:|--:|--:|--:|--:|`)
await atEach(given.storage.split(','), async (storage, { directory, stops }) => {
  const place = await openPlace(storage, { directory, name: 'users', size })
  if (place.stop !== undefined) stops.push(place.stop)
  await measure(storage, place)
})
process.exit(0)
