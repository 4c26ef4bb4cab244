// The main job against the running service, over real HTTP, on SQLite and on PostgreSQL: npm run acceptance
// USERS: their number; DRIVERS: the drivers of SQLite, one after the other; SERVER: the program of the service.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allLocales, Faker, en } from '@faker-js/faker'
import { createClient } from 'fastify-users/client'

const USERS = Number(process.env.USERS ?? 10_000)
const CONCURRENT = 32
const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 15_000
const LOCALES = [
  'en', 'de', 'fr', 'es', 'pl', 'tr', 'vi', 'el', 'ru', 'uk', 'ar', 'he', 'fa', 'hy', 'ja', 'ko', 'zh_CN', 'th', 'ro',
  'nb_NO', 'cs_CZ', 'ka_GE', 'ne', 'lv'
]
const SERVER =
  process.env.SERVER ?? join(import.meta.dirname, '..', '..', '.build', 'examples', 'standalone', 'server.js')

function people () {
  const fakers = LOCALES.map((locale, i) => {
    const faker = new Faker({ locale: [allLocales[locale], en] })
    faker.seed(20_260_000 + i)
    return faker
  })
  return Array.from({ length: USERS }, (_, i) => {
    const faker = fakers[i % fakers.length]
    const name = faker.person.fullName().normalize('NFC').trim()
    // The number makes addresses unique. Every third one is in capitals.
    const local = fakers[0].internet.username().replace(/[^A-Za-z0-9._-]|^[._-]+|[._-]+$|([._-])(?=[._-])/g, '')
    const domain = faker.internet.domainName().replace(/[^a-z0-9.-]/g, 'x')
    const email = `${local || 'user'}.${i}@${domain}`
    return { name, email: i % 3 === 0 ? email.toUpperCase() : email }
  })
}

async function startService (env) {
  const directory = await mkdtemp(join(tmpdir(), 'fastify-users-acceptance-'))
  const child = spawn(process.execPath, [SERVER], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, PORT: '0', LOG_LEVEL: 'warn', ...env }
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS)
  let text = ''
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    text += String(chunk)
    const [, key, url] = /Bearer (\S+)' (\S+)\n/.exec(text) ?? []
    if (url === undefined) continue
    clearTimeout(timer)
    child.stdout.resume()
    return { key, url, stop: () => stopService(child, directory) }
  }
  clearTimeout(timer)
  throw new Error(`the service ended, or had no first key within ${START_TIMEOUT_MS} ms: it needs a new database`)
}

async function stopService (child, directory) {
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(STOP_TIMEOUT_MS) }).catch(() => {
    child.kill('SIGKILL')
    throw new Error(`the service did not end within ${STOP_TIMEOUT_MS} ms`)
  })
  assert.equal(code, 0)
  await rm(directory, { recursive: true })
}

/** Runs a step for every item, several concurrently, and prints how long it took. */
async function each (name, items, step) {
  const begun = performance.now()
  const results = new Array(items.length)
  // All of them take the next one from here.
  const left = items.entries()
  await Promise.all(Array.from({ length: CONCURRENT }, async () => {
    for (const [i, item] of left) results[i] = await step(item, i)
  }))
  const seconds = (performance.now() - begun) / 1000
  console.log(`  ${name}: ${items.length} in ${seconds.toFixed(1)} s (${Math.round(items.length / seconds)}/s)`)
  return results
}

async function listAll (name, users, sort) {
  const begun = performance.now()
  const met = []
  for await (const user of users.iterate({ sort })) met.push(user)
  assert.equal(new Set(met.map(({ id }) => id)).size, met.length, 'nobody twice')
  const seconds = (performance.now() - begun) / 1000
  console.log(`  ${name}: ${met.length} users in ${seconds.toFixed(1)} s, each exactly once`)
  return met
}

async function mainJob (title, env) {
  console.log(`${title}:`)
  const { key, url, stop } = await startService(env)
  const users = createClient({ baseUrl: url.replace(/\/users$/, ''), key, pageSize: 100, triesMax: 1 })
  const given = people()
  async function finds (id, query) {
    const { data, meta } = await users.list(query)
    assert.deepEqual([data.map((user) => user.id), meta.total], [[id], 1])
  }
  try {
    const created = await each('created', given, (person) => users.create(person))
    assert.deepEqual(created.map(({ name, email }) => ({ name, email })), given)
    const all = await listAll('listed', users, 'createdAt')
    assert.deepEqual(all.map(({ id }) => id), created.map(({ id }) => id).sort())
    assert.deepEqual(await listAll('listed backwards', users, '-createdAt'), all.toReversed())

    const wanted = all.filter((_, i) => i % 50 === 0)
    await each('found by address', wanted, ({ id, email }) => finds(id, { email: email.toLowerCase() }))
    await each('found by a prefix of the name', wanted, async ({ id, name, email }) => {
      const q = [...name].slice(0, 3).join('')
      for (const text of [q.toUpperCase(), q.toLowerCase(), q.normalize('NFKD')]) await finds(id, { email, q: text })
    })

    const changing = all.filter((_, i) => i % 4 === 0)
    await each('changed under If-Match', changing, async ({ id, name }) => {
      const longer = `${name.slice(0, 100)} II`
      const changed = await users.update(id, { name: longer }, { ifMatch: 1 })
      assert.deepEqual([changed.version, changed.name], [2, longer])
    })
    const leaving = all.filter((_, i) => i % 10 === 3)
    await each('deleted', leaving, ({ id }) => users.delete(id))
    assert.equal((await listAll('listed at the end', users, 'createdAt')).length, USERS - leaving.length)
  } finally {
    await stop()
  }
}

for (const driver of (process.env.DRIVERS ?? 'auto').split(',')) {
  await mainJob(`SQLite (${driver})`, { SQLITE_DRIVER: driver })
}
// In a blank project this program stands alone, and is given a server.
const postgresUrl = process.env.PG_URL ?? (await import('../servers/shared.mjs')).sharedServerUrl('postgres')
await mainJob('PostgreSQL', { DATABASE_URL: postgresUrl })
console.log('The main job passed on both databases.')
