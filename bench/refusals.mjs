// Whether the time of a refusal tells why: keys that are unknown, of another secret, revoked and expired, interleaved, with and without the cache, at the
// verifier and over a kept-alive connection on loopback: node bench/refusals.mjs --tries 20000
import { Agent, get } from 'node:http'
import { parseArgs } from 'node:util'
import Fastify from 'fastify'
import { memory } from '../dist/adapters/memory/index.js'
import { digestSecret, generateKey, keyText } from '../.build/package/lib/api-keys/key-text.js'
import { createVerifier } from '../.build/package/lib/api-keys/verifier.js'
import { createGate } from '../.build/package/lib/http/gate.js'
import users from '../dist/lib/index.js'

const { values: given } = parseArgs({ options: { tries: { type: 'string', default: '20000' } } })
const tries = Number(given.tries)

const storage = memory()
let n = 0
async function kept (members) {
  const { start, secret } = generateKey('uk')
  const record = { id: `key_${n++}`, name: 'x', scopes: ['users:read'], start, digest: digestSecret(secret, undefined), createdAt: '2026-01-01T00:00:00.000Z', expiresAt: '2999-01-01T00:00:00.000Z', revokedAt: null, lastUsedAt: null, rotatedFrom: null, lifetime: null, ...members }
  await storage.createApiKey(record, { onlyFirst: false })
  return { start, secret }
}
const classes = {
  unknown: generateKey('uk'),
  mismatch: { ...await kept({}), secret: generateKey('uk').secret },
  revoked: await kept({ revokedAt: '2026-01-01T00:00:00.000Z' }),
  expired: await kept({ expiresAt: '2026-01-01T00:00:00.000Z' })
}

/** Mean and variance without the slowest hundredth, where the collector and the machine speak. */
function summary (times) {
  const kept = times.sort((a, b) => a - b).slice(0, Math.floor(times.length * 0.99))
  const mean = kept.reduce((sum, time) => sum + time, 0) / kept.length
  return { n: kept.length, mean, variance: kept.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (kept.length - 1) }
}

/** Times a refusal of each class, in another order each time, so that nobody always follows the same one; gives a line of means and their differences. */
async function compare (refuse) {
  const names = Object.keys(classes)
  const times = Object.fromEntries(names.map((name) => [name, []]))
  for (let i = -2000; i < tries; i++) {
    for (const name of names.map((name) => ({ name, at: Math.random() })).sort((a, b) => a.at - b.at).map(({ name }) => name)) {
      const from = process.hrtime.bigint()
      const refused = await refuse(classes[name])
      const took = Number(process.hrtime.bigint() - from)
      if (!refused) throw new Error(`${name} was let in`)
      if (i >= 0) times[name].push(took)
    }
  }
  const base = summary(times.unknown)
  return names.map((name) => {
    const { n, mean, variance } = summary(times[name])
    const t = (mean - base.mean) / Math.sqrt(variance / n + base.variance / base.n)
    return `${name} ${mean.toFixed(0)} ns${name === 'unknown' ? '' : ` (${(mean - base.mean).toFixed(0)} ns, Welch t ${t.toFixed(1)})`}`
  }).join(', ')
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** Whether a request with this token is refused. */
const refusedOverHttp = (url, token) => new Promise((resolve, reject) => {
  get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
    response.resume().on('end', () => resolve(response.statusCode === 401))
  }).on('error', reject)
})

for (const keyCache of [5, 0]) {
  const { verify } = createVerifier({ storage, peppers: [], keyCache, gate: createGate(undefined) })
  console.log(`keyCache ${keyCache}, at the verifier: ${await compare(async (key) => await verify(key) === null)}`)
  const app = Fastify()
  await app.register(users, { storage, keyCache })
  const address = await app.listen({ port: 0 })
  console.log(`keyCache ${keyCache}, over HTTP: ${await compare((key) => refusedOverHttp(`${address}/v1/users`, keyText(key)))}`)
  await app.close()
}
agent.destroy()
