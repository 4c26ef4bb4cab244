// L0: a bare Fastify route with a response schema and a constant response. It shows the cost of HTTP and JSON alone.
import Fastify from 'fastify'
import { personOf } from '../lib/people.mjs'
import { list, user } from '../lib/schemas.mjs'
import { announce, envelope, SIZE, view } from '../lib/serve.mjs'

const one = view(personOf(0))
const page = envelope({ page: 1, limit: 20 }, Array.from({ length: 20 }, (_, n) => view(personOf(n))), SIZE)

const app = Fastify()
app.get('/v1/users', { schema: { response: { 200: list } } }, async () => page)
app.get('/v1/users/:id', { schema: { response: { 200: user } } }, async () => one)
app.post('/v1/users', { schema: { response: { 201: user } } }, async (_request, reply) => reply.code(201).send(one))
app.patch('/v1/users/:id', { schema: { response: { 200: user } } }, async () => one)
announce(await app.listen({ port: 0 }))
