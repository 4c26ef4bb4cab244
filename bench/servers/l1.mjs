// L1: what an expert writes by hand: Fastify, the raw driver, named statements, a Map of keys, count(*) and OFFSET. PLACE: postgres://… or a file.
import { createHash } from 'node:crypto'
import Fastify from 'fastify'
import { newId } from '../lib/ids.mjs'
import { announce, envelope, KEY, listOf, PLACE, view } from '../lib/serve.mjs'

const { openStore } = await import(PLACE.startsWith('postgres:') ? './l1-postgres.mjs' : './l1-sqlite.mjs')
const store = await openStore(PLACE)
const digest = (text) => createHash('sha256').update(text).digest('base64')
const keys = new Map([[digest(KEY), { id: 'bench' }]])

const text = { type: 'string' }
const user = { type: 'object', properties: { id: text, name: text, email: text, createdAt: text, updatedAt: text } }
const list = { type: 'object', properties: { data: { type: 'array', items: user }, meta: { type: 'object', properties: { page: { type: 'integer' }, limit: { type: 'integer' }, total: { type: 'integer' } } } } }
const body = { type: 'object', required: ['name', 'email'], properties: { name: { type: 'string', minLength: 1, maxLength: 200 }, email: { type: 'string', format: 'email' } } }
const query = { type: 'object', properties: { page: { type: 'integer', minimum: 1 }, limit: { type: 'integer', minimum: 1, maximum: 100 }, after: text, email: text, q: text } }

const app = Fastify()
app.addHook('onRequest', async (request, reply) => {
  const { authorization = '' } = request.headers
  if (!authorization.startsWith('Bearer ') || !keys.has(digest(authorization.slice(7)))) return reply.code(401).send({ error: 'unauthorized' })
})
app.get('/v1/users', { schema: { querystring: query, response: { 200: list } } }, async (request) => {
  const asked = listOf(request.query)
  const { rows, total } = await store.list(asked)
  return envelope(asked, rows.map(view), total)
})
app.get('/v1/users/:id', { schema: { response: { 200: user } } }, async (request, reply) => {
  const row = await store.get(request.params.id)
  return row === undefined ? reply.code(404).send({ error: 'not found' }) : view(row)
})
app.post('/v1/users', { schema: { body, response: { 201: user } } }, async (request, reply) => {
  const { name, email } = request.body
  const row = await store.create([newId(), name, name.toLowerCase(), email, email.toLowerCase(), new Date().toISOString()])
  return reply.code(201).header('location', `/v1/users/${row.id}`).send(view(row))
})
app.patch('/v1/users/:id', { schema: { response: { 200: user } } }, async (request, reply) => {
  const { name } = request.body
  const row = await store.rename(request.params.id, name, name.toLowerCase(), new Date().toISOString())
  return row === undefined ? reply.code(404).send({ error: 'not found' }) : view(row)
})
await announce(await app.listen({ port: 0 }))
