// fastify-users as its users run it, with a stored key. PLACE: postgres://…, a file, or nothing for memory; DRIVER: that of SQLite.
import Fastify from 'fastify'
import { memory } from '../../dist/adapters/memory/index.js'
import { postgres } from '../../dist/adapters/postgres.js'
import { sqlite } from '../../dist/adapters/sqlite.js'
import users from '../../dist/lib/index.js'
import { personOf } from '../lib/people.mjs'
import { announce, PLACE, SIZE } from '../lib/serve.mjs'

const storage = PLACE === '' ? memory() : PLACE.startsWith('postgres:') ? postgres({ connection: PLACE }) : sqlite({ filename: PLACE, driver: process.env.DRIVER })
const app = Fastify()
await app.register(users, { prefix: '/v1', storage, migrate: true })
if (PLACE === '') {
  for (let n = 0; n < Number(SIZE); n++) {
    const { name_key: nameKey, email_key: emailKey, created_at: createdAt, updated_at: updatedAt, ...person } = personOf(n)
    await storage.createUser({ ...person, fields: {}, createdAt, updatedAt }, { nameKey, emailKey }, null)
  }
}
const { key } = await app.users.apiKeys.create({ name: 'bench' })
await announce(await app.listen({ port: 0 }), key)
