// P1: a usual server: Fastify, Knex and @fastify/bearer-auth.
import bearerAuth from '@fastify/bearer-auth'
import Fastify from 'fastify'
import { newId } from '../lib/ids.mjs'
import { knexStore } from '../lib/knex-store.mjs'
import { newUser } from '../lib/schemas.mjs'
import { announce, envelope, KEY, listOf, PLACE, view } from '../lib/serve.mjs'

const store = knexStore(PLACE)

const app = Fastify()
await app.register(bearerAuth, { keys: new Set([KEY]) })
app.get('/v1/users', async (request) => {
  const asked = listOf(request.query)
  const { rows, total } = await store.list(asked)
  return envelope(asked, rows.map(view), total)
})
app.get('/v1/users/:id', async (request, reply) => {
  const row = await store.get(request.params.id)
  return row === undefined ? reply.code(404).send({ error: 'not found' }) : view(row)
})
app.post('/v1/users', { schema: { body: newUser } }, async (request, reply) => {
  const { name, email } = request.body
  const at = new Date().toISOString()
  const row = await store.create([newId(), name, name.toLowerCase(), email, email.toLowerCase(), at])
  return reply.code(201).header('location', `/v1/users/${row.id}`).send(view(row))
})
app.patch('/v1/users/:id', async (request, reply) => {
  const { name } = request.body
  const row = await store.rename(request.params.id, name, name.toLowerCase(), new Date().toISOString())
  return row === undefined ? reply.code(404).send({ error: 'not found' }) : view(row)
})
announce(await app.listen({ port: 0 }))
