// What app.users.guard() adds to a request of the host's, with a key that is known: node bench/guard.mjs
// The hook alone, on requests that Fastify made, against an empty hook; in turns, medians. Requests of light-my-request
// take ten times as long, and vary by more than this.
import Fastify from 'fastify'
import users from 'fastify-users'
import { memory } from 'fastify-users/adapters/memory'
import { median } from './lib/median.mjs'

const ROUNDS = 41
const REQUESTS = 20_000

const app = Fastify()
await app.register(users, { storage: memory(), apiKeys: { scopes: { 'orders:read': 'Read orders' } } })
const { key } = await app.users.apiKeys.create({ name: 'shop', scopes: ['orders:read'] })
const guard = app.users.guard('orders:read')
const empty = (_request, _reply, done) => done()
let sample
app.get('/orders', { onRequest: guard }, async (request) => { sample = request })
await app.inject({ url: '/orders', headers: { authorization: `Bearer ${key}` } })

/** Microseconds for a call of a hook. */
function timeOf (hook) {
  const { constructor: Request, raw, log } = sample
  const requests = Array.from({ length: REQUESTS }, (_, i) => new Request(String(i), {}, raw, {}, log, {}))
  const begun = process.hrtime.bigint()
  for (const request of requests) hook(request, null, () => {})
  return Number(process.hrtime.bigint() - begun) / 1000 / REQUESTS
}

timeOf(guard)
timeOf(empty)
const added = Array.from({ length: ROUNDS }, () => timeOf(guard) - timeOf(empty))
console.log(`the guard adds ${median(added).toFixed(2)} µs`)
await app.close()
