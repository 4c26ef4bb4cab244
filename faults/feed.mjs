// A million events on PostgreSQL: two writers and a reader are killed twenty times, and a transaction that has recorded
// an event stays open for a minute at a time. Then the reader's book is compared with the log.
// node faults/feed.mjs --events 1000000 --kills 20: about ten minutes; npm run build first.
// --pooler: the writers go through PgBouncer. --control: the reader goes by the ids of events, and must fail.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { postgres } from '../dist/adapters/postgres.js'
import { startPgBouncer } from '../test/servers/pgbouncer.mjs'
import { startPostgres } from '../test/servers/postgres.mjs'

const { values: given } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    kills: { type: 'string', default: '20' },
    minute: { type: 'string', default: '60' },
    pooler: { type: 'boolean', default: false },
    control: { type: 'boolean', default: false }
  }
})
const [wanted, kills, seconds] = [given.events, given.kills, given.minute].map(Number)
const EVENTS = 'fastify_users_events'
const PROGRAMS = join(import.meta.dirname, 'programs')

const server = await startPostgres({ durable: true })
const pooler = given.pooler ? await startPgBouncer(server.url) : null
if (given.pooler && pooler === undefined) throw new Error('this machine has no PgBouncer')
const directory = await mkdtemp(join(tmpdir(), 'feed-'))
const book = join(directory, 'book')
const storage = postgres({ connection: server.url })
await storage.open({ migrate: true })
await storage.close()
const client = new pg.Client({ connectionString: server.url })
await client.connect()

/** A program that can be killed and started again. */
async function startProgram (name, ...args) {
  let child
  async function start () {
    child = spawn(process.execPath, [join(PROGRAMS, name), ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
  }
  async function kill () {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await start()
  return { name, kill, start }
}

/** Has a transaction open all the time, each for as long as was asked for. Each has recorded one event. */
function openTransactions () {
  const stopping = new AbortController()
  let count = 0
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await client.query('BEGIN')
      await client.query(`INSERT INTO ${EVENTS} (id, type, happened_at, context, subject, data)
        VALUES ($1, 'api_key.created', now(), '{"actor":null,"requestId":null}', 'key_01h455vb4pex5vsknk084sn02q',
          '{"id":"key_0"}')`,
      [`evt_01h455vb4pex5vsknk08${String(count++).padStart(6, '0')}`])
      await setTimeout(seconds * 1000, undefined, { signal: stopping.signal }).catch(() => {})
      await client.query('COMMIT')
    }
  })()
  return async () => {
    stopping.abort()
    await running
    return count
  }
}

async function written (query) {
  const { rows: [{ last }] } = await query.query('SELECT last_value::int AS last FROM fastify_users_event_sequence')
  return last
}

const begun = performance.now()
const writerUrl = pooler?.url ?? server.url
const writers = await Promise.all([1, 2].map(() =>
  startProgram('feed-writer.mjs', writerUrl, ...given.pooler ? ['pooler'] : [])))
const reader = await startProgram('feed-reader.mjs', server.url, book, ...given.control ? ['ids'] : [])
const endTransactions = openTransactions()
const looking = new pg.Client({ connectionString: server.url })
await looking.connect()
for (let kill = 0; kill < kills; kill++) {
  while (await written(looking) < wanted * (kill + 1) / (kills + 1)) await setTimeout(20)
  const victim = [reader, ...writers][kill % 3]
  await victim.kill()
  await victim.start()
  process.stdout.write(`${await written(looking)} events: ${victim.name} was killed and started again\n`)
}
while (await written(looking) < wanted) await setTimeout(20)
for (const writer of writers) await writer.kill()
const transactions = await endTransactions()
const wrote = (performance.now() - begun) / 1000

const { rows } = await looking.query(
  `SELECT id, subject, coalesce((data ->> 'version')::int, 0) AS version FROM ${EVENTS}`
)
const logged = new Map(rows.map(({ id, subject, version }) => [id, `${subject} ${version}`]))
const linesOf = async () => (await readFile(book, 'utf8')).split('\n').slice(0, -1)
let lines = await linesOf()
// Until nothing has come for two seconds: the reader of the control never gets what it has missed.
for (let before = -1; lines.length < logged.size && lines.length > before;) {
  before = lines.length
  await setTimeout(2000)
  lines = await linesOf()
}
await reader.kill()

const found = { lost: 0, twice: 0, foreign: 0, 'out of order': 0 }
const seen = new Set()
const versions = new Map()
for (const line of lines) {
  const [id, subject, version] = line.split(' ')
  if (seen.has(id)) found.twice++
  else seen.add(id)
  if (logged.get(id) !== `${subject} ${version}`) found.foreign++
  if (Number(version) > 0 && Number(version) <= (versions.get(subject) ?? 0)) found['out of order']++
  versions.set(subject, Math.max(Number(version), versions.get(subject) ?? 0))
}
for (const id of logged.keys()) if (!seen.has(id)) found.lost++

const isRight = Object.values(found).every((count) => count === 0)
const how = `${given.pooler ? 'through PgBouncer, ' : ''}${given.control ? 'read by ids, ' : ''}`
process.stdout.write(`${how}${logged.size} events of ${versions.size} users and keys in ${Math.round(wrote)} s, ` +
  `${kills} kills, ${transactions} transactions open for ${seconds} s: ` +
  `${Object.entries(found).map(([name, count]) => `${name} ${count}`).join(', ')}\n`)
await Promise.all([client.end(), looking.end()])
await pooler?.stop()
await server.stop()
await rm(directory, { recursive: true, force: true })
process.exit(isRight === given.control ? 1 : 0)
