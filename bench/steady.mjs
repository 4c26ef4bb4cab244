// Whether the process grows under load, and how long it takes to start: node bench/steady.mjs --storage postgres,sqlite,memory --minutes 10
// Each minute the heap is collected and measured; the first minutes fill the caches. Start-up is that of a service on a database that is there, beside what of it
// is Fastify, Knex and the driver. `--minutes 0` measures start-up alone.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import { startPostgres } from '../test/servers/postgres.mjs'
import { casesFor } from './lib/cases.mjs'
import { dialects } from './lib/dialects.mjs'
import { startServer } from './lib/fleet.mjs'
import { median } from './lib/median.mjs'
import { seedPostgres, seedSqlite } from './lib/seed.mjs'

const SIZE = 1000
const STARTS = 9

const { values: given } = parseArgs({ options: { storage: { type: 'string', default: 'postgres,sqlite,memory' }, minutes: { type: 'string', default: '10' }, connections: { type: 'string', default: '8' } } })

/** The medians of how long pieces of scripts take, each in a process of its own, in milliseconds, in turn; the scripts print it. */
function timed (scripts, env = {}) {
  const took = scripts.map(() => [])
  for (let round = 0; round < STARTS; round++) {
    for (const [i, script] of scripts.entries()) took[i].push(Number(execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: import.meta.dirname, env: { ...process.env, ...env } })))
  }
  return took.map((times) => median(times).toFixed(0))
}

/** How long a process takes that does nothing: what the machine is worth today. */
function idle () {
  return median(Array.from({ length: STARTS }, () => {
    const at = performance.now()
    execFileSync(process.execPath, ['-e', '0'])
    return performance.now() - at
  })).toFixed(0)
}

async function heapOf (child) {
  child.send('heap')
  const [usage] = await once(child, 'message')
  return usage
}

const mb = (bytes) => (bytes / 1024 / 1024).toFixed(2)

console.log(`node ${process.version}, ${cpus().length} × ${cpus()[0].model}\n`)
const directory = await mkdtemp(join(tmpdir(), 'fastify-users-steady-'))
let worst = 0
try {
  const [imported] = timed(["await import('fastify'); const at = performance.now(); await import('../dist/lib/index.js'); console.log(performance.now() - at)"])
  console.log(`import of the package, fastify loaded before: ${imported} ms; node -e 0: ${idle()} ms\n`)
  for (const kind of given.storage.split(',')) {
    const server = kind === 'postgres' ? await startPostgres({ durable: true }) : undefined
    const place = kind === 'memory' ? '' : server?.url ?? join(directory, 'users.db')
    const { child, address, key, stop } = await startServer('ours', 'ours-watched.mjs', { place, size: SIZE, execArgv: ['--expose-gc'], env: { DRIVER: 'sqlite3' } })
    if (kind === 'postgres') await seedPostgres(place, 'fastify_users_users', SIZE, { create: false })
    if (kind === 'sqlite') await seedSqlite(place, 'fastify_users_users', SIZE, { create: false })
    // Users in memory are memory: there, none are added.
    const { create, ...others } = casesFor(SIZE, dialects.own)
    const cases = Object.values(kind === 'memory' ? others : { create, ...others })
    const heaps = []
    let requests = 0
    let errors = 0
    for (let minute = 0; minute < Number(given.minutes); minute++) {
      const nexts = cases.map((each) => each(`${kind}-${minute}`))
      let n = 0
      const result = await autocannon({
        url: address,
        connections: Number(given.connections),
        duration: 60,
        // Enough to meet every cache.
        overallRate: 200,
        headers: { authorization: `Bearer ${key}` },
        requests: [{
          setupRequest (request) {
            const { headers, ...rest } = nexts[n++ % nexts.length]()
            return { ...request, ...rest, headers: { ...request.headers, ...headers } }
          }
        }]
      })
      requests += result['2xx']
      errors += result.errors + result.timeouts + result.non2xx
      heaps.push(await heapOf(child))
    }
    await stop()
    if (heaps.length > 0) {
      const used = heaps.map(({ heapUsed }) => heapUsed)
      const [early, late] = [median(used.slice(1, 4)), median(used.slice(-3))]
      worst = Math.max(worst, late / early)
      console.log(`${kind}: ${requests} requests, ${errors} errors; heap after collection, MB by the minute: ${used.map(mb).join(' ')}; minutes 2 to 4 against the last 3: ${((late / early - 1) * 100).toFixed(1)} %`)
    }
    if (kind !== 'memory') {
      const timing = (before, made) => `${before} const at = performance.now(); ${made}; await app.listen({ port: 0 }); console.log(performance.now() - at); process.exit()`
      const bare = "const { default: Fastify } = await import('fastify'); const app = Fastify()"
      const drivers = `await Promise.all([import('knex'), import('${kind === 'postgres' ? 'pg' : 'sqlite3'}')])`
      const ours = `const [{ default: Fastify }, { default: users }, { ${kind} }] = await Promise.all([import('fastify'), import('../dist/lib/index.js'), import('../dist/adapters/${kind}.js')])
        const app = Fastify(); await app.register(users, { prefix: '/v1', storage: ${kind}(${kind === 'postgres' ? '{ connection: process.env.PLACE }' : '{ filename: process.env.PLACE }'}), migrate: true })`
      const [all, loaded, alone, withDrivers] = timed([timing('', ours), timing("await import('fastify');", ours), timing('', bare), timing('', `${bare}; ${drivers}`)], { PLACE: place })
      console.log(`${kind}: start-up on a database that is there, all imports included: ${all} ms; fastify loaded before: ${loaded} ms; Fastify alone, listening: ${alone} ms; with Knex and the driver loaded: ${withDrivers} ms`)
    }
    await server?.stop()
  }
} finally {
  await rm(directory, { recursive: true, force: true })
}
process.exit(worst > 1.05 ? 1 : 0)
