// Contract §13: where the log ends, for readers who begin there. On PostgreSQL events that nobody has read have no
// position yet.
import Fastify from 'fastify'
import { test, type Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { firstIdAt } from '../../lib/core/ids.ts'
import plugin from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { openStream } from '../helpers/open-stream.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'

// More than two statements number.
const NEVER_READ = 12_001

/** A mount on PostgreSQL whose log has many events that nobody has read; the last one is a deletion. */
async function withUnreadEvents (t: Test) {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  const host = await testApp(t, { storage, eventLog: true })
  const { id } = await host.app.users.create({ name: 'Ann', email: 'ann@example.org' })
  await sql(`INSERT INTO "${schema}".fastify_users_events (id, type, happened_at, context, subject, data)
    SELECT 'evt_01h455vb4pex5vsknk' || lpad(n::text, 8, '0'),
      CASE n WHEN ${NEVER_READ} THEN 'user.deleted' ELSE 'user.restored' END, happened_at, context, subject, data
    FROM "${schema}".fastify_users_events, generate_series(1, ${NEVER_READ}) AS n WHERE subject = $1`, [id])
  const newest = `evt_01h455vb4pex5vsknk${String(NEVER_READ).padStart(8, '0')}`
  return { ...host, newest }
}

test('a page that begins now is behind all committed events, read or not, on postgres', async (t) => {
  const { app, call, newest } = await withUnreadEvents(t)
  const { position } = (await call('GET', '/events?after=now')).json().meta
  t.equal(position, newest)
  const { id } = await app.users.create({ name: 'Bob', email: 'bob@example.org' })
  const { data } = (await call('GET', `/events?after=${position}`)).json()
  t.match(data, [{ type: 'user.created', data: { id } }])
  t.equal(data.length, 1)
})

test('a page says that no more follows only if no committed event does, read or not, on postgres', async (t) => {
  const { call, newest } = await withUnreadEvents(t)
  const { data, meta } = (await call('GET', '/events?type=user.deleted')).json()
  t.strictSame(data.map(({ id }: { id: string }) => id), [newest])
  t.strictSame(meta, { limit: 20, more: false, position: newest })
})

const RETENTION = 3600

test('a reader that finds no events goes on from the position that it is given', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(plugin, { storage: memory(), migrate: true, eventLog: true })
  const { events } = app.users
  const metas = await Promise.all([{}, { after: 'now' }, { order: 'desc' }, { type: 'user.deleted' }]
    .map(async (query) => (await events.list(Object(query))).meta))
  for (const meta of metas) t.match(meta, { limit: 20, more: false, position: /^evt_[0-9a-z]{10}0{16}$/ })
  const positions = metas.map(({ position }) => String(position))
  const [after = ''] = positions
  t.equal((await events.list({ after })).meta.position, after, 'as long as there is nothing, it stays')

  const told: string[] = []
  const reading = events.after('now', { onPosition: (each) => { told.push(each) } })
  const next = reading.next()
  await until('it has begun', () => told.length === 1)
  const { id } = await app.users.create({ name: 'Ann', email: 'ann@example.org' })
  t.match(await next, { value: { data: { id } } })
  t.equal(told.length, 1)
  await reading.return(undefined)
  for (const each of [...positions, ...told]) {
    t.strictSame((await events.list({ after: each })).data.map(({ data }) => data.id), [id])
  }
})

test('a reader of a tenant without events misses none of its first ones', async (t) => {
  const host = await testApp(t, { tenants: true, eventLog: { retention: RETENTION } })
  const { users } = host.app
  const add = (tenant: string) => users.tenant(tenant).create({ name: 'Ann', email: 'ann@example.org' })
  await add('other')
  const { events, apiKeys } = users.tenant('acme')
  const { position } = (await events.list({ after: 'now' })).meta
  t.match(position, /^evt_[0-9a-z]{10}0{16}$/, 'it tells nothing of others')
  t.strictSame((await events.list({ after: String(position) })).data, [])
  const { key } = await apiKeys.create({ name: 'reader', scopes: ['events:read', 'users:read'] })
  const { id } = await add('acme')
  const first = (await events.list({ after: String(position) })).data
  t.strictSame(first.map(({ type }) => type), ['api_key.created', 'user.created'])
  const stream = await openStream({ ...host, key }, '?type=user.*', { 'last-event-id': String(position) })
  await until('the event was there', () => stream.events().length === 1)
  t.match(stream.events()[0]?.data, { type: 'user.created', data: { id } })
  stream.end()

  // What came after it may have been pruned.
  const old = firstIdAt('evt', Date.now() - RETENTION * 1000)
  await t.rejects(events.list({ after: old }), { code: 'events_expired' })
})
