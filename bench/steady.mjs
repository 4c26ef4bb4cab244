// Whether the heap grows under load, and how long a service takes to start:
// node bench/steady.mjs --storage postgres,sqlite,memory --minutes 10
// The heap is measured each minute, after garbage collection. The first minutes fill the caches. Start-up is that of a
// service on an existing database, next to that of Fastify with Knex, the driver and a first statement. `--minutes 0`
// measures only start-up.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import { startPostgres } from '../test/servers/postgres.mjs'
import { casesFor } from './lib/cases.mjs'
import { dialects } from './lib/dialects.mjs'
import { startServer } from './lib/fleet.mjs'
import { RUNTIME } from './lib/machine.mjs'
import { median } from './lib/median.mjs'
import { seedPostgres, seedSqlite } from './lib/seed.mjs'

const SIZE = 1000
const STARTS = 9
const TABLE = 'fastify_users_users'
// Enough to fill every cache.
const REQUESTS_PER_SECOND = 200

const { values: given } = parseArgs({
  options: {
    storage: { type: 'string', default: 'postgres,sqlite,memory' },
    minutes: { type: 'string', default: '10' },
    connections: { type: 'string', default: '8' }
  }
})

/** The median of what each script prints, in milliseconds. The scripts run in turn, in new processes. */
function medianTimes (scripts, env = {}) {
  const options = { cwd: join(import.meta.dirname, '..'), env: { ...process.env, ...env } }
  const run = (script) => Number(execFileSync(process.execPath, ['--input-type=module', '-e', script], options))
  const times = scripts.map(() => [])
  for (let round = 0; round < STARTS; round++) {
    for (const [i, script] of scripts.entries()) times[i].push(run(script))
  }
  return times.map((each) => median(each).toFixed(0))
}

/** The time of a process that does nothing. It shows how busy the machine is. */
function emptyProcessTime () {
  return median(Array.from({ length: STARTS }, () => {
    const at = performance.now()
    execFileSync(process.execPath, ['-e', '0'])
    return performance.now() - at
  })).toFixed(0)
}

/** The script of a start-up. It runs `before` untimed, and prints how long `timed` and `listen` take. */
const startUp = (before, timed) => `${before}
  const at = performance.now()
  ${timed}
  await app.listen({ port: 0 })
  console.log(performance.now() - at)
  process.exit()`

function reportStartUp (kind, place) {
  const isPostgres = kind === 'postgres'
  const bare = "const { default: Fastify } = await import('fastify'); const app = Fastify()"
  const connection = isPostgres ? 'process.env.PLACE' : '{ filename: process.env.PLACE }'
  // The driver that sqlite() takes by default.
  const byHand = `${bare}; const { default: knex } = await import('knex')
    const client = '${isPostgres ? 'pg' : 'better-sqlite3'}'
    const database = knex({ client, connection: ${connection}, useNullAsDefault: true })
    await database.raw('SELECT 1')`
  const options = `{ ${isPostgres ? 'connection' : 'filename'}: process.env.PLACE }`
  const ours = `const [{ default: Fastify }, { default: users }, { ${kind} }] = await Promise.all([
      import('fastify'), import('./dist/lib/index.js'), import('./dist/adapters/${kind}.js')])
    const app = Fastify()
    await app.register(users, { prefix: '/v1', storage: ${kind}(${options}), migrate: true })`
  const [all, loaded, alone, connected] = medianTimes([
    startUp('', ours),
    startUp("await import('fastify')", ours),
    startUp('', bare),
    startUp('', byHand)
  ], { PLACE: place })
  console.log(`${kind}: start-up on an existing database, with all imports: ${all} ms; ` +
    `with Fastify imported before: ${loaded} ms; Fastify alone: ${alone} ms; ` +
    `Fastify with Knex and its first statement: ${connected} ms`)
}

/** The memory usage of a server after garbage collection. */
async function memoryOf ({ child }) {
  child.send('heap')
  const [usage] = await once(child, 'message')
  return usage
}

/** Loads a server for a minute with all cases in turn. */
function loadForMinute ({ address, key }, nexts) {
  let n = 0
  return autocannon({
    url: address,
    connections: Number(given.connections),
    duration: 60,
    overallRate: REQUESTS_PER_SECOND,
    headers: { authorization: `Bearer ${key}` },
    requests: [{
      setupRequest (request) {
        const { headers, ...rest } = nexts[n++ % nexts.length]()
        return { ...request, ...rest, headers: { ...request.headers, ...headers } }
      }
    }]
  })
}

const mb = (bytes) => (bytes / 1024 / 1024).toFixed(2)

/** Loads a server for some minutes and prints its heap. Returns the heap at the end, divided by that at the start. */
async function measureHeap (kind, server) {
  // On the storage in memory, every new user is memory that stays in use.
  const { create, ...others } = casesFor(SIZE, dialects.own)
  const cases = Object.values(kind === 'memory' ? others : { create, ...others })
  const used = []
  let [requests, errors] = [0, 0]
  for (let minute = 0; minute < Number(given.minutes); minute++) {
    const result = await loadForMinute(server, cases.map((each) => each(`${kind}-${minute}`)))
    requests += result['2xx']
    errors += result.errors + result.timeouts + result.non2xx
    used.push((await memoryOf(server)).heapUsed)
  }
  if (used.length === 0) return 0
  const growth = median(used.slice(-3)) / median(used.slice(1, 4))
  console.log(`${kind}: ${requests} requests, ${errors} errors; heap in MB, each minute: ${used.map(mb).join(' ')}; ` +
    `the last 3 minutes against minutes 2 to 4: ${((growth - 1) * 100).toFixed(1)} %`)
  return growth
}

async function measure (kind, directory) {
  const database = kind === 'postgres' ? await startPostgres({ durable: true }) : undefined
  const place = kind === 'memory' ? '' : database?.url ?? join(directory, 'users.db')
  const options = { place, size: SIZE, execArgv: ['--expose-gc'], env: { DRIVER: 'sqlite3' } }
  const server = await startServer('ours', 'ours-watched.mjs', options)
  if (kind === 'postgres') await seedPostgres(place, TABLE, SIZE, { create: false })
  if (kind === 'sqlite') await seedSqlite(place, TABLE, SIZE, { create: false })
  const growth = await measureHeap(kind, server)
  await server.stop()
  if (kind !== 'memory') reportStartUp(kind, place)
  await database?.stop()
  return growth
}

console.log(`${RUNTIME}\n`)
const directory = await mkdtemp(join(tmpdir(), 'fastify-users-steady-'))
let worst = 0
try {
  const [imported] = medianTimes([`await import('fastify')
    const at = performance.now()
    await import('./dist/lib/index.js')
    console.log(performance.now() - at)`])
  console.log(`import of the package, with Fastify imported before: ${imported} ms; ` +
    `a process that does nothing: ${emptyProcessTime()} ms\n`)
  for (const kind of given.storage.split(',')) worst = Math.max(worst, await measure(kind, directory))
} finally {
  await rm(directory, { recursive: true, force: true })
}
process.exit(worst > 1.05 ? 1 : 0)
