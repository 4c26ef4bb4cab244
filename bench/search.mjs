// What searches and orders cost at the storage, and beside SQL by hand on the same table: by LIKE '%word%', and by the
// same index. Then how many creations in process the index of words leaves.
// node bench/search.mjs --storage postgres,sqlite [--users 1000000] [--parts searches,creations] [--json FILE]
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
import { connectionTo, plainSql, settlePostgres } from './lib/seed.mjs'

const TABLE = 'fastify_users_users'
const WORDS = 'fastify_users_user_words'
const ROUNDS = 9
const CREATION_ROUNDS = 15
const CREATION_MS = 1500
const CLIENTS = 32

const { values: given } = parseArgs({
  options: {
    storage: { type: 'string', default: 'postgres,sqlite' },
    users: { type: 'string', default: '1000000' },
    parts: { type: 'string', default: 'searches,creations' },
    json: { type: 'string' }
  }
})
const size = Number(given.users)
const parts = given.parts.split(',')

const storageAt = (kind, place) => kind === 'postgres' ? postgres({ connection: place }) : sqlite({ filename: place })
const idOf = (n) => `usr_0${String(n).padStart(25, '0')}`
/** The last name of the nth user and its number: a word that nobody else has. */
const rareWord = (n) => `l${n * 7919 % 8009}x${n}`

/** Inserts users by plain SQL: a tenth are called Anna, and each has a last name that about a hundred others have. */
async function fill (kind, place) {
  const storage = storageAt(kind, place)
  await storage.open({ migrate: true, filterable: ['plan'] })
  const isPostgres = kind === 'postgres'
  const plan = '\'{"plan":"p\' || (n % 100) || \'"}\''
  const [id, moment, fields] = isPostgres
    ? ["lpad(n::text, 25, '0')", "timestamptz '2026-01-01' + n * interval '1 ms'", `CAST(${plan} AS json)`]
    : ["printf('%025d', n)", "strftime('%Y-%m-%dT%H:%M:%fZ', 1767225600 + n / 1000.0, 'unixepoch')", plan]
  const first = "(CASE WHEN n % 10 = 0 THEN 'anna' ELSE 'f' || (n % 397) END)"
  const last = "('l' || (n * 7919 % 8009))"
  for (let from = 0; from < size; from += 50_000) {
    const to = Math.min(size, from + 50_000) - 1
    const series = isPostgres
      ? `(SELECT n::bigint AS n FROM generate_series(${from}, ${to}) AS g (n)) AS g`
      : `(WITH RECURSIVE g (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM g WHERE n < ${to}) SELECT n FROM g)`
    await plainSql(place, `INSERT INTO ${TABLE} (id, name, name_key, email, email_key, version, created_at, updated_at,
        fields, name_words, email_words)
      SELECT 'usr_0' || ${id}, ${first} || ' ' || ${last}, ${first} || ' ' || ${last}, ${first} || '.' || ${last} ||
        'x' || n || '@example.com', ${first} || '.' || ${last} || 'x' || n || '@example.com', 1, ${moment}, ${moment},
        ${fields}, ${first} || ' ' || ${last}, ${first} || ' ' || ${last} || 'x' || n || ' example com' FROM ${series}`)
  }
  if (isPostgres) await settlePostgres(place)
  await storage.rebuildCounts()
  return storage
}

const everybody = { emailKey: null, words: null, fields: {} }
const page = (more = {}) => ({ order: 'asc', limit: 20, from: { offset: 0 }, ...more })
const having = (...words) => ({ ...everybody, words: [words] })

const list = (storage, filter, more) => storage.users.list(filter, page(more))

