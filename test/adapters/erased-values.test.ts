// Where the values of erased people, and of deleted tenants, are kept beside their rows: every byte of the database.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { test, type Test } from 'tap'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import type { Storage } from '../../lib/index.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { testApp } from '../helpers/app.ts'
import { withoutType } from '../helpers/fields.ts'
import { firstPage } from '../helpers/records.ts'
import { runScript, sqliteDriver } from '../helpers/sqlite.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

// Parts of words that nobody else has: an index may leave out how a word begins.
const NAMES = ['zxvkjq', 'kjqzvx', 'xqjkvz']
const searchable = { schema: Type.Object({ phone: Type.Optional(Type.String()) }), searchable: ['phone'] }
// No idempotency key expires.
async function prune (storage: Storage): Promise<void> {
  await repositoryOf(storage).prune(new Date().toISOString())
  await storage.server?.upkeep?.()
}

/** Makes people in every way that keeps copies, among others who stay, and erases them. */
async function erasePeople (t: Test, storage: Storage): Promise<void> {
  const options = { eventLog: true, tenants: true, trash: { retention: 3600 }, fields: searchable } as const
  const { app: { users } } = await testApp(t, { storage, ...options })
  const acme = users.tenant('acme')
  const person = (value: string, n: number) =>
    withoutType({ name: `W${value} ${n}`, email: `w${value}${n}@w${value}.example`, phone: `w${value} ${n}` })
  const other = (n: number) => withoutType({ name: `Other ${n}`, email: `other${n}@example.org`, phone: `0151 ${n}` })
  for (let n = 0; n < 60; n++) await acme.create(other(n))
  const [early = '', late = '', gone = ''] = NAMES
  const first = await acme.create(person(early, 1), { idempotencyKey: 'a' })
  await acme.update(first.id, person(late, 1))
  await acme.update(first.id, { status: 'suspended', statusReason: `w${early}` })
  const { data: [second] } = await acme.batch([{ op: 'create', body: person(late, 2) }], { idempotencyKey: 'b' })
  await acme.import([person(early, 3)])
  const third = (await acme.list({ email: `w${early}3@w${early}.example` })).data[0]
  await acme.delete(String(third?.id))
  for (const id of [first.id, second?.user?.id, third?.id]) await acme.delete(String(id), { erase: true })
  const leaving = users.tenant('leaving')
  await leaving.create(person(gone, 1), { idempotencyKey: 'c' })
  await leaving.delete((await leaving.create(person(gone, 2))).id)
  await users.tenants.remove('leaving')
}

test('no byte of an SQLite file has values of erased people once it is cleaned as the docs say', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const storage = sqlite({ filename, driver: sqliteDriver })
  await erasePeople(t, storage)
  const others = () => storage.users.list({ emailKey: null, words: [['other']], fields: {} }, firstPage(100))
  const before = await others()
  t.equal(before.total, 60)
  await prune(storage)
  t.strictSame(await others(), before)
  await runScript(filename, 'VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
  const [bytes, log] = await Promise.all([readFile(filename), readFile(`${filename}-wal`)])
  t.ok(bytes.includes('other59@example.org'), 'the file is read')
  t.strictSame(NAMES.filter((name) => bytes.includes(name)), [])
  t.equal(log.length, 0)
})

test('words stay due to leave the SQLite index where a process ended before it had taken them out', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  await erasePeople(t, sqlite({ filename, driver: sqliteDriver }))
  // As a process leaves it that ends in the midst of its work.
  await runScript(filename, 'UPDATE fastify_users_word_removals SET merging = 1')
  const storage = sqlite({ filename, driver: sqliteDriver })
  t.teardown(() => storage.close())
  await prune(storage)
  await runScript(filename, 'VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
  const bytes = await readFile(filename)
  t.strictSame(NAMES.filter((name) => bytes.includes(name)), [])
})

test('no page of PostgreSQL has values of erased people once it is cleaned as the docs say', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  await erasePeople(t, storage)
  await prune(storage)
  const tables = ['users', 'deleted_users', 'events', 'idempotency_keys']
    .map((name) => `"${schema}".fastify_users_${name}`).join(', ')
  /** The names in the files of tables and indexes, which superusers may read. */
  async function inFiles (): Promise<string[]> {
    await sql('CHECKPOINT')
    const file = "encode(pg_read_binary_file(pg_relation_filepath(c.oid)), 'escape')"
    const [found] = await sql(`SELECT ${NAMES.map((name) => `bool_or(${file} LIKE '%${name}%') AS ${name}`).join(', ')}
      FROM pg_class AS c WHERE relnamespace = $1::regnamespace AND pg_relation_filepath(c.oid) IS NOT NULL`, [schema])
    return NAMES.filter((name) => found?.[name] !== false)
  }
  await sql(`VACUUM ${tables}`)
  t.not((await inFiles()).length, 0, 'VACUUM alone leaves some, in indexes too')
  await sql(`VACUUM (FULL, ANALYZE) ${tables}`)
  t.strictSame(await inFiles(), [])
  const statistics = await sql('SELECT pg_stats::text AS row FROM pg_stats WHERE schemaname = $1', [schema])
  t.strictSame(NAMES.filter((name) => statistics.some(({ row }) => String(row).includes(name))), [])
})
