// Registers the built package on a storage in a process of its own, and creates a first key and a user:
// node start-once.mjs sqlite <filename> <driver>
// node start-once.mjs postgres <url> <schema> [pooler]
import Fastify from 'fastify'
import users from 'fastify-users'
import { postgres } from 'fastify-users/adapters/postgres'
import { sqlite } from 'fastify-users/adapters/sqlite'

const [kind, place, detail, pooler] = process.argv.slice(2)
const storage =
  kind === 'sqlite'
    ? sqlite({ filename: place, driver: detail })
    : postgres({ connection: place, schema: detail, pooler: pooler !== undefined })
const app = Fastify()
await app.register(users, { storage, migrate: true })
const first = await app.users.apiKeys.createFirst({ name: 'first' })
await app.users.create({ name: 'A', email: `${process.pid}@example.org` })
await app.close()
process.stdout.write(first === null ? 'started' : 'started first')
