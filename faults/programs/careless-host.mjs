// A host whose store reads, checks and then writes: what a careless adapter does.
import { setTimeout } from 'node:timers/promises'
import Fastify from 'fastify'
import { users } from 'fastify-users'
import { memory } from 'fastify-users/adapters/memory'

const { API_KEYS, HOST, PORT } = process.env
const storage = memory()
const { findUser, updateUser } = storage
const ANY = { ifVersion: null, unlessVersion: [] }

async function update (id, changes, at, guard) {
  const user = await findUser(id)
  await setTimeout(1)
  if (user === null || (guard.ifVersion !== null && !guard.ifVersion.includes(user.version))) {
    return updateUser(id, changes, at, guard)
  }
  return updateUser(id, changes, at, ANY)
}

const app = Fastify()
await app.register(users, { prefix: '/v1', storage: { ...storage, updateUser: update }, staticKeys: [API_KEYS] })
app.get('/ready', async () => 'true')
await app.listen({ host: HOST, port: Number(PORT) })
