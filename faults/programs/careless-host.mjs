// A host whose store reads, checks and then writes: what a careless adapter does. Requests go to two mounts in turn, as
// to two processes: in one of them the writers of a user wait for each other.
import { setTimeout } from 'node:timers/promises'
import Fastify from 'fastify'
import { users } from 'fastify-users'
import { memory } from 'fastify-users/adapters/memory'

const { API_KEYS, HOST, PORT } = process.env
const storage = memory()
const { find } = storage

async function commit (units) {
  const [{ writes: [write, ...more] = [] } = {}, ...others] = units
  const isChange = write?.in === 'users' && write.was !== null && write.put !== null
  if (!isChange || more.length > 0 || others.length > 0) return storage.commit(units)
  const { id, version } = write.was.record
  const present = async () => (await find('users', [{ id }]))[0]
  const before = await present()
  await setTimeout(1)
  if (before?.record.version !== version) return [{ code: 'changed', at: 0 }]
  const was = await present()
  return was === null ? [{ code: 'changed', at: 0 }] : storage.commit([{ ...units[0], writes: [{ ...write, was }] }])
}

let requests = 0
const app = Fastify({ rewriteUrl: ({ url }) => url.startsWith('/v1') ? `/${requests++ % 2}${url}` : url })
for (const n of [0, 1]) {
  await app.register(users, {
    prefix: `/${n}/v1`, decoratorName: `users${n}`, storage: { ...storage, commit }, apiKeys: { static: [API_KEYS] }
  })
}
app.get('/ready', async () => 'true')
await app.listen({ host: HOST, port: Number(PORT) })