/** What is asked of the storage, by the number of a user. `slow`: asked for less often. */
const CASES = [
  { name: 'a user by id', ask: (storage, n) => storage.users.find(idOf(n)) },
  { name: 'a word of one user', ask: (storage, n) => list(storage, having(rareWord(n))) },
  { name: 'a word of about 125', ask: (storage, n) => list(storage, having(`l${1000 + n % 7000}`)) },
  { name: 'two words of one user', ask: (storage, n) => list(storage, having('ann', rareWord(n - n % 10))) },
  { name: 'one that all have, and a rare one', ask: (storage, n) => list(storage, having('exam', rareWord(n))) },
  {
    name: 'an address in full',
    ask: (storage, n) => list(storage, having(`l${n * 7919 % 8009}`, rareWord(n), 'example', 'com'))
  },
  { name: 'a word of one user, by name', ask: (storage, n) => list(storage, having(rareWord(n)), { sort: 'nameKey' }) },
  { name: 'a word of a tenth', slow: true, ask: (storage) => list(storage, having('anna')) },
  { name: 'two words of a tenth', slow: true, ask: (storage) => list(storage, having('anna', 'exam')) },
  { name: 'a word that all have', slow: true, ask: (storage) => list(storage, having('exam')) },
  { name: 'two words that all have', slow: true, ask: (storage) => list(storage, having('exam', 'com')) },
  { name: 'a tenth, by name', slow: true, ask: (storage) => list(storage, having('anna'), { sort: 'nameKey' }) },
  { name: 'first page', ask: (storage) => list(storage, everybody) },
  { name: 'first page by name', ask: (storage) => list(storage, everybody, { sort: 'nameKey' }) },
  { name: 'first page by address', ask: (storage) => list(storage, everybody, { sort: 'emailKey' }) },
  { name: 'first page by a field', ask: (storage) => list(storage, everybody, { sort: { field: 'plan' } }) },
  {
    name: 'first page by last change',
    ask: (storage) => list(storage, everybody, { sort: 'updatedAt', order: 'desc' })
  }
]

const VECTOR = 'array_to_tsvector(array_remove(string_to_array(' +
  "name_words || ' ' || email_words || ' ' || field_words, ' '), ''))"
/** The conditions by hand, with `?` for what is made of a word. */
const CONDITIONS = {
  postgres: { has: `${VECTOR} @@ CAST(? AS tsquery)`, valueOf: (word) => `'${word}':*` },
  sqlite: { has: `number IN (SELECT rowid FROM ${WORDS} WHERE ${WORDS} MATCH ?)`, valueOf: (word) => `"${word}" *` }
}
const LIKE = { has: "name || ' ' || email LIKE ?", valueOf: (word) => `%${word}%` }

/** The same by hand: the page and the number, as two statements. */
function byHand (kind, ask) {
  const both = async ({ has, valueOf }, word) => {
    const items = await ask(`SELECT * FROM ${TABLE} WHERE ${has} ORDER BY id LIMIT 20`, valueOf(word))
    const [{ total }] = await ask(`SELECT count(*) AS total FROM ${TABLE} WHERE ${has}`, valueOf(word))
    return { items, total: Number(total) }
  }
  const index = CONDITIONS[kind]
  return [
    { name: 'by hand, LIKE: a word of one user', slow: true, ask: (_, n) => both(LIKE, rareWord(n)) },
    { name: 'by hand, LIKE: a word of a tenth', slow: true, ask: () => both(LIKE, 'anna') },
    { name: 'by hand, the same index: a word of one user', ask: (_, n) => both(index, rareWord(n)) },
    { name: 'by hand, the same index: a word of a tenth', slow: true, ask: () => both(index, 'anna') }
  ]
}

/** The milliseconds of each case: medians of the medians of each round. The cases take turns within a round. */
async function measure (storage, cases) {
  const rounds = cases.map(() => [])
  const base = []
  for (let round = -1; round < ROUNDS; round++) {
    for (const [i, { ask, slow = false }] of cases.entries()) {
      const times = []
      for (let sample = 0; sample < (slow ? 3 : 60); sample++) {
        const n = ((round + 2) * 7_368_787 + sample * 104_729) % size
        const start = performance.now()
        await ask(storage, n)
        times.push(performance.now() - start)
      }
      if (round >= 0) rounds[i].push(median(times))
    }
    if (round >= 0) base.push(rounds[0].at(-1))
  }
  return cases.map(({ name }, i) => ({
    name,
    ms: Number(median(rounds[i]).toFixed(3)),
    toById: Number(median(rounds[i].map((ms, round) => ms / base[round])).toFixed(2))
  }))
}

