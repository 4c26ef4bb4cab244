// What the bookkeeping of totals costs who writes, on PostgreSQL with fsync: node bench/writes.mjs --rounds 45 --seconds 0.5 --connections 16
// The same INSERT into two tables alike, with the triggers and the upkeep of the blocks and without, in turn: as `postgres()` creates users, where those that arrive
// at once go together; each by itself; and 50,000 rows in one statement. Many short rounds, since what the disk does differs more between seconds than the two do.
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { postgres } from '../dist/adapters/postgres.js'
import { newId } from '../.build/package/lib/ids.js'
import { startPostgres } from '../test/servers/postgres.mjs'
import { median } from './lib/median.mjs'

const ROWS = 50_000
// As often as new users are sealed at most; a shorter round has one look.
const LOOK_EVERY_MS = 1000
const ALL = { emailKey: null, prefix: null, fields: {} }

const { values: given } = parseArgs({ options: { rounds: { type: 'string', default: '45' }, seconds: { type: 'string', default: '0.5' }, connections: { type: 'string', default: '16' } } })

const server = await startPostgres({ durable: true })
const clients = await Promise.all(Array.from({ length: Number(given.connections) }, async () => {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  return client
}))

async function tableIn (schema, version) {
  const storage = postgres({ connection: server.url, schema, pool: { max: 2 } })
  await storage.migrate()
  await storage.rollback(version)
  const columns = `"${schema}".fastify_users_users (id, name, name_key, email, email_key, version, created_at, updated_at)`
  return {
    storage,
    one: { name: `one-${schema}`, text: `INSERT INTO ${columns} VALUES ($1, 'Name', 'name', $2, $2, 1, now(), now())` },
    many: `INSERT INTO ${columns} SELECT id, 'Name', 'name', id, id, 1, now(), now() FROM unnest($1::text[]) AS id`
  }
}

const bare = await tableIn('bare', 2)
const counted = await tableIn('counted', 3)

/** Inserts a second. Plain SQL tells nobody of new users, so a look at a list has them sealed. */
async function creates ({ storage, one }, looks) {
  const until = performance.now() + Number(given.seconds) * 1000
  let done = 0
  let lookAt = performance.now()
  await Promise.all(clients.map(async (client) => {
    while (performance.now() < until) {
      const id = newId('usr')
      await client.query({ ...one, values: [id, id] })
      done++
      if (!looks || performance.now() < lookAt) continue
      lookAt += LOOK_EVERY_MS
      storage.listUsers(ALL, { order: 'asc', limit: 1, from: { offset: 0 } }).catch(() => {})
    }
  }))
  return done / Number(given.seconds)
}

/** A storage in a schema of its own, with the bookkeeping or without. */
async function storageIn (schema, counts) {
  const storage = postgres({ connection: server.url, schema, pool: { max: Number(given.connections) } })
  await storage.migrate()
  if (!counts) {
    await clients[0].query(`DROP TRIGGER fastify_users_users_inserted ON "${schema}".fastify_users_users`)
    // No user is beyond the boundary, so there is nothing to keep up.
    await clients[0].query(`UPDATE "${schema}".fastify_users_sealing SET sealed = 'usr_z', pending = 'usr_z'`)
  }
  return storage
}

/** Users created a second, by as many at once as there are connections. */
async function storageCreates (storage) {
  const until = performance.now() + Number(given.seconds) * 1000
  let done = 0
  await Promise.all(clients.map(async () => {
    while (performance.now() < until) {
      const id = newId('usr')
      const at = new Date().toISOString()
      const email = `${id}@example.com`
      await storage.createUser({ id, name: 'Name', email, fields: {}, version: 1, createdAt: at, updatedAt: at }, { nameKey: 'name', emailKey: email }, null)
      done++
    }
  }))
  return done / Number(given.seconds)
}

/** How many of a table's users are in blocks, as a percentage. */
async function sealedShare (schema) {
  const { rows: [{ share }] } = await clients[0].query(`SELECT 100.0 * count(*) FILTER (WHERE id < sealed) / count(*) AS share FROM "${schema}".fastify_users_users, "${schema}".fastify_users_sealing`)
  return `${Number(share).toFixed(0)} % of them in blocks`
}

/** Milliseconds of one statement. */
async function bulk ({ many }) {
  const ids = Array.from({ length: ROWS }, () => newId('usr'))
  const start = performance.now()
  await clients[0].query(many, [ids])
  return performance.now() - start
}

async function ratios (measure, without = bare, withAll = counted) {
  const found = []
  for (let round = -1; round < Number(given.rounds); round++) {
    // Whoever comes second meets the checkpoint of the first: in turn.
    const order = round % 2 === 0 ? [without, withAll] : [withAll, without]
    const result = new Map()
    for (const table of order) result.set(table, await measure(table))
    if (round >= 0) found.push({ bare: result.get(without), counted: result.get(withAll) })
  }
  return found
}

const shown = (found, unit) => `${median(found.map(({ bare }) => bare)).toFixed(0)} ${unit} without, ${median(found.map(({ counted }) => counted)).toFixed(0)} ${unit} with; ` +
  `ratio ${median(found.map(({ bare, counted }) => counted / bare)).toFixed(2)} (${found.map(({ bare, counted }) => (counted / bare).toFixed(2)).sort().join(' ')})`

console.log(`node ${process.version}, ${cpus().length} × ${cpus()[0].model}; medians of ${given.rounds} rounds\n`)
const [alone, kept] = [await storageIn('storage_bare', false), await storageIn('storage_counted', true)]
console.log(`creates by postgres(), ${given.connections} at once: ${shown(await ratios(storageCreates, alone, kept), 'a second')}, ${await sealedShare('storage_counted')}`)
console.log(`the same INSERT by itself, ${given.connections} connections: ${shown(await ratios((table) => creates(table, table === counted)), 'a second')}, ${await sealedShare('counted')}`)
console.log(`${ROWS} rows in one statement: ${shown(await ratios(bulk), 'ms')}`)
for (const client of clients) await client.end()
for (const storage of [bare.storage, counted.storage, alone, kept]) await storage.close()
await server.stop()
process.exit(0)
