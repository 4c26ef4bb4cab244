// Serves the built package on PostgreSQL in a process of its own, and prints its address:
// node serve.mjs <url> <schema> <seconds that a key is cached> [listen]
import Fastify from 'fastify'
import users from 'fastify-users'
import { postgres } from 'fastify-users/adapters/postgres'

const [connection, schema, cache, listen] = process.argv.slice(2)
const app = Fastify()
await app.register(users, {
  storage: postgres({ connection, schema, listen: listen === 'listen' }),
  apiKeys: { cache: Number(cache) }
})
process.stdout.write(`${await app.listen({ port: 0 })}\n`)
process.on('SIGTERM', () => app.close())
