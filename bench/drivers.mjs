// Loads the service on SQLite with each of its drivers in turn, and prints a table for each case: throughput against the first, latencies, and how long the event loop was held.
// NODE_PATH names folders of drivers that are not installed beside the package: node bench/drivers.mjs --drivers node:sqlite,sqlite3 --cases get,create --rounds 5 --seconds 2
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sqlite } from '../dist/adapters/sqlite.js'
import { casesFor } from './lib/cases.mjs'
import { requireSame, startServer } from './lib/fleet.mjs'
import { load } from './lib/load.mjs'
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
const size = Number(given.size)
const directory = await mkdtemp(join(tmpdir(), 'fastify-users-drivers-'))
const servers = []
let errors = 0

async function delayOf ({ child }) {
  child.send('delay')
  const [delay] = await once(child, 'message')
  return delay
}

console.log(`${size} users, ${given.connections} connections, ${given.rounds} × ${given.seconds} s interleaved, node ${process.version}, ${cpus().length} × ${cpus()[0].model}, ${process.platform}`)
try {
  for (const driver of given.drivers.split(',')) {
    const place = join(directory, `${driver.replace(':', '-')}.db`)
    const storage = sqlite({ filename: place, driver })
    await storage.migrate()
    await storage.close()
    await seedSqlite(place, 'fastify_users_users', size, { create: false })
    servers.push(await startServer(driver, 'ours-delayed.mjs', { place, size, env: { DRIVER: driver } }))
    await requireSame(servers.at(-1), size)
  }
  for (const name of given.cases.split(',')) {
    const results = new Map(servers.map((server) => [server.name, []]))
    for (let round = -1; round < Number(given.rounds); round++) {
      for (const server of servers) {
        await delayOf(server)
        const next = casesFor(size, server.dialect)[name](`${server.name.replace(':', '')}-${round}`)
        const result = await load(server, next, { seconds: Number(given.seconds), connections: Number(given.connections) })
        errors += result.errors
        const { p99, max } = await delayOf(server)
        if (round >= 0) results.get(server.name).push({ ...result, loopP99: p99, loopMax: max })
      }
    }
    console.log(`\n| ${name} | req/s | × ${servers[0].name} | p50 ms | p99 ms | event loop p99 ms | longest ms | node CPU µs |\n|---|--:|--:|--:|--:|--:|--:|--:|`)
    const first = results.get(servers[0].name)
    for (const [driver, rounds] of results) {
      const of = (member) => median(rounds.map((round) => round[member]))
      const ratio = median(rounds.map(({ perSecond }, i) => perSecond / first[i].perSecond))
      console.log(`| ${driver} | ${of('perSecond').toFixed(0)} | ${ratio.toFixed(2)} | ${of('p50').toFixed(1)} | ${of('p99').toFixed(1)} | ${of('loopP99').toFixed(1)} | ${Math.max(...rounds.map(({ loopMax }) => loopMax)).toFixed(1)} | ${of('node').toFixed(0)} |`)
    }
  }
} finally {
  for (const { stop } of servers) await stop()
  await rm(directory, { recursive: true, force: true })
}
console.log(`\nerrors: ${errors}`)
process.exit(errors === 0 ? 0 : 1)
