// A host whose store reads, checks and then writes: what a careless adapter does.
import { setTimeout } from 'node:timers/promises'
import Fastify from 'fastify'
import { users } from 'fastify-users'
import { memory } from 'fastify-users/adapters/memory'

const { API_KEYS, HOST, PORT } = process.env
const storage = memory()
const { findUser, writeUsers } = storage
const ANY = { ifVersion: null, unlessVersion: [] }

async function write ([only, ...others], options) {
  if (only?.type !== 'update' || others.length > 0) return writeUsers([only, ...others], options)
  const { id, guard } = only
  const user = await findUser(id)
  await setTimeout(1)
  const isRefused = user === null || (guard.ifVersion !== null && !guard.ifVersion.includes(user.version))
  return writeUsers([isRefused ? only : { ...only, guard: ANY }], options)
}

const app = Fastify()
await app.register(users, {
  prefix: '/v1',
  storage: { ...storage, writeUsers: write },
  apiKeys: { static: [API_KEYS] }
})
app.get('/ready', async () => 'true')
await app.listen({ host: HOST, port: Number(PORT) })
