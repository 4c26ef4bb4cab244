// Contract §13: where the log ends, for readers who begin there. On PostgreSQL events that nobody has read have no
// position yet.
import { test, type Test } from 'tap'
import { postgres } from '../../adapters/postgres.ts'
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
  return { ...host, newest, add: () => host.app.users.create({ name: 'Bob', email: 'bob@example.org' }) }
}

test('a page that begins now is behind all committed events, read or not, on postgres', async (t) => {
  const { call, newest, add } = await withUnreadEvents(t)
  const { position } = (await call('GET', '/events?after=now')).json().meta
  t.equal(position, newest)
  const { id } = await add()
  const { data } = (await call('GET', `/events?after=${position}`)).json()
  t.match(data, [{ type: 'user.created', data: { id } }])
  t.equal(data.length, 1)
})

test('an iteration that begins now gives no event of before, on postgres', async (t) => {
  const { app, newest, add } = await withUnreadEvents(t)
  const positions: string[] = []
  const reading = app.users.events.after('now', { onPosition: (each) => { positions.push(each) } })
  const next = reading.next()
  await until('it has begun', () => positions.length === 1)
  t.strictSame(positions, [newest])
  const { id } = await add()
  t.match(await next, { value: { type: 'user.created', data: { id } } })
  await reading.return(undefined)
})

test('a stream that begins now gives no event of before, on postgres', async (t) => {
  const host = await withUnreadEvents(t)
  const stream = await openStream(host, '?after=now')
  await until('the stream was open', () => stream.text() !== '')
  t.equal(stream.text(), `:\nid: ${host.newest}\n\n`)
  const { id } = await host.add()
  await until('the event was there', () => stream.events().length > 0)
  t.match(stream.events()[0]?.data, { type: 'user.created', data: { id } })
  stream.end()
})

test('a page says that no more follows only if no committed event does, read or not, on postgres', async (t) => {
  const { call, newest } = await withUnreadEvents(t)
  const { data, meta } = (await call('GET', '/events?type=user.deleted')).json()
  t.strictSame(data.map(({ id }: { id: string }) => id), [newest])
  t.strictSame(meta, { limit: 20, more: false, position: newest })
})
