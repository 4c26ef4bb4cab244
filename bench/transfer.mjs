// How fast users come in and go out, and what that takes: import over HTTP and by the command line, export in both
// formats, adoption of a table, and pages of the list beside an import. Then an import that is killed at random and
// resumed.
// node bench/transfer.mjs --users 1000000 --storage sqlite,postgres --kills 20 --seed 7
//
// The server and the command line are processes of their own; memory is the most that was resident at one time.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, createWriteStream, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { postgres } from '../dist/adapters/postgres.js'
import { sqlite } from '../dist/adapters/sqlite.js'
import { randomOf } from '../faults/lib/random.mjs'
import { startPostgres } from '../test/servers/postgres.mjs'
import { startServer } from './lib/fleet.mjs'
import { RUNTIME } from './lib/machine.mjs'
import { median } from './lib/median.mjs'

const PAGES = 500
const CLI = join(import.meta.dirname, '..', 'dist', 'cli', 'main.js')

const { values: given } = parseArgs({
  options: {
    users: { type: 'string', default: '100000' },
    storage: { type: 'string', default: 'sqlite,postgres' },
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: '7' }
  }
})
const [count, kills, seed] = [given.users, given.kills, given.seed].map(Number)
const directory = await mkdtemp(join(tmpdir(), 'bench-transfer-'))
const file = join(directory, 'users.ndjson')

/** Lines of users, the same for each seed. */
function * lines () {
  const { below } = randomOf(seed)
  for (let n = 0; n < count; n++) {
    const createdAt = new Date(1.5e12 + below(2e11)).toISOString()
    yield `${JSON.stringify({ name: `User ${n} ${below(1e6)}`, email: `user${n}@example.org`, createdAt })}\n`
  }
}

/** Lines of users who come later. */
function * laterLines (many) {
  for (let n = 0; n < many; n++) yield `${JSON.stringify({ name: `Later ${n}`, email: `later${n}@example.org` })}\n`
}

/** The most memory that a process had, in MB. */
function peakOf (pid) {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kib) / 1024)
}

function tell (storage, what, users, begun, memory) {
  const rate = Math.round(users / ((performance.now() - begun) / 1000)).toLocaleString('en')
  console.log(`| ${storage} | ${what} | ${rate} | ${memory} |`)
}

/** Imports users over HTTP, of whom all must be new. */
async function importLines ({ address, key }, source, expected) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' }
  const sent = request(`${address}/v1/users/import`, { method: 'POST', headers })
  const sending = pipeline(source, sent)
  const [response] = await once(sent, 'response')
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  await sending
  const { summary } = JSON.parse(text.trimEnd().split('\n').at(-1))
  if (summary.created !== expected) throw new Error(text.slice(0, 500))
}

async function importOverHttp (service, storage) {
  const begun = performance.now()
  await importLines(service, createReadStream(file), count)
  tell(storage, 'import over HTTP', count, begun, peakOf(service.pid))
}

/** Reads pages one after the other while `isOn`; returns the median time of one in milliseconds. */
async function readPages ({ address, key }, isOn) {
  const times = []
  let last = 0
  while (isOn(times.length)) {
    const begun = performance.now()
    const answer = await fetch(`${address}/v1/users?page=7`, { headers: { authorization: `Bearer ${key}` } })
    const { meta: { total } } = await answer.json()
    times.push(performance.now() - begun)
    if (total < last) throw new Error(`the total fell from ${last} to ${total}`)
    last = total
  }
  return { time: median(times), last }
}

/** Pages of the list beside an import: their totals must not fall, and the last one is exact. */
async function listsBeside (service, storage) {
  const many = Math.ceil(count / 20)
  await readPages(service, (n) => n < PAGES)
  const alone = await readPages(service, (n) => n < PAGES)
  let isImporting = true
  const begun = performance.now()
  const importing = importLines(service, Readable.from(laterLines(many)), many).finally(() => { isImporting = false })
  const beside = await readPages(service, () => isImporting)
  await importing
  const { last } = await readPages(service, (n) => n < 1)
  if (last !== count + many) throw new Error(`the total is ${last}, of ${count + many} users`)
  const cost = `${beside.time.toFixed(2)} ms a page instead of ${alone.time.toFixed(2)}`
  tell(storage, `import beside lists, ${cost}`, many, begun, peakOf(service.pid))
}

