// What a page of a tenant costs at the storage, as a ratio to the same page of a table without tenants that has as
// many users, and how many creations in process a mount with 100 tenants makes, as a ratio to one without tenants.
// `--scale 10` has 100,000 tenants with 100 users each, 100 with 100,000, and one with ten million beside 10,000 small
// ones.
// node bench/tenants.mjs --storage postgres,sqlite [--scale 1] [--parts pages,creations] [--json FILE]
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Fastify from 'fastify'
import { postgres } from '../dist/adapters/postgres.js'
import { sqlite } from '../dist/adapters/sqlite.js'
import users from '../dist/lib/index.js'
import { startPostgres } from '../test/servers/postgres.mjs'
import { median } from './lib/median.mjs'
import { saveResults } from './lib/results.mjs'
import { plainSql, settlePostgres } from './lib/seed.mjs'

const TABLE = 'fastify_users_users'
const SAMPLES = 100
const ROUNDS = 15
const LIMIT = 20
const CREATION_ROUNDS = 15
const CREATION_MS = 1500
const CLIENTS = 32

const { values: given } = parseArgs({
  options: {
    storage: { type: 'string', default: 'postgres,sqlite' },
    scale: { type: 'string', default: '1' },
    parts: { type: 'string', default: 'pages,creations' },
    json: { type: 'string' }
  }
})
const scale = Number(given.scale)
const parts = given.parts.split(',')

/** The users of a database, and the tenant of the nth, as an expression in SQL; none of a table without tenants. */
const shapes = [
  { name: 'small tenants', size: 100, users: 1_000_000 * scale, tenant: `'t' || (n % ${10_000 * scale})` },
  { name: 'middle tenants', size: 10_000 * scale, users: 1_000_000 * scale, tenant: "'t' || (n % 100)" },
  {
    name: 'a large one, small ones',
    size: 1_000_000 * scale,
    users: 1_100_000 * scale,
    tenant: "CASE WHEN n % 11 = 0 THEN 's' || (n / 11 % 10000) ELSE 't0' END"
  }
]

const filterOf = (tenant) => ({ emailKey: null, words: null, fields: {}, ...(tenant !== null && { tenant }) })
const page = (storage, tenant, order, offset) =>
  storage.users.list(filterOf(tenant), { order, limit: LIMIT, from: { offset } })

const storageAt = (kind, place) => kind === 'postgres' ? postgres({ connection: place }) : sqlite({ filename: place })

