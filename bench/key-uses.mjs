// What the option `apiKeys.countUses` costs a request: two servers of this package on SQLite, with and without it, in
// processes of their own, get look-ups of one user with a stored key from 32 clients, in turn. Prints the medians of
// requests per second and of CPU time, and of the ratios of the rounds: node bench/key-uses.mjs --rounds 20
import { fork } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Fastify from 'fastify'
import { sqlite } from '../dist/adapters/sqlite.js'
import users from '../dist/lib/index.js'
import { RUNTIME } from './lib/machine.mjs'
import { median } from './lib/median.mjs'

const CLIENTS = 32
const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '3' },
    serve: { type: 'string' }
  }
})

async function serve (countUses) {
  const directory = await mkdtemp(join(tmpdir(), 'bench-uses-'))
  const app = Fastify()
  await app.register(users, {
    prefix: '/v1', storage: sqlite({ filename: join(directory, 'users.db') }), migrate: true, apiKeys: { countUses }
  })
  const { id } = await app.users.create({ name: 'Ada', email: 'ada@example.org' })
  const { key } = await app.users.apiKeys.create({ name: 'bench' })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  process.on('message', () => process.send({ cpu: process.cpuUsage() }))
  process.on('disconnect', async () => {
    await app.close()
    await rm(directory, { recursive: true })
  })
  process.send({ url: `${address}/v1/users/${id}`, key })
}

const next = (child) => new Promise((resolve) => child.once('message', resolve))

async function start (countUses) {
  const child = fork(import.meta.filename, ['--serve', String(countUses)])
  const { url, key } = await next(child)
  return { child, url, key, agent: new Agent({ keepAlive: true, maxSockets: CLIENTS }) }
}

async function microseconds (child) {
  const told = next(child)
  child.send('cpu')
  const { cpu: { user, system } } = await told
  return user + system
}

/** Requests per second, and the server's CPU time of each in microseconds. */
async function measure ({ child, url, key, agent }) {
  const headers = { authorization: `Bearer ${key}` }
  const once = () => new Promise((resolve, reject) => {
    get(url, { agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a look-up is answered by ${response.statusCode}`))
      response.on('end', resolve).resume()
    }).on('error', reject)
  })
  let requests = 0
  const before = await microseconds(child)
  const begun = performance.now()
  const end = begun + 1000 * Number(given.seconds)
  await Promise.all(Array.from({ length: CLIENTS }, async () => {
    for (; performance.now() < end; requests++) await once()
  }))
  const perSecond = 1000 * requests / (performance.now() - begun)
  return { perSecond, cpu: (await microseconds(child) - before) / requests }
}

async function compare () {
  const [off, on] = [await start(false), await start(true)]
  const rounds = []
  for (const server of [off, on]) await measure(server)
  for (let round = 0; round < Number(given.rounds); round++) {
    const order = round % 2 === 0 ? [off, on] : [on, off]
    const results = new Map()
    for (const server of order) results.set(server, await measure(server))
    rounds.push({ off: results.get(off), on: results.get(on) })
  }
  for (const { child, agent } of [off, on]) {
    agent.destroy()
    child.disconnect()
  }
  console.log(`${RUNTIME}; ${rounds.length} rounds, ${CLIENTS} clients\n`)
  for (const figure of ['perSecond', 'cpu']) {
    const of = (name) => median(rounds.map((round) => round[name][figure])).toFixed(1)
    const ratios = rounds.map(({ off, on }) => on[figure] / off[figure])
    console.log(`${figure}: ${of('off')} without, ${of('on')} with; ratio ${median(ratios).toFixed(3)} ` +
      `(${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`)
  }
}

if (given.serve === undefined) await compare()
else await serve(given.serve === 'true')
