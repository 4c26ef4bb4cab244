// L1: what an expert writes by hand: Fastify, the bare driver, prepared statements, a Map of keys, count(*) and OFFSET.
// PLACE: postgres://…, mariadb://…, an SQLite file, or nothing for memory, where it keeps them in Maps.
import { createHash } from 'node:crypto'
import Fastify from 'fastify'
import { newId } from '../lib/ids.mjs'
import { list, listQuery, newUser, user } from '../lib/schemas.mjs'
import { announce, envelope, KEY, listOf, PLACE, SIZE, view } from '../lib/serve.mjs'

const program = PLACE === '' ? 'memory' : /^(postgres|mariadb):/.exec(PLACE)?.[1] ?? 'sqlite'
const { openStore } = await import(`./l1-${program}.mjs`)
const store = await openStore(PLACE === '' ? Number(SIZE) : PLACE)
const digest = (text) => createHash('sha256').update(text).digest('base64')
const keys = new Map([[digest(KEY), { id: 'bench' }]])

function hasKey ({ headers: { authorization = '' } }) {
  return authorization.startsWith('Bearer ') && keys.has(digest(authorization.slice(7)))
}

const app = Fastify()
app.addHook('onRequest', async (request, reply) => {
  if (!hasKey(request)) return reply.code(401).send({ error: 'unauthorized' })
})
app.get('/v1/users', { schema: { querystring: listQuery, response: { 200: list } } }, async (request) => {
  const asked = listOf(request.query)
  const { rows, total } = await store.list(asked)
  return envelope(asked, rows.map(view), total)
})
app.get('/v1/users/:id', { schema: { response: { 200: user } } }, async (request, reply) => {
  const row = await store.get(request.params.id)
  return row === undefined ? reply.code(404).send({ error: 'not found' }) : view(row)
})
app.post('/v1/users', { schema: { body: newUser, response: { 201: user } } }, async (request, reply) => {
  const { name, email } = request.body
  const at = new Date().toISOString()
  const row = await store.create([newId(), name, name.toLowerCase(), email, email.toLowerCase(), at])
  return reply.code(201).header('location', `/v1/users/${row.id}`).send(view(row))
})
app.patch('/v1/users/:id', { schema: { response: { 200: user } } }, async (request, reply) => {
  const { name } = request.body
  const row = await store.rename(request.params.id, name, name.toLowerCase(), new Date().toISOString())
  return row === undefined ? reply.code(404).send({ error: 'not found' }) : view(row)
})
announce(await app.listen({ port: 0 }))
