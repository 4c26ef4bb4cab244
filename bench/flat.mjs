// What a page costs at the storage, first, middle, last and at 1,000 random places, at several sizes, and again after a tenth of the users was deleted at random:
// node bench/flat.mjs --storage postgres,sqlite,memory --sizes 1000,10000000
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { memory } from '../dist/adapters/memory/index.js'
import { postgres } from '../dist/adapters/postgres.js'
import { sqlite } from '../dist/adapters/sqlite.js'
import { startPostgres } from '../test/servers/postgres.mjs'
import { median } from './lib/median.mjs'
import { idOf, personOf } from './lib/people.mjs'
import { changesOf, deleteTenth, seedPostgres, seedSqlite, settlePostgres } from './lib/seed.mjs'

const ALL = { emailKey: null, prefix: null, fields: {} }
const TABLE = 'fastify_users_users'
const SAMPLES = 200
const ROUNDS = 5
const LIMIT = 20

const { values: given } = parseArgs({ options: { storage: { type: 'string', default: 'postgres,sqlite,memory' }, sizes: { type: 'string', default: '1000,1000000' } } })

/** Milliseconds of a page at each of these offsets: the median. */
async function time (storage, offsets) {
  const taken = []
  for (const offset of offsets) {
    const start = performance.now()
    await page(storage, offset)
    taken.push(performance.now() - start)
  }
  return median(taken)
}

const page = (storage, offset) => storage.listUsers(ALL, { order: 'asc', limit: LIMIT, from: { offset } })

/** What each page costs, in milliseconds and against the first page of `base`, which is timed anew right before each: the medians of the rounds. */
async function measure (base, storage, expected) {
  const { total } = await page(storage, 0)
  if (total !== expected) throw new Error(`${total} users instead of ${expected}`)
  const last = total - LIMIT
  const offsets = { first: () => 0, middle: () => last >> 1, last: () => last, random: (i) => (i * 7_368_787) % last }
  const cells = []
  for (const offsetOf of Object.values(offsets)) {
    const rounds = []
    // The first only warms up.
    for (let round = -1; round < ROUNDS; round++) {
      const samples = Array.from({ length: SAMPLES }, (_, i) => (round + 1) * SAMPLES + i)
      const first = await time(base, samples.map(() => 0))
      const ms = await time(storage, samples.map(offsetOf))
      if (round >= 0) rounds.push({ ms, ratio: ms / first })
    }
    cells.push(`${median(rounds.map(({ ms }) => ms)).toFixed(4)} (${median(rounds.map(({ ratio }) => ratio)).toFixed(2)})`)
  }
  return cells.join(' | ')
}

/** A storage with so many users, what deletes a tenth of them behind its back, and what ends it. */
async function openStorage (kind, size, directory) {
  if (kind === 'memory') {
    const storage = memory()
    for (let n = 0; n < size; n++) {
      const { name_key: nameKey, email_key: emailKey, created_at: createdAt, updated_at: updatedAt, ...person } = personOf(n)
      await storage.createUser({ ...person, fields: {}, createdAt, updatedAt }, { nameKey, emailKey }, null)
    }
    return {
      storage,
      async thin () {
        let deleted = 0
        for (let n = 0; n < size; n++) {
          if ((n * 2_654_435_761) % 10 === 3 && await storage.deleteUser(idOf(n), { ifVersion: null, unlessVersion: [] }) !== null) deleted++
        }
        return deleted
      },
      async stop () {}
    }
  }
  const server = kind === 'postgres' ? await startPostgres({ durable: true }) : undefined
  const place = server?.url ?? join(directory, `${size}.db`)
  const open = () => kind === 'postgres' ? postgres({ connection: place }) : sqlite({ filename: place })
  const former = open()
  await former.migrate()
  await former.rollback(2)
  await former.close()
  if (kind === 'postgres') await seedPostgres(place, TABLE, size, { create: false })
  else await seedSqlite(place, TABLE, size, { create: false })
  // The migration counts in the users that are there.
  const storage = open()
  await storage.migrate()
  if (kind === 'postgres') await settlePostgres(place)
  return {
    storage,
    async thin () {
      const deleted = await deleteTenth(place, TABLE)
      // A list notices that there is something to fold, and has it done in the background.
      await storage.listUsers(ALL, { order: 'asc', limit: LIMIT, from: { offset: 0 } })
      while (await changesOf(place) >= 512) await delay(200)
      if (kind === 'postgres') await settlePostgres(place)
      return deleted
    },
    async stop () {
      await storage.close()
      await server?.stop()
    }
  }
}

console.log(`Milliseconds at the storage: p50 of ${SAMPLES} pages, the median of ${ROUNDS} rounds; in brackets: × the first page of the smallest table, timed in turn. node ${process.version}, ${cpus().length} × ${cpus()[0].model}\n`)
const directory = await mkdtemp(join(tmpdir(), 'fastify-users-flat-'))
try {
  for (const kind of given.storage.split(',')) {
    console.log(`| ${kind} | first | middle | last | random |\n|---|--:|--:|--:|--:|`)
    const [smallest, ...sizes] = given.sizes.split(',').map(Number).sort((a, b) => a - b)
    const base = await openStorage(kind, smallest, directory)
    console.log(`| ${smallest} users | ${await measure(base.storage, base.storage, smallest)} |`)
    for (const size of sizes) {
      const { storage, thin, stop } = await openStorage(kind, size, directory)
      console.log(`| ${size} users | ${await measure(base.storage, storage, size)} |`)
      const left = size - await thin()
      // What was folded is still being tidied up.
      await measure(base.storage, storage, left)
      console.log(`| ${left} left of them | ${await measure(base.storage, storage, left)} |`)
      if ('checkCounts' in storage) {
        const { users, counted, wrong } = await storage.checkCounts()
        if (users !== left || counted !== left || wrong !== 0) throw new Error(`${counted} counted, ${users} there, ${wrong} numbers wrong`)
      }
      await stop()
    }
    await base.stop()
    console.log()
  }
} finally {
  await rm(directory, { recursive: true, force: true })
}
process.exit(0)