async function exportOverHttp ({ address, key, pid }, storage, format) {
  const begun = performance.now()
  const headers = { authorization: `Bearer ${key}` }
  const [response] = await once(request(`${address}/v1/users/export?format=${format}`, { headers }).end(), 'response')
  let bytes = 0
  for await (const chunk of response) bytes += chunk.length
  if (!response.complete || bytes < count * 50) throw new Error('the export is not whole')
  tell(storage, `export over HTTP, ${format}`, count, begun, peakOf(pid))
}

/** Runs the command line; returns its exit code, its answer, and its peak of memory. `killAfter`: milliseconds. */
async function cli (args, url, killAfter) {
  const child = spawn(process.execPath, [CLI, ...args], { env: { ...process.env, DATABASE_URL: url } })
  let [out, peak] = ['', 0]
  child.stdout.setEncoding('utf8').on('data', (text) => { out += text })
  child.stderr.resume()
  const exit = once(child, 'exit')
  const watch = setInterval(() => {
    try { peak = peakOf(child.pid) } catch {}
  }, 50)
  if (killAfter !== undefined) delay(killAfter).then(() => child.kill('SIGKILL'))
  const [code, signal] = await exit
  clearInterval(watch)
  return { code, signal, out, peak }
}

async function withCli (storage, what, args, url) {
  const begun = performance.now()
  const { code, out, peak } = await cli(args, url)
  if (code !== 0 || !out.includes(`created ${count},`)) throw new Error(`${what}: ${code} ${out.slice(-300)}`)
  tell(storage, what, count, begun, peak)
}

/** Imports, killed again and again, until one ends; then everybody must be there once. */
async function killed (storage, open, url) {
  const { below } = randomOf(seed + 1)
  let done = 0
  while (true) {
    const { code, signal } = await cli(['import', file, '--on-conflict', 'skip'], url,
      done < kills ? 300 + below(2500) : undefined)
    if (signal === 'SIGKILL') {
      done++
      continue
    }
    if (code === 0) break
    throw new Error(`the import ended with ${code}`)
  }
  const store = open()
  const seen = new Set()
  let total = 0
  await store.users.walk({ emailKey: null, words: null, fields: {} }, 'asc', async (users) => {
    for (const { email } of users) seen.add(email)
    total += users.length
  })
  await store.close()
  console.log(`| ${storage} | import, killed ${done} times and resumed | lost ${count - seen.size}, ` +
    `twice ${total - seen.size} | |`)
  if (seen.size !== count || total !== count) process.exitCode = 1
}

/** Databases of one kind. */
function kindOf (storage, server) {
  if (storage === 'sqlite') {
    const path = (name) => join(directory, `${name}.db`)
    return { place: path, url: (name) => `sqlite:${path(name)}`, open: (name) => sqlite({ filename: path(name) }) }
  }
  const place = (name) => server.url.replace(/\/[^/]*$/, `/${name}`)
  return { place, url: place, open: (name) => postgres({ connection: place(name) }) }
}

async function measure (storage) {
  const server = storage === 'postgres' ? await startPostgres({ durable: true }) : null
  try {
    const { place, url, open } = kindOf(storage, server)
    for (const name of ['http', 'cli', 'adopted', 'killed']) {
      if (server !== null) {
        const { default: pg } = await import('pg')
        const client = new pg.Client({ connectionString: server.url })
        await client.connect()
        await client.query(`CREATE DATABASE ${name} TEMPLATE template0`)
        await client.end()
      }
      const store = open(name)
      await store.open({ migrate: true })
      await store.close()
    }
    const service = await startServer('ours', 'ours.mjs', { place: place('http'), size: 0 })
    try {
      await importOverHttp(service, storage)
      await exportOverHttp(service, storage, 'ndjson')
      await exportOverHttp(service, storage, 'csv')
      await listsBeside(service, storage)
    } finally {
      await service.stop()
    }
    await withCli(storage, 'import by the command line', ['import', file], url('cli'))
    const map = 'name=name,email=email,createdAt=created_at'
    await withCli(storage, 'adoption',
      ['adopt', '--from', url('cli'), '--table', 'fastify_users_users', '--map', map], url('adopted'))
    await killed(storage, () => open('killed'), url('killed'))
  } finally {
    await server?.stop()
  }
}

await pipeline(Readable.from(lines()), createWriteStream(file))
console.log(`${RUNTIME}; ${count.toLocaleString('en')} users\n`)
console.log('| Storage | What | Users a second | Memory, MB |\n|---|---|--:|--:|')
try {
  for (const storage of given.storage.split(',')) await measure(storage)
} finally {
  await rm(directory, { recursive: true, force: true })
}
