// A key that one process revokes, used in another: heard of at once on PostgreSQL, and noticed within keyCache in any case.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import pg from 'pg'
import { test, type Test } from 'tap'
import { listenForKeyChanges } from '../adapters/knex/connection/key-change-listener.ts'
import { postgres } from '../adapters/postgres.ts'
import { testApp } from './helpers/app.ts'
import { pgUrl, sql, temporarySchema } from './helpers/stores.ts'
import './helpers/watch-fetch.ts'

const HOUR = '3600'

/** A process that serves the schema's users, and how it answers a key. */
async function serve (t: Test, schema: string, keyCache: string, listen: boolean): Promise<(key: string) => Promise<number>> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'helpers', 'serve.mjs'), pgUrl(), schema, keyCache, ...(listen ? ['listen'] : [])], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
  const [line] = await once(child.stdout, 'data')
  const address = String(line).trim()
  return async (key) => (await fetch(`${address}/v1/users`, { headers: { authorization: `Bearer ${key}` } })).status
}

/** Asks until the answer is this one; a test that never gets it ends by its own time limit. */
async function until (ask: () => Promise<unknown>, expected: unknown): Promise<void> {
  while (await ask() !== expected) await new Promise((resolve) => setImmediate(resolve))
}

async function listeners (): Promise<number[]> {
  return (await sql("SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN fastify_users_api_keys' AND state = 'idle' ORDER BY pid")).map(({ pid }) => Number(pid))
}

test('another process hears of a revocation at once, though it would remember the key for an hour', async (t) => {
  const schema = temporarySchema(t)
  const { app } = await testApp(t, { storage: postgres({ connection: pgUrl(), schema, listen: false }) })
  const status = await serve(t, schema, HOUR, true)
  for (const end of ['revoke', 'rotate', 'plain SQL', 'delete'] as const) {
    const { id, key } = await app.users.apiKeys.create({ name: end })
    t.equal(await status(key), 200, end)
    if (end === 'revoke') await app.users.apiKeys.revoke(id)
    else if (end === 'rotate') await app.users.apiKeys.rotate(id, { overlap: 0 })
    else if (end === 'plain SQL') await sql(`UPDATE "${schema}".fastify_users_api_keys SET revoked_at = now() WHERE id = $1`, [id])
    else await sql(`DELETE FROM "${schema}".fastify_users_api_keys WHERE id = $1`, [id])
    await until(() => status(key), 401)
    t.pass(`${end}: refused`)
  }
})

test('a process that does not hear of it notices within keyCache', async (t) => {
  const schema = temporarySchema(t)
  const { app } = await testApp(t, { storage: postgres({ connection: pgUrl(), schema, listen: false }) })
  const [deaf, strict] = await Promise.all([serve(t, schema, '1', false), serve(t, schema, '0', false)])
  const { id, key } = await app.users.apiKeys.create({ name: 'x' })
  t.strictSame(await Promise.all([deaf(key), strict(key)]), [200, 200])
  await app.users.apiKeys.revoke(id)
  t.equal(await strict(key), 401, '0 remembers nothing')
  await until(() => deaf(key), 401)
})

test('what was missed while the connection was lost is not remembered', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema, listen: false })
  const { app } = await testApp(t, { storage })
  const before = await listeners()
  const status = await serve(t, schema, HOUR, true)
  const { id, key } = await app.users.apiKeys.create({ name: 'x' })
  t.equal(await status(key), 200)
  let mine: number[] = []
  await until(async () => { mine = (await listeners()).filter((pid) => !before.includes(pid)); return mine.length > 0 }, true)
  // No listener is left, and none can come for a moment: the key is revoked where nobody hears it.
  await sql('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [mine])
  await app.users.apiKeys.revoke(id)
  await until(() => status(key), 401)
  t.equal(await status(key), 401)
})

test('uses are not told, and a listener that is taken off hears nothing more', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  await storage.migrate()
  const record = { id: 'key_01h455vb4pex5vsknk084sn02q', name: 'x', scopes: ['users:read'], start: `${schema}_x`, digest: 'x', createdAt: new Date().toISOString(), expiresAt: null, revokedAt: null, lastUsedAt: null, rotatedFrom: null, lifetime: null }
  let told = 0
  const hear = () => { told++ }
  const [first, second] = [storage.watchApiKeys?.(hear), storage.watchApiKeys?.(hear)]
  await until(async () => told >= 2, true)
  await storage.createApiKey(record, { onlyFirst: false })
  await until(async () => told >= 4, true)
  first?.()
  told = 0
  const client = new pg.Client({ connectionString: pgUrl() })
  await client.connect()
  t.teardown(() => client.end())
  let heard = 0
  // The channel is the database's: the payload says whose change it is.
  client.on('notification', ({ payload }) => { if (payload === schema) heard++ })
  await client.query('LISTEN fastify_users_api_keys')
  await storage.touchApiKey(record.id, new Date().toISOString(), new Date().toISOString())
  await client.query('SELECT 1')
  t.equal(heard, 0)
  await storage.revokeApiKey(record.id, new Date().toISOString(), { keepOneWith: null })
  await until(async () => told > 0, true)
  await until(async () => heard, 1)
  second?.()
  told = 0
  await storage.revokeApiKey(record.id, new Date().toISOString(), { keepOneWith: null })
  const third = storage.watchApiKeys?.(hear)
  await until(async () => told > 0, true)
  third?.()
  await storage.close()
  t.ok(storage.watchApiKeys?.(hear), 'after the end nothing is opened')
})

test('a database that can not be reached is tried again, and an end in between is no error', async (t) => {
  let tries = 0
  const watch = listenForKeyChanges(() => { tries++; return new pg.Client({ connectionString: 'postgres://127.0.0.1:1/x' }) }, null)
  let told = 0
  const off = watch.watch(() => { told++ })
  await until(async () => tries >= 2 && told >= 1, true)
  off()
  await watch.close()
  await watch.close()
  const silent = listenForKeyChanges(() => new pg.Client({ connectionString: pgUrl() }), null)
  silent.watch(() => {})
  await silent.close()
  t.pass('nothing is left open: the process can end')
})
