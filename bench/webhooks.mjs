// Deliveries a second of a process to ten endpoints, alone and beside one that never answers:
// node bench/webhooks.mjs --storage postgres,sqlite [--users 1000] [--rounds 5]
//
// The receivers are a process of their own, which answers 204 and counts. The time is that from the first of so many
// creations until each of the ten has them all.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import Fastify from 'fastify'
import { postgres } from '../dist/adapters/postgres.js'
import { sqlite } from '../dist/adapters/sqlite.js'
import users from '../dist/lib/index.js'
import webhooks from '../dist/lib/webhooks.js'
import { RUNTIME } from './lib/machine.mjs'
import { median } from './lib/median.mjs'
import { atEach, openPlace } from './lib/places.mjs'

const ENDPOINTS = 10

/** Ten receivers that answer, and one that does not. Says its ports, and after each `expect` when all have so many. */
async function receive () {
  let expected = Infinity
  const counts = Array.from({ length: ENDPOINTS }, () => 0)
  const servers = [...counts, null].map((_, i) => createServer((request, response) => {
    request.resume().on('end', () => {
      if (i === ENDPOINTS) return
      counts[i]++
      response.writeHead(204).end()
      if (counts.every((count) => count >= expected)) {
        expected = Infinity
        process.send('all')
      }
    })
  }))
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening')
  process.on('message', (more) => { expected = counts[0] + more })
  process.send(servers.map((server) => server.address().port))
}

async function measure (storage, { directory, stops }, { people, rounds }) {
  for (const hangs of [false, true]) {
    const place = await openPlace(storage, { directory, name: `webhooks-${hangs}`, size: 100 })
    if (place.stop !== undefined) stops.push(place.stop)
    const receivers = fork(import.meta.filename, ['receive'])
    stops.push(() => receivers.kill())
    const [ports] = await once(receivers, 'message')
    const app = Fastify()
    await app.register(users, {
      prefix: '/v1',
      storage: storage === 'postgres' ? postgres({ connection: place.url }) : sqlite({ filename: place.url }),
      eventLog: true
    })
    await app.register(webhooks, { allowHttp: true, allowedNetworks: ['127.0.0.0/8'] })
    await app.ready()
    for (const port of ports.slice(0, hangs ? ENDPOINTS + 1 : ENDPOINTS)) {
      await app.webhooks.create({ url: `http://127.0.0.1:${port}/`, types: ['user.created'] })
    }
    const found = []
    for (let round = -1; round < rounds; round++) {
      receivers.send(people)
      const cpu = process.cpuUsage()
      const start = performance.now()
      const all = once(receivers, 'message')
      await Promise.all(Array.from({ length: people }, (_, i) =>
        app.users.create({ name: `New ${i}`, email: `r${round}.${i}@example.com` })))
      await all
      const seconds = (performance.now() - start) / 1000
      const { user, system } = process.cpuUsage(cpu)
      const deliveries = people * ENDPOINTS
      if (round >= 0) found.push({ rate: deliveries / seconds, cpu: (user + system) / deliveries })
    }
    const of = (member) => Math.round(median(found.map((each) => each[member])))
    console.log(`| ${storage} | ${hangs ? 'one more hangs' : 'all answer'} | ${of('rate')} | ${of('cpu')} |`)
    receivers.kill()
    await app.close()
  }
}

if (process.argv[2] === 'receive') {
  await receive()
} else {
  const { values: given } = parseArgs({
    options: {
      storage: { type: 'string', default: 'postgres,sqlite' },
      users: { type: 'string', default: '1000' },
      rounds: { type: 'string', default: '5' }
    }
  })
  const [people, rounds] = [Number(given.users), Number(given.rounds)]
  console.log(`${RUNTIME}; ${people} users, ${ENDPOINTS} endpoints, ${rounds} rounds\n`)
  console.log('| Storage | Endpoints | Deliveries per second | Node.js CPU µs |\n|---|---|--:|--:|')
  await atEach(given.storage.split(','), (storage, at) => measure(storage, at, { people, rounds }))
  process.exit(0)
}
