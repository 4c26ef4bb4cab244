// Compares the drivers of SQLite under load. Prints a table for each case: throughput, its ratio to that of the first
// driver, latencies, and delays of the event loop:
// node bench/drivers.mjs --drivers node:sqlite,sqlite3 --cases get,create --rounds 5 --seconds 2
// NODE_PATH may name folders of drivers that are not installed beside the package.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sqlite } from '../dist/adapters/sqlite.js'
import { casesFor } from './lib/cases.mjs'
import { requireSameAnswers, startServer } from './lib/fleet.mjs'
import { load } from './lib/load.mjs'
import { RUNTIME } from './lib/machine.mjs'
import { median } from './lib/median.mjs'
import { seedSqlite } from './lib/seed.mjs'

const { values: given } = parseArgs({
  options: {
    drivers: { type: 'string', default: 'sqlite3,node:sqlite,better-sqlite3' },
    cases: { type: 'string', default: 'get,first,random,patch,create' },
    size: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '32' }
  }
})
const [size, rounds, seconds, connections] =
  [given.size, given.rounds, given.seconds, given.connections].map(Number)
const directory = await mkdtemp(join(tmpdir(), 'fastify-users-drivers-'))
const servers = []

/** The delays of a server's event loop since the last call. */
async function delayOf ({ child }) {
  child.send('delay')
  const [delay] = await once(child, 'message')
  return delay
}

async function start (driver) {
  const place = join(directory, `${driver.replace(':', '-')}.db`)
  const storage = sqlite({ filename: place, driver })
  await storage.migrate()
  await storage.close()
  await seedSqlite(place, 'fastify_users_users', size, { create: false })
  const server = await startServer(driver, 'ours-delayed.mjs', { place, size, env: { DRIVER: driver } })
  servers.push(server)
  await requireSameAnswers(server, size)
}

/** Loads the servers in turn. Returns the rounds of each. */
async function measure (name) {
  const results = new Map(servers.map((server) => [server.name, []]))
  // Round -1 is a warm-up.
  for (let round = -1; round < rounds; round++) {
    for (const server of servers) {
      await delayOf(server)
      const next = casesFor(size, server.dialect)[name](`${server.name.replace(':', '')}-${round}`)
      const result = await load(server, next, { seconds, connections })
      errors += result.errors
      const { p99: loopP99, max: loopMax } = await delayOf(server)
      if (round >= 0) results.get(server.name).push({ ...result, loopP99, loopMax })
    }
  }
  return results
}

function print (name, results) {
  const ratioTitle = `× ${servers[0].name}`
  const columns = ['req/s', ratioTitle, 'p50 ms', 'p99 ms', 'event loop p99 ms', 'longest ms', 'node CPU µs']
  console.log(`\n| ${[name, ...columns].join(' | ')} |\n|---|${'--:|'.repeat(columns.length)}`)
  const first = results.get(servers[0].name)
  for (const [driver, rounds] of results) {
    const of = (member, digits) => median(rounds.map((round) => round[member])).toFixed(digits)
    const ratio = median(rounds.map(({ perSecond }, i) => perSecond / first[i].perSecond)).toFixed(2)
    const longest = Math.max(...rounds.map(({ loopMax }) => loopMax)).toFixed(1)
    const cells = [of('perSecond', 0), ratio, of('p50', 1), of('p99', 1), of('loopP99', 1), longest, of('node', 0)]
    console.log(`| ${[driver, ...cells].join(' | ')} |`)
  }
}

let errors = 0
console.log(`${size} users, ${connections} connections, ${rounds} × ${seconds} s in turn, ${RUNTIME}`)
try {
  for (const driver of given.drivers.split(',')) await start(driver)
  for (const name of given.cases.split(',')) print(name, await measure(name))
} finally {
  for (const { stop } of servers) await stop()
  await rm(directory, { recursive: true, force: true })
}
console.log(`\nerrors: ${errors}`)
process.exit(errors === 0 ? 0 : 1)
