// What a page costs at the storage, without HTTP, by number of users: the first, the middle and the last page, and
// 1,000 pages at random. Each size is measured again after a random tenth of its users was deleted:
// node bench/flat.mjs --storage postgres,sqlite,memory --sizes 1000,10000000 [--json FILE]
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { repositoryOf } from '../.build/package/lib/storage/repository.js'
import { memory } from '../dist/adapters/memory/index.js'
import { postgres } from '../dist/adapters/postgres.js'
import { sqlite } from '../dist/adapters/sqlite.js'
import { startPostgres } from '../test/servers/postgres.mjs'
import { RUNTIME } from './lib/machine.mjs'
import { median } from './lib/median.mjs'
import { createPeople, idOf } from './lib/people.mjs'
import { saveResults } from './lib/results.mjs'
import { deleteTenth, seedPostgres, seedSqlite, settlePostgres, waitForCompaction } from './lib/seed.mjs'

const ALL = { emailKey: null, words: null, fields: {} }
const TABLE = 'fastify_users_users'
const SAMPLES = 200
const ROUNDS = 5
const LIMIT = 20

const { values: given } = parseArgs({
  options: {
    storage: { type: 'string', default: 'postgres,sqlite,memory' },
    sizes: { type: 'string', default: '1000,1000000' },
    json: { type: 'string' }
  }
})

const page = (storage, offset) => storage.users.list(ALL, { order: 'asc', limit: LIMIT, from: { offset } })

/** The median time of the pages at these offsets, in milliseconds. */
async function time (storage, offsets) {
  const times = []
  for (const offset of offsets) {
    const start = performance.now()
    await page(storage, offset)
    times.push(performance.now() - start)
  }
  return median(times)
}

/**
 * The cost of each page: in milliseconds (`ms`), and divided by that of the first page of `base` (`ratio`), which is
 * timed just before. Both are medians of the rounds.
 */
async function measure (base, storage, expected) {
  const { total } = await page(storage, 0)
  if (total !== expected) throw new Error(`${total} users instead of ${expected}`)
  const last = total - LIMIT
  const offsets = { first: () => 0, middle: () => last >> 1, last: () => last, random: (i) => (i * 7_368_787) % last }
  const pages = {}
  for (const [name, offsetOf] of Object.entries(offsets)) {
    const rounds = []
    // Round -1 is a warm-up.
    for (let round = -1; round < ROUNDS; round++) {
      const samples = Array.from({ length: SAMPLES }, (_, i) => (round + 1) * SAMPLES + i)
      const first = await time(base, samples.map(() => 0))
      const ms = await time(storage, samples.map(offsetOf))
      if (round >= 0) rounds.push({ ms, ratio: ms / first })
    }
    const of = (member, digits) => Number(median(rounds.map((round) => round[member])).toFixed(digits))
    pages[name] = { ms: of('ms', 4), ratio: of('ratio', 2) }
  }
  return pages
}

async function openMemory (size) {
  const storage = memory()
  await createPeople(storage, size)
  return {
    storage,
    async deleteTenth () {
      let deleted = 0
      for (let n = 0; n < size; n++) {
        if ((n * 2_654_435_761) % 10 !== 3) continue
        const guard = { ifVersion: null, unlessVersion: [] }
        const write = { type: 'delete', id: idOf(n), guard, event: null, erase: false }
        const { code } = await repositoryOf(storage).users.writeOne(write)
        if (code === 'done') deleted++
      }
      return deleted
    },
    async stop () {}
  }
}

/** Opens a database with `size` users, all of them counted. */
async function openDatabase (kind, size, directory) {
  const server = kind === 'postgres' ? await startPostgres({ durable: true }) : undefined
  const place = server?.url ?? join(directory, `${size}.db`)
  const storage = server === undefined ? sqlite({ filename: place }) : postgres({ connection: place })
  const settle = async () => { if (server !== undefined) await settlePostgres(place) }
  await storage.open({ migrate: true })
  // Before the first compaction the triggers record no change, so bulk inserts are fast.
  if (server === undefined) await seedSqlite(place, TABLE, size, { create: false })
  else await seedPostgres(place, TABLE, size, { create: false })
  await storage.rebuildCounts()
  await settle()
  return {
    storage,
    async deleteTenth () {
      const deleted = await deleteTenth(place, TABLE)
      await waitForCompaction(place, () => page(storage, 0))
      await settle()
      return deleted
    },
    async stop () {
      await storage.close()
      await server?.stop()
    }
  }
}

/** A storage with `size` users, a function that deletes a tenth of them past the storage, and one that stops it. */
function openStorage (kind, size, directory) {
  return kind === 'memory' ? openMemory(size) : openDatabase(kind, size, directory)
}

async function requireRightCounts (storage, expected) {
  if (storage.verifyCounts === undefined) return
  const { users, counted, wrong } = await storage.verifyCounts()
  if (users === expected && counted === expected && wrong === 0) return
  throw new Error(`${expected} users expected, ${users} in the table, ${counted} counted, ${wrong} numbers wrong`)
}

const cellOf = ({ ms, ratio }) => `${ms.toFixed(4)} (${ratio.toFixed(2)})`
const rows = []

function report (label, row) {
  rows.push(row)
  console.log(`| ${label} | ${Object.values(row.pages).map(cellOf).join(' | ')} |`)
}

/** Measures every size on one storage. */
async function measureSizes (kind, directory) {
  console.log(`| ${kind} | first | middle | last | random |\n|---|--:|--:|--:|--:|`)
  const [smallest, ...sizes] = given.sizes.split(',').map(Number).sort((a, b) => a - b)
  const rowOf = (users, tenthDeleted, pages) => ({ storage: kind, base: smallest, users, tenthDeleted, pages })
  const base = await openStorage(kind, smallest, directory)
  report(`${smallest} users`, rowOf(smallest, false, await measure(base.storage, base.storage, smallest)))
  for (const size of sizes) {
    const { storage, deleteTenth, stop } = await openStorage(kind, size, directory)
    report(`${size} users`, rowOf(size, false, await measure(base.storage, storage, size)))
    const left = size - await deleteTenth()
    // Not reported: the database still cleans up after compaction.
    await measure(base.storage, storage, left)
    report(`${left} of them left`, rowOf(size, true, await measure(base.storage, storage, left)))
    await requireRightCounts(storage, left)
    await stop()
  }
  await base.stop()
  console.log()
}

console.log(`Milliseconds of a page at the storage: median of ${ROUNDS} rounds, each the median of ${SAMPLES} pages.`)
console.log('In brackets: divided by the first page of the smallest table, which is timed alternately.')
console.log(`${RUNTIME}\n`)
const directory = await mkdtemp(join(tmpdir(), 'fastify-users-flat-'))
try {
  for (const kind of given.storage.split(',')) await measureSizes(kind, directory)
} finally {
  await rm(directory, { recursive: true, force: true })
}
if (given.json !== undefined) {
  await saveResults(given.json, { kind: 'pages', samples: SAMPLES, rounds: ROUNDS, rows })
}
process.exit(0)
