// What the tracing channels cost while nobody listens: node bench/tracing.mjs --rounds 15
//
// A request of the shortest kind (a user in memory by its id) goes through one check of the key, one operation and one
// call of the storage. Each of these is timed as the plugin does it and as it would be without channels, in turn; the
// share is of the time of the whole request, without its way through a socket.
import { parseArgs } from 'node:util'
import Fastify from 'fastify'
import { doorOf } from '../.build/package/lib/storage/door.js'
import { channels, traced } from '../.build/package/lib/storage/tracing.js'
import { memory } from '../dist/adapters/memory/index.js'
import users from '../dist/lib/index.js'
import { RUNTIME } from './lib/machine.mjs'
import { median } from './lib/median.mjs'

const { values: given } = parseArgs({ options: { rounds: { type: 'string', default: '15' } } })
const rounds = Number(given.rounds)
const CALLS = 200_000
const REQUESTS = 5000

/** Nanoseconds of a call. */
async function timeOf (call, calls) {
  const begun = process.hrtime.bigint()
  for (let i = 0; i < calls; i++) await call()
  return Number(process.hrtime.bigint() - begun) / calls
}

const app = Fastify()
await app.register(users, { prefix: '/v1', storage: memory(), migrate: true })
const user = await app.users.create({ name: 'Ada', email: 'ada@example.org' })
const { key } = await app.users.apiKeys.create({ name: 'bench' })
const request = () => app.inject({ url: `/v1/users/${user.id}`, headers: { authorization: `Bearer ${key}` } })

const storage = memory()
const door = doorOf(storage)
const work = async () => null
const pairs = {
  'a call of the storage': [() => door.users.find(user.id), () => storage.users.find(user.id)],
  'an operation, or a check of a key': [
    () => traced(channels.operation, () => ({ operation: 'getUser', requestId: 'x' }), work), () => work(null)
  ]
}
const times = Object.fromEntries(Object.keys(pairs).map((name) => [name, []]))
const whole = []
for (let round = 0; round < rounds; round++) {
  whole.push(await timeOf(request, REQUESTS))
  for (const [name, [told, plain]] of Object.entries(pairs)) {
    const order = round % 2 === 0 ? [told, plain] : [plain, told]
    const [first, second] = [await timeOf(order[0], CALLS), await timeOf(order[1], CALLS)]
    times[name].push(round % 2 === 0 ? first - second : second - first)
  }
}
await app.close()
const [call, operation] = Object.values(times).map((each) => median(each))
console.log(`${RUNTIME}; medians of ${rounds} rounds\n`)
for (const [name, each] of Object.entries(times)) console.log(`${name}: ${median(each).toFixed(0)} ns more`)
const share = (call + 2 * operation) / median(whole)
const micros = (median(whole) / 1000).toFixed(1)
console.log(`a whole request: ${micros} µs, of which the channels are ${(share * 100).toFixed(2)} %`)
