import Fastify from 'fastify'
import users from 'fastify-users'
import { sqlite } from 'fastify-users/adapters/sqlite'

const app = Fastify()
await app.register(users, { prefix: '/v1', storage: sqlite({ filename: 'users.db' }), migrate: true })

app.get('/', async () => ({ users: (await app.users.list()).meta.total }))

await app.listen({ port: Number(process.env['PORT'] ?? 3000) })
