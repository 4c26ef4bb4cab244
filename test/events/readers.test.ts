// Contract §13: where a reader of the event log goes on, when it is expired, and where the log ends.
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

// On PostgreSQL events that nobody has read have no position yet. These are more than two statements number.
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

async function logged (t: Test) {
  const storage = memory()
  const { app } = await testApp(t, { eventLog: true, storage })
  let count = 0
  return {
    app,
    events: app.users.events,
    add: async () => app.users.create({ name: 'Ann', email: `ann${++count}@example.org` }),
    /** Prunes all but the newest event. */
    prune: async () => storage.log.prune(new Date(Date.now() + 1000).toISOString(), 1000)
  }
}

test('a reader of one type is not expired by events of others', async (t) => {
  const { app, events, add, prune } = await logged(t)
  const first = await add()
  const cursor = (await events.list({ type: 'user.created' })).data.at(-1)?.id ?? ''
  for (const name of ['B', 'C', 'D']) await app.users.update(first.id, { name })
  t.equal(await prune(), 4, 'its own event, and others behind it')
  const query = { after: cursor, type: 'user.created' } as const
  const { data: nothing, meta: { more, position } } = await events.list(query)
  t.strictSame([nothing, more], [[], false])
  t.equal(position, (await events.list()).data.at(-1)?.id, 'it has passed all')
  const second = await add()
  const found = (await events.list(query)).data
  t.strictSame(found.map(({ data: { id } }) => id), [second.id])
  t.strictSame((await events.list({ after: String(position), type: 'user.created' })).data, found)
  const reading = events.after(cursor, { type: 'user.created' })
  t.equal((await reading.next()).value?.id, found[0]?.id)
  await reading.return()

  // Of two types, the one that has missed something counts.
  for (const type of ['user.*', 'user.updated'] as const) {
    await t.rejects(events.list({ after: cursor, type }), { code: 'events_expired' }, type)
  }
  await t.rejects(events.list({ after: cursor }), { code: 'events_expired' })
  await add()
  await prune()
  await t.rejects(events.list(query), { code: 'events_expired' }, 'one of its own is gone')
  const late = String(found[0]?.id)
  t.equal((await events.list({ after: late, type: 'user.created' })).data.length, 1, 'it had the last that is gone')
  t.equal((await events.list({ after: late })).data.length, 1, 'which was the last of all')
})

test('a reader of one type goes on at the position that it was given', async (t) => {
  const { app, events, add, prune } = await logged(t)
  const { id } = await add()
  const read = (after?: string) => events.list({ type: 'user.deleted', ...(after !== undefined && { after }) })
  const position = String((await read()).meta.position)
  t.equal(position, (await events.list()).data.at(-1)?.id)
  await app.users.update(id, { name: 'B' })
  await app.users.update(id, { name: 'C' })
  await prune()
  t.strictSame((await read(position)).data, [], 'nothing that it has asked for is gone')
  await app.users.delete(id)
  t.equal((await read(position)).data[0]?.data.id, id)
})

test('a reader can begin at the end', async (t) => {
  const { app, events, add } = await logged(t)
  const { id } = await add()
  const newest = (await events.list()).data.at(-1)?.id
  t.strictSame(await events.list({ after: 'now', type: 'user.*' }),
    { data: [], meta: { limit: 20, more: false, position: newest } })
  const positions: string[] = []
  const reading = events.after('now', { type: 'user.deleted', onPosition: (each) => { positions.push(each) } })
  const deletion = reading.next()
  await until('it has begun', () => positions.length === 1)
  t.strictSame(positions, [newest])
  await app.users.update(id, { name: 'B' })
  await until('it has passed the update', () => positions.length === 2)
  t.equal(positions[1], (await events.list()).data.at(-1)?.id)
  await app.users.delete(id)
  const { value } = await deletion
  t.equal(value?.data.id, id)
  t.equal(positions.length, 2, 'what was not dealt with is not passed')
  await reading.return(undefined)
})

test('a position is given when all before it was dealt with, and awaited', async (t) => {
  const { events, add } = await logged(t)
  await add()
  const steps: string[] = []
  const onPosition = async (position: string) => {
    await new Promise((resolve) => setImmediate(resolve))
    steps.push(position)
  }
  for await (const { id } of events.after(null, { onPosition, type: 'user.*' })) {
    steps.push(`event ${id}`)
    if (steps.length === 1) await add()
    else break
  }
  const ids = (await events.list({ type: 'user.*' })).data.map(({ id }) => id)
  t.strictSame(steps, [`event ${ids[0]}`, ids[0], `event ${ids[1]}`])
  await t.rejects(events.after(null, Object({ onPosition: 1 })).next(), {
    code: 'validation_failed', errors: [{ parameter: 'onPosition', code: 'type' }]
  })
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
