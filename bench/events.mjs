// What the event log costs, and how fast it is read:
// node bench/events.mjs --rounds 15 --seconds 1 --events 200000 --writers 16
//
// Writes: two equal stores get the same creations and changes in turn, one with an event for each write, one without.
// The ratio is with to without, the median of the rounds. Feed: one reader goes through a long log in pages of 100, on
// PostgreSQL after writers, so that its events have no places yet when it comes.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { newId } from '../.build/package/lib/core/ids.js'
import { repositoryOf } from '../.build/package/lib/storage/repository.js'
import { memory } from '../dist/adapters/memory/index.js'
import { postgres } from '../dist/adapters/postgres.js'
import { sqlite } from '../dist/adapters/sqlite.js'
import { startPostgres } from '../test/servers/postgres.mjs'
import { RUNTIME } from './lib/machine.mjs'
import { median } from './lib/median.mjs'

const PAGE = 100
const ANY = { ifVersion: null, unlessVersion: [] }

const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    seconds: { type: 'string', default: '1' },
    events: { type: 'string', default: '200000' },
    writers: { type: 'string', default: '16' },
    stores: { type: 'string', default: 'memory,sqlite,postgres' }
  }
})
const [rounds, seconds, events, writers] =
  [given.rounds, given.seconds, given.events, given.writers].map(Number)

const server = await startPostgres({ durable: true })
const directory = await mkdtemp(join(tmpdir(), 'bench-events-'))
const make = {
  memory: () => memory(),
  sqlite: (name) => sqlite({ filename: join(directory, `${name}.db`) }),
  postgres: (name) => postgres({ connection: server.url, schema: name })
}

const eventOf = (type) => ({
  id: newId('evt'),
  type,
  timestamp: new Date().toISOString(),
  actor: { type: 'api_key', id: 'key_01h455vb4pex5vsknk084sn02q', name: null },
  requestId: 'req-1'
})

const PLAIN = { fields: {}, status: 'active', statusReason: null, version: 1 }
let number = 0
function create (store, isLogged) {
  const now = new Date().toISOString()
  const email = `user${++number}@example.org`
  const user = {
    id: newId('usr'), name: 'Ada Lovelace', email, ...PLAIN, createdAt: now, updatedAt: now
  }
  const keys = { emailKey: email, nameKey: 'ada lovelace' }
  const event = isLogged ? eventOf('user.created') : null
  return repositoryOf(store).users.writeOne({ type: 'create', user, keys, event })
}

function update (store, isLogged, id) {
  const name = `Name ${++number}`
  const changes = { name: { value: name, key: name.toLowerCase() } }
  const event = isLogged ? eventOf('user.updated') : null
  const updatedAt = new Date().toISOString()
  return repositoryOf(store).users.writeOne({ type: 'update', id, changes, updatedAt, guard: ANY, event })
}

/** Writes for some time with as many writers; returns writes per second. */
async function rate (write) {
  const end = performance.now() + seconds * 1000
  const start = performance.now()
  let count = 0
  await Promise.all(Array.from({ length: writers }, async (_, writer) => {
    while (performance.now() < end) {
      await write(writer)
      count++
    }
  }))
  return count / ((performance.now() - start) / 1000)
}

async function writes (kind) {
  const stores = []
  for (const isLogged of [false, true]) {
    const store = make[kind](`events_${isLogged ? 'with' : 'without'}`)
    await store.open({ migrate: true })
    const users = await Promise.all(Array.from({ length: 1000 }, () => create(store, false)))
    stores.push({ store, isLogged, ids: users.map(({ user: { id } }) => id) })
  }
  for (const [name, write] of [
    ['create', ({ store, isLogged }) => () => create(store, isLogged)],
    ['update', ({ store, isLogged, ids }) => () => update(store, isLogged, ids[number % ids.length])]
  ]) {
    const [ratios, rates] = [[], []]
    // The first round warms up.
    for (let round = -1; round < rounds; round++) {
      const found = {}
      for (const each of round % 2 === 0 ? stores : stores.toReversed()) {
        found[each.isLogged ? 'with' : 'without'] = await rate(write(each))
      }
      if (round < 0) continue
      ratios.push(found.with / found.without)
      rates.push(found.with)
    }
    const spread = ratios.toSorted((a, b) => a - b)
    console.log(`| ${kind} | ${name} | ${Math.round(median(rates))} | ${median(ratios).toFixed(2)} | ` +
      `${spread[0].toFixed(2)} to ${spread.at(-1).toFixed(2)} |`)
  }
  for (const { store } of stores) await store.close()
}

async function feed (kind) {
  const store = make[kind]('events_feed')
  await store.open({ migrate: true })
  const users = await Promise.all(Array.from({ length: 1000 }, () => create(store, true)))
  const ids = users.map(({ user: { id } }) => id)
  for (let done = ids.length; done < events; done += 1000) {
    await Promise.all(ids.map((id) => update(store, true, id)))
  }
  const start = performance.now()
  const seen = new Set()
  let last = null
  while (true) {
    const page = await store.log.read({ after: last, limit: PAGE, types: null })
    for (const { id } of page.events) seen.add(id)
    last = page.events.at(-1)?.id ?? last
    if (!page.more) break
  }
  const perSecond = Math.round(seen.size / ((performance.now() - start) / 1000))
  console.log(`| ${kind} | ${seen.size} | ${perSecond} |`)
  await store.close()
}

console.log(`${RUNTIME}; ${writers} writers, ${rounds} rounds of ${seconds} s\n`)
const kinds = given.stores.split(',')
console.log('| Store | Write | Per second with the log | With to without | Spread |\n|---|---|--:|--:|--:|')
for (const kind of kinds) await writes(kind)
console.log('\n| Store | Events | Read per second |\n|---|--:|--:|')
for (const kind of kinds) await feed(kind)
await server.stop()
await rm(directory, { recursive: true })
process.exit(0)
