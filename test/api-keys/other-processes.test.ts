// A key that is revoked in one process and used in another. With LISTEN of PostgreSQL it is refused immediately, and
// without it after keyCache seconds.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import pg from 'pg'
import { test, type Test } from 'tap'
import { listenForKeyChanges } from '../../adapters/knex/connection/key-change-listener.ts'
import { postgres } from '../../adapters/postgres.ts'
import { inject, testApp } from '../helpers/app.ts'
import { apiKeyOf } from '../helpers/records.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'
import { addKey, revokeKey } from '../helpers/writes.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'

const HOUR = '3600'
/** A notification takes milliseconds, and a lost connection is opened again after half a second. */
const NOTIFIED_MS = 5000
/** For a request on a busy machine, beyond the seconds of keyCache. */
const MARGIN_MS = 2000

/** Starts a process that serves the schema's users. The result sends it a request with a key, and gives the status. */
async function serve (t: Test, schema: string, keyCache: string) {
  const program = join(import.meta.dirname, '..', 'helpers', 'serve.mjs')
  const child = spawn(process.execPath, [program, pgUrl(), schema, keyCache, 'listen'], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  })
  let output = ''
  child.stdout.on('data', (chunk) => { output += String(chunk) })
  await until('listening', () => output.endsWith('\n') || child.exitCode !== null, 30_000)
  if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`)
  const address = output.trim()
  return async (key: string) =>
    (await fetch(`${address}/v1/users`, { headers: { authorization: `Bearer ${key}` } })).status
}

/** The server processes of all connections that listen for changes of keys. */
async function listeningPids (): Promise<number[]> {
  const listening = "query = 'LISTEN fastify_users_api_keys' AND state = 'idle'"
  const rows = await sql(`SELECT pid FROM pg_stat_activity WHERE ${listening}`)
  return rows.map(({ pid }) => Number(pid))
}

test('LISTEN: refuses a key that ended in another process immediately, though it is cached for an hour', async (t) => {
  const schema = temporarySchema(t)
  const { app } = await testApp(t, { storage: postgres({ connection: pgUrl(), schema, listen: false }) })
  const before = await listeningPids()
  const status = await serve(t, schema, HOUR)
  const table = `"${schema}".fastify_users_api_keys`
  for (const end of ['revoke', 'rotate', 'plain SQL', 'delete'] as const) {
    const { id, key } = await app.users.apiKeys.create({ name: end })
    t.equal(await status(key), 200, end)
    if (end === 'revoke') await app.users.apiKeys.revoke(id)
    else if (end === 'rotate') await app.users.apiKeys.rotate(id, { overlap: 0 })
    else if (end === 'plain SQL') await sql(`UPDATE ${table} SET revoked_at = now() WHERE id = $1`, [id])
    else await sql(`DELETE FROM ${table} WHERE id = $1`, [id])
    await until(`refusing the key after ${end}`, async () => await status(key) === 401, NOTIFIED_MS)
    t.equal(await status(key), 401, `${end}: stays refused`)
  }

  const { id, key } = await app.users.apiKeys.create({ name: 'x' })
  t.equal(await status(key), 200)
  let mine: number[] = []
  await until('LISTEN of the service', async () => {
    mine = (await listeningPids()).filter((pid) => !before.includes(pid))
    return mine.length > 0
  }, NOTIFIED_MS)
  // The connection is opened again after half a second, so nothing listens when the key is revoked.
  await sql('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [mine])
  await app.users.apiKeys.revoke(id)
  await until('refusing the key that was revoked without LISTEN', async () => await status(key) === 401, NOTIFIED_MS)
  t.equal(await status(key), 401)
})

test('without LISTEN: refuses a key that was revoked in another process within apiKeys.cache seconds', async (t) => {
  const schema = temporarySchema(t)
  // What one storage does not tell another one, it tells no other process.
  const storage = () => postgres({ connection: pgUrl(), schema, listen: false })
  const { app } = await testApp(t, { storage: storage() })
  const other = async (cache: number) => {
    const host = await testApp(t, { storage: storage(), apiKeys: { cache } })
    return async (key: string) =>
      (await inject(host.app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${key}` } })).statusCode
  }
  const [cached, uncached] = [await other(1), await other(0)]
  const { id, key } = await app.users.apiKeys.create({ name: 'x' })
  t.strictSame(await Promise.all([cached(key), uncached(key)]), [200, 200])
  await app.users.apiKeys.revoke(id)
  t.equal(await uncached(key), 401, 'apiKeys.cache 0 caches nothing')
  await until('refusing the key', async () => await cached(key) === 401, 1000 + MARGIN_MS)
})

test('watch reports changes of keys but not their uses, and nothing to a removed listener', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  await storage.open({ migrate: true })
  const record = apiKeyOf(1, { start: `${schema}_x` })
  let calls = 0
  const count = () => { calls++ }
  const [first, second] = [storage.watch?.(count), storage.watch?.(count)]
  await until('a report of each new connection', () => calls >= 2, NOTIFIED_MS)
  await addKey(storage, record)
  await until('a report of the new key to both listeners', () => calls >= 4, NOTIFIED_MS)
  first?.()
  calls = 0
  const client = new pg.Client({ connectionString: pgUrl() })
  await client.connect()
  t.teardown(() => client.end())
  let notifications = 0
  // One channel serves the whole database, and the payload names the schema.
  client.on('notification', ({ payload }) => { if (payload === schema) notifications++ })
  await client.query('LISTEN fastify_users_api_keys')
  const usedAt = new Date().toISOString()
  await repositoryOf(storage).apiKeys.write({ type: 'touch', id: record.id, usedAt, ifBefore: usedAt })
  await client.query('SELECT 1')
  t.equal(notifications, 0)
  await revokeKey(storage, record.id, new Date().toISOString())
  await until('a report of the revocation', () => calls > 0 && notifications > 0, NOTIFIED_MS)
  await client.query('SELECT 1')
  t.equal(notifications, 1)
  second?.()
  calls = 0
  await revokeKey(storage, record.id, new Date().toISOString())
  const third = storage.watch?.(count)
  await until('a report of what may have been missed', () => calls > 0, NOTIFIED_MS)
  third?.()
  await storage.close()
  t.ok(storage.watch?.(count), 'after close it opens no connection')
})

test('LISTEN connects again to a database that cannot be reached, and can be closed meanwhile', async (t) => {
  let tries = 0
  const keyChanges = listenForKeyChanges(() => {
    tries++
    return new pg.Client({ connectionString: 'postgres://127.0.0.1:1/x' })
  }, null)
  let calls = 0
  const remove = keyChanges.watch(() => { calls++ })
  await until('a second attempt', () => tries >= 2 && calls >= 1, NOTIFIED_MS)
  remove()
  await keyChanges.close()
  await keyChanges.close()
  const opening = listenForKeyChanges(() => new pg.Client({ connectionString: pgUrl() }), null)
  opening.watch(() => {})
  await opening.close()
  t.pass('nothing is left open: the process can end')
})
