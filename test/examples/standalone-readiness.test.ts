// Whether the standalone service is ready: it asks its store at most once a second, however many ask, and answers
// probes while its tables are migrated for long.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mock } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'tap'
import { postgres } from '../../adapters/postgres.ts'
import { createReadiness } from '../../examples/standalone/readiness.ts'
import { connectPg, pgUrlWith } from '../helpers/postgres.ts'
import { get, KEY, startService } from '../helpers/service.ts'
import { pgUrl, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import { startProxy } from '../helpers/tcp-proxy.ts'

test('answers many from one question, good or bad, and asks again later', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  let questions = 0
  let isUp = true
  const readiness = createReadiness({
    async open () {
      questions++
      if (!isUp) throw new Error('down')
      return { created: false }
    }
  })
  t.strictSame(await Promise.all([readiness(), readiness(), readiness()]), ['ready', 'ready', 'ready'])
  isUp = false
  t.strictSame([await readiness(), questions], ['ready', 1])
  mock.timers.tick(1000)
  t.strictSame([await readiness(), await readiness(), questions], ['unavailable', 'unavailable', 2])
  isUp = true
  mock.timers.tick(1000)
  t.strictSame([await readiness(), questions], ['ready', 3])
})

test('says that a database accepts no writes, but not in place of what is wrong', async (t) => {
  const state = (isReadOnly: boolean, code?: string) => createReadiness({
    server: { isReadOnly: async () => isReadOnly },
    async open () {
      if (code !== undefined) throw Object.assign(new Error('refused'), { code })
      return { created: false }
    }
  })()
  t.strictSame(await Promise.all([state(false), state(true), state(true, 'unavailable'), state(true, 'schema_behind')]),
    ['ready', 'read-only', 'read-only', 'unavailable'])
})

test('does not wait for a database that is frozen, or a pool that is full', async (t) => {
  const url = new URL(pgUrl())
  const proxy = await startProxy(Number(url.port))
  t.teardown(() => proxy.close())
  url.port = String(proxy.port)
  const schema = temporarySchema(t)
  const storage = postgres({ connection: url.href, schema, pool: { max: 1 }, statementTimeoutMs: 10_000 })
  t.teardown(() => storage.close())
  await storage.open({ migrate: true })
  // An answer that waited for the database would take 5.5 s.
  const first = () => Promise.race([createReadiness(storage)(), delay(3000, 'late', { ref: false })])

  const locking = await connectPg(t)
  await locking.query(`BEGIN; LOCK TABLE "${schema}".fastify_users_users`)
  const reading = storage.users.find('usr_1')
  t.equal(await first(), 'unavailable', 'a full pool')
  await locking.query('COMMIT')
  await reading

  proxy.freeze()
  t.equal(await first(), 'unavailable', 'a frozen database')
})

test('says that it is migrating, and makes the first key when it has ended', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  await storage.open({ migrate: true })
  await storage.close()
  const locking = await connectPg(t)
  await locking.query(`BEGIN; LOCK TABLE "${schema}".fastify_users_users`)

  const directory = await temporaryDirectory(t)
  const file = join(directory, 'fields.json')
  await writeFile(file, JSON.stringify({ type: 'object', properties: { nickname: { type: 'string' } } }))
  const env = {
    DATABASE_URL: pgUrlWith({ options: `-c search_path=${schema}` }),
    FIELDS_FILE: file,
    UNIQUE_FIELDS: 'nickname'
  }
  const service = startService(t, directory, env)
  const url = await service.printed(/listening at (http:\/\/[^"]+)/)
  t.strictSame(await get(`${url}/ready`), { status: 503, body: { status: 'migrating' } })
  t.equal((await get(`${url}/health`)).status, 200)
  t.equal((await get(`${url}/v1/users`, `uk_${'0'.repeat(12)}_${'0'.repeat(49)}`)).status, 401)
  t.equal(service.stdout(), '')

  const stopped = startService(t, directory, env)
  await stopped.printed(/listening at (http:\/\/[^"]+)/)
  t.equal(await stopped.stop(), 0, 'another one that is stopped meanwhile')

  await locking.query('COMMIT')
  await service.printed(/is ready/)
  const key = KEY.exec(service.stdout())?.[0]
  t.strictSame(await get(`${url}/ready`), { status: 200, body: { status: 'ready' } })
  t.equal((await get(`${url}/v1/users`, key)).status, 200)
  t.equal(await service.stop(), 0)
  t.notMatch(service.stderr(), 'no API key yet')
})