async function creationsOf (app) {
  const start = performance.now()
  let made = 0
  const client = async () => {
    while (performance.now() < start + CREATION_MS) {
      const word = Math.random().toString(36).slice(2, 12)
      await app.users.create({ name: `Anna ${word}`, email: `${word}${made}@example.org` })
      made++
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return made / (performance.now() - start) * 1000
}

const withoutWords = (write) => write.in !== 'users' || write.put === null
  ? write
  : { ...write, put: { ...write.put, keys: { ...write.put.keys, nameWords: [], emailWords: [] } } }

/** The same storage without the words of what it writes. */
const wordless = (storage) => ({
  ...storage,
  commit: (units) => storage.commit(units.map((unit) => ({ ...unit, writes: unit.writes.map(withoutWords) })))
})

/** Creations a second with the words and their index, and the ratio to those without, in turn. */
async function measureCreations (kind, places) {
  const apps = []
  for (const [i, place] of places.entries()) {
    const storage = storageAt(kind, place)
    await storage.open({ migrate: true })
    if (i === 0) {
      const drops = kind === 'postgres'
        ? ['DROP INDEX fastify_users_users_words']
        : ['insert', 'delete', 'update'].map((event) => `DROP TRIGGER fastify_users_user_words_${event}`)
      for (const drop of drops) await plainSql(place, drop)
    }
    const app = Fastify()
    // Opening it would find that the index is missing.
    const without = { ...wordless(storage), open: async () => ({ created: false }) }
    await app.register(users, { prefix: '/', storage: i === 0 ? without : storage })
    await app.ready()
    apps.push(app)
  }
  const rounds = []
  for (let round = -1; round < CREATION_ROUNDS; round++) {
    const made = []
    for (const i of round % 2 === 0 ? [0, 1] : [1, 0]) made[i] = await creationsOf(apps[i])
    if (round >= 0) rounds.push({ base: made[0], made: made[1], ratio: made[1] / made[0] })
  }
  for (const app of apps) await app.close()
  const of = (member, digits) => Number(median(rounds.map((each) => each[member])).toFixed(digits))
  return { storage: kind, base: of('base', 0), made: of('made', 0), ratio: of('ratio', 3) }
}

const [searchRows, creationRows] = [[], []]
const directory = await mkdtemp(join(tmpdir(), 'bench-search-'))
try {
  for (const kind of given.storage.split(',')) {
    const isPostgres = kind === 'postgres'
    const servers = isPostgres ? [await startPostgres({ durable: true }), await startPostgres({ durable: true })] : []
    const places = isPostgres ? servers.map(({ url }) => url) : ['a', 'b'].map((name) => join(directory, `${name}.db`))
    if (parts.includes('creations')) {
      const row = await measureCreations(kind, places)
      creationRows.push(row)
      console.log(`${kind}, creations: ${JSON.stringify(row)}`)
    }
    for (const server of servers.splice(0)) await server.stop()
    if (!parts.includes('searches')) continue
    const server = isPostgres ? await startPostgres({ durable: true }) : null
    const place = server?.url ?? join(directory, 'searches.db')
    const storage = await fill(kind, place)
    const connection = await connectionTo(place)
    const rows = await measure(storage, [...CASES, ...byHand(kind, connection.ask)])
    for (const row of rows) console.log(`${kind}, ${row.name}: ${row.ms} ms, ${row.toById} x a user by id`)
    searchRows.push(...rows.map((row) => ({ storage: kind, ...row })))
    await Promise.all([connection.close(), storage.close()])
    await server?.stop()
  }
} finally {
  await rm(directory, { recursive: true, force: true })
}
if (given.json !== undefined) {
  await saveResults(given.json, { kind: 'search', users: size, searches: searchRows, creations: creationRows })
}
