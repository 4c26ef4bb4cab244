// Whether the time of a refusal reveals its reason: node bench/refusals.mjs --tries 20000
// Keys that are unknown, have another secret, are revoked, or are expired take turns. They are sent to the verifier and
// over a kept-alive connection on loopback, with and without the cache.
import { Agent, get } from 'node:http'
import { parseArgs } from 'node:util'
import Fastify from 'fastify'
import { digestSecret, generateKey, keyText } from '../.build/package/lib/api-keys/key-text.js'
import { createVerifier } from '../.build/package/lib/api-keys/verifier.js'
import { repositoryOf } from '../.build/package/lib/storage/repository.js'
import { memory } from '../dist/adapters/memory/index.js'
import users from '../dist/lib/index.js'

const WARM_UP = 2000
const PAST = '2026-01-01T00:00:00.000Z'
const FUTURE = '2999-01-01T00:00:00.000Z'

const { values: given } = parseArgs({ options: { tries: { type: 'string', default: '20000' } } })
const tries = Number(given.tries)

const storage = memory()
const repository = repositoryOf(storage)
let n = 0
async function storedKey (members) {
  const { start, secret } = generateKey('uk')
  const record = {
    id: `key_${n++}`,
    name: 'x',
    scopes: ['users:read'],
    start,
    digest: digestSecret(secret, undefined),
    createdAt: PAST,
    expiresAt: FUTURE,
    revokedAt: null,
    lastUsedAt: null,
    rotatedFrom: null,
    rotatedAt: null,
    lifetime: null,
    ...members
  }
  await repository.apiKeys.write({ type: 'create', key: record, onlyFirst: false, event: null })
  return { start, secret }
}

/** A key for each reason of a refusal. */
const keys = {
  unknown: generateKey('uk'),
  mismatch: { ...await storedKey({}), secret: generateKey('uk').secret },
  revoked: await storedKey({ revokedAt: PAST }),
  expired: await storedKey({ expiresAt: PAST })
}

/** Mean and variance without the slowest hundredth, which garbage collection and other processes cause. */
function summaryOf (times) {
  const kept = times.sort((a, b) => a - b).slice(0, Math.floor(times.length * 0.99))
  const mean = kept.reduce((sum, time) => sum + time, 0) / kept.length
  const variance = kept.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (kept.length - 1)
  return { n: kept.length, mean, variance }
}

function shuffled (values) {
  return values.map((value) => ({ value, at: Math.random() })).sort((a, b) => a.at - b.at).map(({ value }) => value)
}

/** Times refusals for each reason. Returns a line with the mean times, and their differences from an unknown key's. */
async function compare (refuse) {
  const reasons = Object.keys(keys)
  const times = Object.fromEntries(reasons.map((reason) => [reason, []]))
  for (let i = -WARM_UP; i < tries; i++) {
    // In a new order each time, so that no reason always follows the same other one.
    for (const reason of shuffled(reasons)) {
      const from = process.hrtime.bigint()
      const refused = await refuse(keys[reason])
      const took = Number(process.hrtime.bigint() - from)
      if (!refused) throw new Error(`a key was accepted that should be refused: ${reason}`)
      if (i >= 0) times[reason].push(took)
    }
  }
  const base = summaryOf(times.unknown)
  return reasons.map((reason) => {
    if (reason === 'unknown') return `unknown ${base.mean.toFixed(0)} ns`
    const { n, mean, variance } = summaryOf(times[reason])
    const t = (mean - base.mean) / Math.sqrt(variance / n + base.variance / base.n)
    return `${reason} ${mean.toFixed(0)} ns (${(mean - base.mean).toFixed(0)} ns, Welch t ${t.toFixed(1)})`
  }).join(', ')
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** True if a request with this token is refused. */
const isRefusedOverHttp = (url, token) => new Promise((resolve, reject) => {
  get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
    response.resume().on('end', () => resolve(response.statusCode === 401))
  }).on('error', reject)
})

for (const keyCache of [5, 0]) {
  const { verify } = createVerifier({ repository, peppers: [], ttl: keyCache })
  console.log(`keyCache ${keyCache}, at the verifier: ${await compare(async (key) => await verify(key) === null)}`)
  const app = Fastify()
  await app.register(users, { storage, apiKeys: { cache: keyCache } })
  const url = `${await app.listen({ port: 0 })}/v1/users`
  console.log(`keyCache ${keyCache}, over HTTP: ${await compare((key) => isRefusedOverHttp(url, keyText(key)))}`)
  await app.close()
}
agent.destroy()
