// How much more two processes on one PostgreSQL answer than one: node bench/processes.mjs --rounds 5 --seconds 2
//
// One process is loaded with all connections, and then two with half of them each. Client, servers and database share
// the machine, so on two cores there is little to gain. At the end the total must be that of the rows, and the log
// must give each creation once, in the order of its positions.
import { parseArgs } from 'node:util'
import { casesFor } from './lib/cases.mjs'
import { cpuOf } from './lib/cpu.mjs'
import { startServer } from './lib/fleet.mjs'
import { load } from './lib/load.mjs'
import { RUNTIME } from './lib/machine.mjs'
import { median } from './lib/median.mjs'
import { openPlace } from './lib/places.mjs'
import { plainSql } from './lib/seed.mjs'

const { values: given } = parseArgs({
  options: {
    cases: { type: 'string', default: 'get,random,patch,create' },
    size: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '32' },
    load: { type: 'string', default: 'autocannon' }
  }
})
const [size, rounds, seconds, connections] = [given.size, given.rounds, given.seconds, given.connections].map(Number)
const place = await openPlace('postgres', { name: 'users', size })
const env = { EVENT_LOG: 'true' }
const servers = []
for (const name of ['one', 'two']) servers.push(await startServer(name, 'ours.mjs', { place: place.url, size, env }))
let mark = 0

/** Of all these servers together: requests a second, and CPU µs a request of Node.js and of the database. */
async function loadAll (loaded, name) {
  const before = cpuOf(place.pid, { children: true })
  const results = await Promise.all(loaded.map((server) =>
    load(server, casesFor(size, server.dialect)[name](`p${++mark}`), {
      loader: given.load, seconds, connections: connections / loaded.length, settlePid: place.pid
    })))
  if (results.some(({ errors }) => errors > 0)) throw new Error(`${name}: requests failed`)
  const rate = results.reduce((sum, { perSecond }) => sum + perSecond, 0)
  const node = results.reduce((sum, { perSecond, node: each }) => sum + perSecond / rate * each, 0)
  return { rate, node, database: (cpuOf(place.pid, { children: true }) - before) / (rate * seconds) }
}

async function get (path) {
  const [{ address, key }] = servers
  const response = await fetch(address + path, { headers: { authorization: `Bearer ${key}` } })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

async function verify () {
  const { meta } = await get('/v1/users?limit=1')
  const { rows: [{ n }] } = await plainSql(place.url, 'SELECT count(*) AS n FROM fastify_users_users')
  if (meta.total !== Number(n)) throw new Error(`the total is ${meta.total} of ${n} users`)
  const created = []
  let after = ''
  while (true) {
    const page = await get(`/v1/events?limit=100${after}`)
    created.push(...page.data.filter(({ type }) => type === 'user.created').map(({ data }) => data.id))
    if (!page.meta.more) break
    after = `&after=${page.data.at(-1).id}`
  }
  const once = new Set(created).size
  if (created.length !== Number(n) - size || once !== created.length) {
    throw new Error(`the log has ${created.length} creations, ${once} different, for ${n - size}`)
  }
  console.log(`\ntotal ${n} and ${created.length} creations in the log, each once`)
}

console.log(`${RUNTIME}; ${size} users, ${connections} connections, ${rounds} rounds of ${seconds} s\n`)
console.log('| Case | One process, per second | Two | Ratio | Node.js CPU µs, one / two | Database CPU µs |')
console.log('|---|--:|--:|--:|--:|--:|')
try {
  for (const name of given.cases.split(',')) {
    const pairs = []
    for (let round = -1; round < rounds; round++) {
      const one = await loadAll(servers.slice(0, 1), name)
      const two = await loadAll(servers, name)
      if (round >= 0) pairs.push({ one, two })
    }
    const of = (which, member) => Math.round(median(pairs.map((pair) => pair[which][member])))
    const ratio = (member) => median(pairs.map(({ one, two }) => two[member] / one[member])).toFixed(2)
    const cpu = (member) => `${of('one', member)} / ${of('two', member)} = ${ratio(member)}`
    const rates = [of('one', 'rate'), of('two', 'rate'), ratio('rate')]
    console.log(`| ${[name, ...rates, cpu('node'), cpu('database')].join(' | ')} |`)
  }
  await verify()
} finally {
  for (const server of servers) await server.stop()
  await place.stop()
}
process.exit(0)
