// The floor: L0, and of the storage only what no server can leave out. It checks neither keys nor bodies, counts no
// users, finds a page by the id that it begins with, and keeps one prepared statement for each request. Changes of one
// turn of the event loop are one transaction. PLACE: postgres://… or an SQLite file. EVENTS: a row more for each
// change, in a table without any index.
import { createRequire } from 'node:module'
import Fastify from 'fastify'
import pg from 'pg'
import { newId } from '../lib/ids.mjs'
import { idOf } from '../lib/people.mjs'
import { list, user } from '../lib/schemas.mjs'
import { announce, KEY, PLACE, SIZE } from '../lib/serve.mjs'

const COLUMNS = 'id, name, email, created_at AS "createdAt", updated_at AS "updatedAt"'
const EVENT = '{"actor":{"type":"api_key","id":"key_01h455vb4pex5vsknk084sn02q"},"requestId":"req-1"}'
const isRecorded = process.env.EVENTS === 'true'
const require = createRequire(new URL('../../package.json', import.meta.url))

function openSqlite () {
  const database = require('better-sqlite3')(PLACE)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384; ' +
    'PRAGMA wal_autocheckpoint = 4000; PRAGMA temp_store = MEMORY; ' +
    'CREATE TABLE IF NOT EXISTS floor_events (id, type, at, context, subject, data, before)')
  const page = database.prepare(`SELECT ${COLUMNS} FROM bench_users WHERE rowid > ? ORDER BY rowid LIMIT 20`)
  const get = database.prepare(`SELECT ${COLUMNS} FROM bench_users WHERE id = ?`)
  const rename = database.prepare('UPDATE bench_users SET name = ?, name_key = ?, version = version + 1, ' +
    `updated_at = ? WHERE id = ? RETURNING ${COLUMNS}`)
  const create = database.prepare('INSERT INTO bench_users VALUES (?, ?, ?, ?, ?, 1, ?, ?) ' +
    `RETURNING ${COLUMNS}`)
  const record = database.prepare('INSERT INTO floor_events VALUES (?, ?, ?, ?, ?, ?, ?)')
  const writeAll = database.transaction((statement, type, all) => all.map((values) => {
    const row = statement.get(...values)
    if (isRecorded) record.run(newId(), type, row.updatedAt, EVENT, row.id, JSON.stringify(row), null)
    return row
  }))
  return {
    page: async (n) => page.all((n - 1) * 20),
    get: async (id) => get.get(id),
    rename: async (all) => writeAll(rename, 'user.updated', all.map(([id, ...values]) => [...values, id])),
    create: async (all) => writeAll(create, 'user.created', all.map((values) => [...values, values.at(-1)]))
  }
}

async function openPostgres () {
  const clients = await Promise.all([1, 2].map(async () => {
    const client = new pg.Client({ connectionString: PLACE, pipeline: true })
    await client.connect()
    // As text, which costs a twentieth of Date.
    client.setTypeParser(1184, (text) => text)
    return client
  }))
  await clients[0].query('CREATE TABLE IF NOT EXISTS floor_events (id text, type text, at timestamptz, context json, ' +
    'subject text, data json, before json)')
  let turn = 0
  const run = async (name, text, values) => (await clients[turn++ % 2].query({ name, text, values })).rows
  const columnsOf = (all) => all[0].map((_, i) => all.map((values) => values[i]))
  const recorded = (change, type) => isRecorded
    ? `WITH w AS (${change}), e AS (INSERT INTO floor_events SELECT gen_random_uuid()::text, '${type}', ` +
      `"updatedAt", '${EVENT}', id, row_to_json(w) FROM w) SELECT * FROM w`
    : change
  const create = recorded('INSERT INTO bench_users (id, name, name_key, email, email_key, version, created_at, ' +
    'updated_at) SELECT a, b, c, d, e, 1, f, f FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], ' +
    `$5::text[], $6::timestamptz[]) AS q (a, b, c, d, e, f) RETURNING ${COLUMNS}`, 'user.created')
  const rename = recorded('UPDATE bench_users SET name = b, name_key = c, version = version + 1, updated_at = d ' +
    'FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) AS q (a, b, c, d) WHERE id = a ' +
    `RETURNING ${COLUMNS}`, 'user.updated')
  const inOrder = (rows, all) => {
    const byId = new Map(rows.map((row) => [row.id, row]))
    return all.map(([id]) => byId.get(id))
  }
  return {
    page: (n) => run('page', `SELECT ${COLUMNS} FROM bench_users WHERE id >= $1 ORDER BY id LIMIT 20`,
      [idOf((n - 1) * 20)]),
    get: async (id) => (await run('get', `SELECT ${COLUMNS} FROM bench_users WHERE id = $1`, [id]))[0],
    rename: async (all) => inOrder(await run('rename', rename, columnsOf(all)), all),
    create: async (all) => inOrder(await run('create', create, columnsOf(all)), all)
  }
}

/** Hands what is asked for in one turn of the event loop over together. */
function together (work) {
  let waiting = []
  return (values) => new Promise((resolve, reject) => {
    if (waiting.push({ values, resolve, reject }) > 1) return
    setImmediate(() => {
      const all = waiting
      waiting = []
      work(all.map((each) => each.values)).then((rows) => rows.forEach((row, i) => all[i].resolve(row)), (error) =>
        all.forEach((each) => each.reject(error)))
    })
  })
}

const store = await (PLACE.startsWith('postgres:') ? openPostgres : openSqlite)()
const [rename, create] = [together(store.rename), together(store.create)]
const app = Fastify()
app.get('/v1/users', { schema: { response: { 200: list } } }, async ({ query: { page = 1 } }) =>
  ({ data: await store.page(Number(page)), meta: { page: Number(page), limit: 20, total: Number(SIZE) } }))
app.get('/v1/users/:id', { schema: { response: { 200: user } } }, async ({ params: { id } }) => store.get(id))
app.patch('/v1/users/:id', { schema: { response: { 200: user } } }, async ({ params: { id }, body: { name } }) =>
  rename([id, name, name.toLowerCase(), new Date().toISOString()]))
app.post('/v1/users', { schema: { response: { 201: user } } }, async ({ body: { name, email } }, reply) => {
  const at = new Date().toISOString()
  reply.code(201)
  return create([newId(), name, name.toLowerCase(), email, email.toLowerCase(), at])
})
announce(await app.listen({ port: 0 }), KEY, 'floor')