/** A storage with so many users, inserted by plain SQL in the order of their ids. */
async function fill (kind, place, users, tenant) {
  const isPostgres = kind === 'postgres'
  const storage = storageAt(kind, place)
  await storage.open({ migrate: true })
  const [id, now, series] = isPostgres
    ? ["lpad(n::text, 25, '0')", 'now()', `generate_series(0, ${users - 1}) AS g (n)`]
    : ["printf('%025d', n)", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')", '(WITH RECURSIVE g (n) AS ' +
        `(SELECT 0 UNION ALL SELECT n + 1 FROM g WHERE n < ${users - 1}) SELECT n FROM g)`]
  await plainSql(place, `INSERT INTO ${TABLE}
    (id, name, name_key, email, email_key, version, created_at, updated_at, tenant)
    SELECT 'usr_0' || ${id}, 'User ' || n, 'user ' || n, n || '@example.org', n || '@example.org', 1, ${now}, ${now},
      ${tenant ?? "''"} FROM ${series}`)
  if (isPostgres) await settlePostgres(place)
  await storage.rebuildCounts()
  return storage
}

/** Lists until compaction has nothing left to do. */
async function settle (kind, place, storage, tenant) {
  const scope = tenant ?? ''
  const whose = tenant === null ? '' : ` AND tenant = '${tenant}' AND tenant <> ''`
  const boundary = `coalesce((SELECT boundary FROM fastify_users_counting_state WHERE scope = '${scope}'), '')`
  while (true) {
    const { rows: [{ n }] } =
      await plainSql(place, `SELECT count(*) AS n FROM ${TABLE} WHERE id >= ${boundary}${whose}`)
    if (Number(n) < 640) break
    await page(storage, tenant, 'asc', 0)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  if (kind === 'postgres') await settlePostgres(place)
}

async function time (storage, tenant, order, offsets) {
  const times = []
  for (const offset of offsets) {
    const start = performance.now()
    await page(storage, tenant, order, offset)
    times.push(performance.now() - start)
  }
  return median(times)
}

/** The cost of each page of a tenant, in milliseconds, and the ratio to the same page of the table without tenants. */
async function measure (plain, storage, tenant, size) {
  for (const [each, of] of [[plain, null], [storage, tenant]]) {
    const { total } = await page(each, of, 'asc', 0)
    if (total !== size) throw new Error(`${total} users instead of ${size}`)
  }
  const last = size - LIMIT
  const offsets = { first: () => 0, middle: () => last >> 1, last: () => last, random: (i) => (i * 7_368_787) % last }
  const kinds = Object.entries(offsets).flatMap(([name, offsetOf]) =>
    ['asc', 'desc'].map((order) => ({ name: `${name} ${order}`, order, offsetOf, rounds: [] })))
  // Round -1 is a warm-up. Each round has every page, so that what else the machine does meanwhile hits none of them in
  // all its rounds.
  for (let round = -1; round < ROUNDS; round++) {
    for (const { order, offsetOf, rounds } of kinds) {
      const places = Array.from({ length: SAMPLES }, (_, i) => offsetOf((round + 1) * SAMPLES + i))
      const base = await time(plain, null, order, places)
      const ms = await time(storage, tenant, order, places)
      if (round >= 0) rounds.push({ base, ms, ratio: ms / base })
    }
  }
  const pages = {}
  for (const { name, rounds } of kinds) {
    const of = (member) => Number(median(rounds.map((each) => each[member])).toFixed(3))
    pages[name] = { base: of('base'), ms: of('ms'), ratio: of('ratio') }
  }
  return pages
}

/** Creates users for a while, as so many clients at once. Returns how many a second. */
async function creationsOf (create) {
  const start = performance.now()
  let made = 0
  const client = async () => {
    while (performance.now() < start + CREATION_MS) {
      const word = Math.random().toString(36).slice(2, 12)
      await create({ name: word, email: `${word}${made}@example.org` })
      made++
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return made / (performance.now() - start) * 1000
}

/** Creations a second in 100 tenants, and the ratio to those of a mount without tenants, in turn. */
async function measureCreations (kind, places) {
  const [plain, tenants] = await Promise.all(places.map(async (place, i) => {
    const app = Fastify()
    await app.register(users, { prefix: '/', storage: storageAt(kind, place), migrate: true, tenants: i === 1 })
    await app.ready()
    return app
  }))
  const of = Array.from({ length: 100 }, (_, i) => tenants.users.tenant(`t${i}`))
  let n = 0
  const ways = [(input) => plain.users.create(input), (input) => of[n++ % of.length].create(input)]
  const rounds = []
  for (let round = -1; round < CREATION_ROUNDS; round++) {
    const made = []
    // Each begins every second round: what comes first may be slower.
    for (const i of round % 2 === 0 ? [0, 1] : [1, 0]) made[i] = await creationsOf(ways[i])
    if (round >= 0) rounds.push({ base: made[0], made: made[1], ratio: made[1] / made[0] })
  }
  await Promise.all([plain.close(), tenants.close()])
  const of50 = (member, digits) => Number(median(rounds.map((each) => each[member])).toFixed(digits))
  return { storage: kind, base: of50('base', 0), made: of50('made', 0), ratio: of50('ratio', 3) }
}

const [pageRows, creationRows] = [[], []]
const directory = await mkdtemp(join(tmpdir(), 'bench-tenants-'))

/** Where a database without tenants and one with tenants are, and what stops their servers. */
async function placesFor (kind, name) {
  const servers = kind === 'postgres'
    ? [await startPostgres({ durable: true }), await startPostgres({ durable: true })]
    : []
  const files = [`${name} plain`, name].map((file) => join(directory, `${file}.db`))
  return {
    places: kind === 'postgres' ? servers.map(({ url }) => url) : files,
    stop: async () => { for (const server of servers) await server.stop() }
  }
}

try {
  for (const kind of given.storage.split(',')) {
    for (const { name, size, users, tenant } of parts.includes('pages') ? shapes : []) {
      const { places, stop } = await placesFor(kind, name)
      const plain = await fill(kind, places[0], size, null)
      const storage = await fill(kind, places[1], users, tenant)
      const [first, other] = tenant.startsWith('CASE') ? ['t0', 's7'] : ['t0', 't7']
      await settle(kind, places[0], plain, null)
      await settle(kind, places[1], storage, null)
      await settle(kind, places[1], storage, first)
      await page(storage, other, 'asc', 0)
      const pages = await measure(plain, storage, first, size)
      const dearest = (member) => Math.max(...Object.values(pages).map((each) => each[member]))
      const ratio = Number((dearest('ms') / dearest('base')).toFixed(2))
      pageRows.push({ storage: kind, shape: name, size, users, ratio, pages })
      console.log(`${kind}, ${name}: dearest page ${dearest('ms')} ms, without tenants ${dearest('base')} ms: ${ratio}`)
      console.log(JSON.stringify(pages))
      await Promise.all([plain.close(), storage.close()])
      await stop()
    }
    if (!parts.includes('creations')) continue
    const { places, stop } = await placesFor(kind, 'creations')
    const creations = await measureCreations(kind, places)
    await stop()
    creationRows.push(creations)
    console.log(`${kind}, creations: ${JSON.stringify(creations)}`)
  }
} finally {
  await rm(directory, { recursive: true, force: true })
}
if (given.json !== undefined) {
  await saveResults(given.json, { kind: 'tenants', scale, pages: pageRows, creations: creationRows })
}
