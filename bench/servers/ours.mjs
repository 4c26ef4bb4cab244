// fastify-users as its users run it, with a stored key.
// PLACE: postgres://…, an SQLite file, or nothing for memory. DRIVER: the driver of SQLite. EVENT_LOG: with the log.
import Fastify from 'fastify'
import { memory } from '../../dist/adapters/memory/index.js'
import { postgres } from '../../dist/adapters/postgres.js'
import { sqlite } from '../../dist/adapters/sqlite.js'
import users from '../../dist/lib/index.js'
import { createPeople } from '../lib/people.mjs'
import { announce, PLACE, SIZE } from '../lib/serve.mjs'

function openStorage () {
  if (PLACE === '') return memory()
  if (PLACE.startsWith('postgres:')) return postgres({ connection: PLACE })
  return sqlite({ filename: PLACE, driver: process.env.DRIVER })
}

const storage = openStorage()
const app = Fastify()
await app.register(users, {
  prefix: '/v1',
  storage,
  migrate: true,
  eventLog: process.env.EVENT_LOG === 'true'
})
if (PLACE === '') await createPeople(storage, Number(SIZE))
const { key } = await app.users.apiKeys.create({ name: 'bench' })
announce(await app.listen({ port: 0 }), key)
