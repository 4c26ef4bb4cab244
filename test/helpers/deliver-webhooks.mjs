// Delivers the webhooks of a database, from the built package, in a process of its own:
// node deliver-webhooks.mjs <url of PostgreSQL, or sqlite:path> <schema>
import Fastify from 'fastify'
import users from 'fastify-users'
import { postgres } from 'fastify-users/adapters/postgres'
import { sqlite } from 'fastify-users/adapters/sqlite'
import webhooks from 'fastify-users/webhooks'

const [url, schema] = process.argv.slice(2)
const app = Fastify()
const storage = url.startsWith('sqlite:')
  ? sqlite({ filename: url.slice('sqlite:'.length) })
  : postgres({ connection: url, schema })
await app.register(users, { storage, eventLog: true })
await app.register(webhooks, { allowHttp: true, allowedNetworks: ['127.0.0.0/8'] })
// A socket keeps the process alive.
await app.listen({ port: 0 })
process.stdout.write('ready\n')
process.on('SIGTERM', () => app.close())
