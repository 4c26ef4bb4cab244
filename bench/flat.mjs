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
import { idOf, personOf } from './lib/people.mjs'
import { changesOf, deleteTenth, seedPostgres, seedSqlite } from './lib/seed.mjs'

const ALL = { emailKey: null, prefix: null }
const TABLE = 'fastify_users_users'
const SAMPLES = 1000
const LIMIT = 20

const { values: given } = parseArgs({ options: { storage: { type: 'string', default: 'postgres,sqlite,memory' }, sizes: { type: 'string', default: '1000,1000000' } } })

function median (values) {
  return values.sort((a, b) => a - b)[values.length >> 1]
}

/** The median of so many calls in milliseconds, after as many that only warm up. */
async function time (call) {
  const taken = []
  for (let i = 0; i < 2 * SAMPLES; i++) {
    const start = performance.now()
    await call(i)
    if (i >= SAMPLES) taken.push(performance.now() - start)
  }
  return median(taken)
}

async function measure (storage, expected) {
  const page = (offset) => storage.listUsers(ALL, { order: 'asc', limit: LIMIT, from: { offset } })
  const { total } = await page(0)
  if (total !== expected) throw new Error(`${total} users instead of ${expected}`)
  const last = total - LIMIT
  return {
    first: await time(() => page(0)),
    middle: await time(() => page(last >> 1)),
    last: await time(() => page(last)),
    random: await time((i) => page((i * 7_368_787) % last))
  }
}

/** A storage with so many users, what deletes a tenth of them behind its back, and what ends it. */
async function openStorage (kind, size, directory) {
  if (kind === 'memory') {
    const storage = memory()
    for (let n = 0; n < size; n++) {
      const { name_key: nameKey, email_key: emailKey, created_at: createdAt, updated_at: updatedAt, ...person } = personOf(n)
      await storage.createUser({ ...person, createdAt, updatedAt }, { nameKey, emailKey }, null)
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
  return {
    storage,
    async thin () {
      const deleted = await deleteTenth(place, TABLE)
      // A list notices that there is something to fold, and has it done in the background.
      await storage.listUsers(ALL, { order: 'asc', limit: LIMIT, from: { offset: 0 } })
      while (await changesOf(place) >= 512) await delay(200)
      return deleted
    },
    async stop () {
      await storage.close()
      await server?.stop()
    }
  }
}

const shown = ({ first, middle, last, random }, base) => [first, middle, last, random].map((ms) => `${ms.toFixed(3)} (${(ms / base).toFixed(2)})`).join(' | ')

console.log(`Milliseconds at the storage, p50 of ${SAMPLES} after as many to warm up; in brackets: × the first page of the smallest table. node ${process.version}, ${cpus().length} × ${cpus()[0].model}\n`)
const directory = await mkdtemp(join(tmpdir(), 'fastify-users-flat-'))
try {
  for (const kind of given.storage.split(',')) {
    console.log(`| ${kind} | first | middle | last | random |\n|---|--:|--:|--:|--:|`)
    let base
    for (const size of given.sizes.split(',').map(Number)) {
      const { storage, thin, stop } = await openStorage(kind, size, directory)
      const before = await measure(storage, size)
      base ??= before.first
      console.log(`| ${size} users | ${shown(before, base)} |`)
      const left = size - await thin()
      // What was folded is still being tidied up.
      await measure(storage, left)
      console.log(`| ${left} left of them | ${shown(await measure(storage, left), base)} |`)
      if ('checkCounts' in storage) {
        const { users, counted, wrong } = await storage.checkCounts()
        if (users !== left || counted !== left || wrong !== 0) throw new Error(`${counted} counted, ${users} there, ${wrong} numbers wrong`)
      }
      await stop()
    }
    console.log()
  }
} finally {
  await rm(directory, { recursive: true, force: true })
}
process.exit(0)
