// A server that gives a pool fewer connections than it wants: they are shared, and nobody is refused.
import { test } from 'tap'
import { postgres } from '../../adapters/postgres.ts'
import { testApp } from '../helpers/app.ts'
import { urlOfRole } from '../helpers/postgres.ts'
import { idOf, rename, timeOf, userOf } from '../helpers/records.ts'
import { sql, temporarySchema } from '../helpers/stores.ts'
import { addUser, changeUser } from '../helpers/writes.ts'

test('a pool that is larger than the server\'s limit does with the connections that it gets', async (t) => {
  const schema = temporarySchema(t)
  const role = `limited_${schema}`
  await sql(`CREATE SCHEMA "${schema}"`)
  const url = await urlOfRole(t, role, [`ALL ON SCHEMA "${schema}"`])
  await sql(`ALTER ROLE "${role}" CONNECTION LIMIT 4`)
  const storage = postgres({ connection: url, schema, pool: { min: 0, max: 20 } })
  // All reach the pool, since three eighths of the places are open at first: whether they would do in time is another
  // question, and depends on the machine.
  const { app, call } = await testApp(t, { storage, limits: { inFlight: 600 } })
  const users = Array.from({ length: 60 }, (_, n) => userOf(n))
  // With a key of idempotency, each takes a connection of its own.
  const created = users.map(({ email }, n) => call('POST', '/users', {
    payload: { name: 'A', email }, headers: { 'idempotency-key': String(n) }
  }))
  const statuses = (await Promise.all(created)).map(({ statusCode }) => statusCode)
  t.strictSame(new Set(statuses), new Set([201]))
  t.equal((await app.users.list()).meta.total, 60)
})

test('a server that gives no connection at all is unavailable, and the pool grows again later', async (t) => {
  const schema = temporarySchema(t)
  const role = `limited_${schema}`
  await sql(`CREATE SCHEMA "${schema}"`)
  const url = await urlOfRole(t, role, [`ALL ON SCHEMA "${schema}"`])
  const storage = postgres({ connection: url, schema, listen: false })
  t.teardown(() => storage.close())
  await storage.open({ migrate: true })
  await addUser(storage, userOf(1))
  await sql(`ALTER ROLE "${role}" CONNECTION LIMIT 0`)
  await sql('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role])
  const refused = { name: 'StorageError', code: 'unavailable', driverCode: '53300' }
  const ask = () => changeUser(storage, idOf('usr', 1), rename('B'), { updatedAt: timeOf(1) })
  for (const result of await Promise.allSettled(Array.from({ length: 20 }, ask))) {
    t.match(result, { status: 'rejected', reason: { name: 'StorageError', code: 'unavailable' } })
  }
  await t.rejects(ask(), refused)
  await sql(`ALTER ROLE "${role}" CONNECTION LIMIT -1`)
  t.equal((await ask())?.user.name, 'B')
})
