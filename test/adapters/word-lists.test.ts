// Processes that were started with other lists of fields, on one database: replaced one after the other.
import { join } from 'node:path'
import { test, type Test } from 'tap'
import type { KnexStorage } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { testApp } from '../helpers/app.ts'
import { sqliteDriver, sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

const schema = {
  type: 'object',
  properties: { company: { type: 'string' }, city: { type: 'string' }, legacy: { type: 'integer' } }
} as const
const before = { schema, searchable: ['company'], filterable: ['city'] } as const
const after = {
  schema, searchable: ['city'], filterable: [{ field: 'city', match: 'folded' }], unique: ['legacy']
} as const

interface Shared { open: () => KnexStorage, execute: (text: string) => Promise<unknown> }

const sqliteFile = async (t: Test): Promise<Shared> => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const host = sqliteHost(filename)
  t.teardown(() => host.destroy())
  const open = () => sqlite({ filename, driver: sqliteDriver })
  return { open, execute: (text) => host.raw(text) }
}
const postgresSchema = (profile: 'classic' | 'portable') => async (t: Test): Promise<Shared> => {
  const name = temporarySchema(t)
  const open = () => postgres({ connection: pgUrl(), schema: name, profile, pool: { max: 6 } })
  return { open, execute: (text) => sql(text.replace('fastify_users', `${name}.fastify_users`)) }
}

const KINDS = [
  { name: 'sqlite', share: sqliteFile },
  { name: 'postgres', share: postgresSchema('classic') },
  { name: 'postgres, portable', share: postgresSchema('portable') }
]

for (const { name, share } of KINDS) {
  test(`${name}: what a process with an older list writes is found by the newer one`, async (t) => {
    const { open } = await share(t)
    const options = { eventLog: true, trash: true }
    const older = await testApp(t, { storage: open(), fields: { schema }, ...options })
    const old = await testApp(t, { storage: open(), fields: before, ...options })
    const made = (email: string, city: string) => ({ name: 'Ann', email: `${email}@example.org`, city })
    const away = await old.app.users.create(Object(made('away', 'Oslo')))
    const changed = await old.app.users.create(Object(made('changed', 'Paris')))
    await old.app.users.delete(away.id)

    const next = open()
    const { app } = await testApp(t, { storage: next, fields: after, ...options })
    const found = async (filter: object) => {
      const { data } = await app.users.list({ limit: 100, ...filter })
      return data.map(({ email }) => email.split('@')[0])
    }
    t.strictSame(await found({ q: 'paris' }), ['changed'])

    await old.app.users.create(Object(made('one', 'Oslo')))
    await older.app.users.create(Object(made('older', 'Oslo')))
    await Promise.all([1, 2, 3].map((n) => old.app.users.create(Object(made(`many${n}`, 'Bergen')))))
    await old.app.users.update(changed.id, Object({ city: 'Oslo' }))
    await old.app.users.restore(away.id)
    t.strictSame(await found({ q: 'oslo' }), ['away', 'changed', 'one', 'older'])
    t.strictSame(await found({ city: 'OSLO' }), ['away', 'changed', 'one', 'older'])
    t.strictSame((await found({ q: 'bergen' })).sort(), ['many1', 'many2', 'many3'])
    t.equal(await next.verifyWords(), 0)

    const body = { operations: [{ op: 'create', body: { ...made('batch', 'Rome'), legacy: 7 } }] }
    t.equal((await old.call('POST', '/users/batch', { body })).json().data[0].status, 201)
    await old.call('POST', '/users/import', {
      body: `${JSON.stringify(made('imported', 'Rome'))}\n`, headers: { 'content-type': 'application/x-ndjson' }
    })
    t.strictSame(await found({ q: 'rome' }), ['batch', 'imported'])
    const taken = await old.call('POST', '/users', { body: { ...made('taken', 'Rome'), legacy: 7 } })
    t.match(taken.json(), { status: 409, code: 'field_taken' }, 'a field that is unique since')
  })

  test(`${name}: no write is missed while the list changes`, async (t) => {
    const { open } = await share(t)
    const old = await testApp(t, { storage: open(), fields: before, eventLog: false })
    const next = open()
    const over = new AbortController()
    let last = 0
    const users = await Promise.all(Array.from({ length: 20 }, (_, i) =>
      old.app.users.create(Object({ name: 'Ann', email: `first${i}@example.org`, city: 'Oslo' }))))
    const write = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const n = last++
        await old.app.users.create(Object({ name: 'Ann', email: `ann${n}@example.org`, city: 'Oslo' }))
        await old.app.users.update(String(users[n % 20]?.id), Object({ city: 'Oslo', company: `c${n}` }))
      }
    }
    const writers = Array.from({ length: 8 }, write)
    const { app } = await testApp(t, { storage: next, fields: after, eventLog: false })
    over.abort()
    await Promise.all(writers)
    t.equal((await app.users.list({ q: 'oslo' })).meta.total, 20 + last)
    t.equal(await next.verifyWords(), 0)
  })

  test(`${name}: words that are not all made yet are made by the next migration`, async (t) => {
    const { open, execute } = await share(t)
    const { app } = await testApp(t, { storage: open(), fields: after })
    for (const [i, city] of ['Oslo', 'Paris'].entries()) {
      await app.users.create(Object({ name: 'Ann', email: `ann${i}@example.org`, city }))
    }
    await execute("UPDATE fastify_users_users SET field_words = '', word_list = 'other' WHERE email_key LIKE 'ann0@%'")
    await execute("UPDATE fastify_users_migrations SET words_made = 'other'")
    const storage = open()
    t.teardown(() => storage.close())
    t.equal(await storage.verifyWords(), 1)
    const searchable = { key: (await storage.inspect()).searchable, wordsOf: () => ['made'] }
    await t.rejects(storage.open({ searchable }), {
      code: 'schema_behind', message: /^some users do not have their search words /
    })
    await storage.open({ migrate: true, searchable })
    await storage.open({ searchable })
    t.equal(await storage.verifyWords(), 0)
    const total = async (q: string) => (await app.users.list({ q })).meta.total
    const totals = async () => [await total('made'), await total('oslo'), await total('paris')]
    t.strictSame(await totals(), [1, 0, 1], 'those that are made stay')
    await storage.rebuildWords()
    t.strictSame(await totals(), [0, 1, 1])
  })
}
