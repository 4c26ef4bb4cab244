// What counting costs writers, on PostgreSQL with fsync:
// node bench/writes.mjs --rounds 45 --seconds 0.5 --connections 16
//
// Two equal tables get the same writes in turn. One has the triggers of counting and its compaction, the other has
// neither. The writes are creations by `postgres()`, which batches concurrent ones; single INSERTs; and 50,000 rows in
// one statement. The rounds are short and many, since the disk varies more over time than the tables differ.
import { parseArgs } from 'node:util'
import pg from 'pg'
import { repositoryOf } from '../.build/package/lib/storage/repository.js'
import { newId } from '../.build/package/lib/core/ids.js'
import { postgres } from '../dist/adapters/postgres.js'
import { startPostgres } from '../test/servers/postgres.mjs'
import { RUNTIME } from './lib/machine.mjs'
import { median } from './lib/median.mjs'

const ROWS = 50_000
// Compaction rests for as long between its rounds. A round of the benchmark that is shorter reads one list.
const LIST_EVERY_MS = 1000
const ALL = { emailKey: null, words: null, fields: {} }
const TRIGGERS = ['counting_insert', 'counting_delete', 'counting_id_update', 'counting_truncate']
const COLUMNS = '(id, name, name_key, email, email_key, version, created_at, updated_at)'

const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '45' },
    seconds: { type: 'string', default: '0.5' },
    connections: { type: 'string', default: '16' }
  }
})

const server = await startPostgres({ durable: true })
const clients = await Promise.all(Array.from({ length: Number(given.connections) }, async () => {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  return client
}))

/** A table in a schema of its own, with a storage. Unless it `counts`, it has no triggers, and compaction is idle. */
async function createTable (schema, { counts, max }) {
  const storage = postgres({ connection: server.url, schema, pool: { max } })
  await storage.open({ migrate: true })
  const users = `"${schema}".fastify_users_users`
  const state = `"${schema}".fastify_users_counting_state`
  if (!counts) {
    for (const name of TRIGGERS) await clients[0].query(`DROP TRIGGER fastify_users_${name} ON ${users}`)
    // No user's id is above this boundary, so nothing is due for compaction.
    await clients[0].query(`UPDATE ${state} SET boundary = 'usr_z', next_boundary = 'usr_z'`)
  }
  return {
    counts,
    storage,
    one: {
      name: `one-${schema}`,
      text: `INSERT INTO ${users} ${COLUMNS} VALUES ($1, 'Name', 'name', $2, $2, 1, now(), now())`
    },
    many: `INSERT INTO ${users} ${COLUMNS}
      SELECT id, 'Name', 'name', id, id, 1, now(), now() FROM unnest($1::text[]) AS id`,
    share: `SELECT 100.0 * count(*) FILTER (WHERE id < boundary) / count(*) AS share FROM ${users}, ${state}`
  }
}

/** Does work on every connection for the length of a round. Returns how often it was done, by second. */
async function perSecond (work) {
  const until = performance.now() + Number(given.seconds) * 1000
  let done = 0
  await Promise.all(clients.map(async (client) => {
    while (performance.now() < until) {
      await work(client)
      done++
    }
  }))
  return done / Number(given.seconds)
}

/** Users created by the storage, by second. */
function storageCreations ({ storage }) {
  return perSecond(async () => {
    const id = newId('usr')
    const at = new Date().toISOString()
    const email = `${id}@example.com`
    const members = { fields: {}, status: 'active', statusReason: null, version: 1 }
    const user = { id, name: 'Name', email, ...members, createdAt: at, updatedAt: at }
    const write = { type: 'create', user, keys: { nameKey: 'name', emailKey: email }, event: null }
    await repositoryOf(storage).users.writeOne(write)
  })
}

/** Single INSERTs, by second. The storage does not see plain SQL, so lists make it compact the new users. */
function singleInserts ({ counts, storage, one }) {
  let listAt = performance.now()
  return perSecond(async (client) => {
    const id = newId('usr')
    await client.query({ ...one, values: [id, id] })
    if (!counts || performance.now() < listAt) return
    listAt += LIST_EVERY_MS
    storage.users.list(ALL, { order: 'asc', limit: 1, from: { offset: 0 } }).catch(() => {})
  })
}

/** Milliseconds of one statement that inserts many rows. */
async function bulkInsert ({ many }) {
  const ids = Array.from({ length: ROWS }, () => newId('usr'))
  const start = performance.now()
  await clients[0].query(many, [ids])
  return performance.now() - start
}

/** Measures two tables in turn. Returns the two values of each round. */
async function compare (measure, bare, counted) {
  const rounds = []
  for (let round = -1; round < Number(given.rounds); round++) {
    // The order alternates, since the second one meets the checkpoint of the first.
    const order = round % 2 === 0 ? [bare, counted] : [counted, bare]
    const result = new Map()
    for (const table of order) result.set(table, await measure(table))
    if (round >= 0) rounds.push({ without: result.get(bare), with: result.get(counted) })
  }
  return rounds
}

function summaryOf (rounds, unit) {
  const of = (member) => median(rounds.map((round) => round[member])).toFixed(0)
  const ratios = rounds.map((round) => round.with / round.without).sort((a, b) => a - b)
  const all = ratios.map((ratio) => ratio.toFixed(2)).join(' ')
  return `${of('without')} ${unit} without counting, ${of('with')} ${unit} with it; ` +
    `ratio ${median(ratios).toFixed(2)} (${all})`
}

/** How many users of a table compaction has moved into blocks. */
async function blockShare ({ share: sql }) {
  const { rows: [{ share }] } = await clients[0].query(sql)
  return `${Number(share).toFixed(0)} % of the users are in blocks`
}

const [plainBare, plainCounted, storageBare, storageCounted] = [
  await createTable('bare', { counts: false, max: 2 }),
  await createTable('counted', { counts: true, max: 2 }),
  await createTable('storage_bare', { counts: false, max: clients.length }),
  await createTable('storage_counted', { counts: true, max: clients.length })
]
console.log(`${RUNTIME}; medians of ${given.rounds} rounds\n`)

const creations = await compare(storageCreations, storageBare, storageCounted)
console.log(`creations by postgres(), ${given.connections} concurrently: ${summaryOf(creations, 'a second')}; ` +
  await blockShare(storageCounted))
const inserts = await compare(singleInserts, plainBare, plainCounted)
console.log(`single INSERTs on ${given.connections} connections: ${summaryOf(inserts, 'a second')}; ` +
  await blockShare(plainCounted))
const bulk = await compare(bulkInsert, plainBare, plainCounted)
console.log(`${ROWS} rows in one statement: ${summaryOf(bulk, 'ms')}`)

for (const client of clients) await client.end()
for (const { storage } of [plainBare, plainCounted, storageBare, storageCounted]) await storage.close()
await server.stop()
process.exit(0)
