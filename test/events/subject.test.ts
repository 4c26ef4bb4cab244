// Contract §17: all that is stored of a person, as one document.
import { test } from 'tap'
import { testApp } from '../helpers/app.ts'
import { until } from '../helpers/until.ts'
import { startReceiver } from '../helpers/webhook-receiver.ts'
import { hooked } from '../webhooks/hooked.ts'

test('a subject has the user, its whole history, and where that was delivered', async (t) => {
  const { app, call } = await hooked(t, {}, { trash: true })
  const { id } = await app.users.create({ name: 'Ann', email: 'ann@example.org' })
  for (let n = 0; n < 104; n++) await app.users.update(id, { name: `Ann ${n}` })
  const other = await app.users.create({ name: 'Bob', email: 'bob@example.org' })
  const receiver = await startReceiver(t)
  const webhook = await app.webhooks.create({ url: `${receiver.url}?token=secret` })
  await app.users.update(id, { name: 'Anna' })
  await app.users.update(other.id, { name: 'Bobby' })
  await until('both were delivered', async () =>
    (await app.webhooks.deliveries(webhook.id)).data.filter(({ status }) => status === 'succeeded').length === 2)

  const read = async (method = 'GET', path = '') => call(method, `/users/${id}/subject${path}`)
  const answer = await read()
  t.strictSame([answer.statusCode, answer.headers['content-type'], answer.headers['cache-control']],
    [200, 'application/json; charset=utf-8', 'no-store'])
  const subject = answer.json()
  t.strictSame(Object.keys(subject), ['user', 'groups', 'events', 'deliveries'])
  t.strictSame(subject.user, (await call('GET', `/users/${id}`)).json())
  t.strictSame(subject.events.map(({ data }: { data: { version: number } }) => data.version),
    Array.from({ length: 106 }, (_, n) => 106 - n), 'each event once, newest first')
  t.strictSame(subject.events.slice(0, 100), (await call('GET', `/users/${id}/events?limit=100`)).json().data)
  const { data: deliveries } = (await call('GET', `/webhooks/${webhook.id}/deliveries`)).json()
  const [own] = deliveries.filter(({ event }: { event: string }) => event === subject.events[0].id)
  t.strictSame(subject.deliveries, [{ ...own, webhook: { id: webhook.id, origin: new URL(receiver.url).origin } }])
  t.notMatch(answer.body, /secret|Bob/)
  t.strictSame(await app.users.subject(id), subject, 'in process it is the same')
  t.equal(subject.user.version, 106)
  const head = await read('HEAD')
  t.strictSame([head.statusCode, head.body, head.headers['content-type']],
    [200, '', 'application/json; charset=utf-8'])
  t.match((await read('GET', '?limit=1')).json(), { code: 'validation_failed', errors: [{ parameter: 'limit' }] })

  await app.users.delete(id)
  const away = (await read()).json()
  t.match(away, { user: { ...subject.user, deletedAt: String, deletedBy: null }, events: { length: 107 } })
  await app.users.delete(id, { erase: true })
  const gone = (await read()).json()
  t.equal(gone.user, null)
  t.equal(gone.events.length, 108)
  t.notMatch(JSON.stringify(gone.events), 'Ann', 'an erasure leaves no values')
  for (const unknown of ['usr_01h455vb4pex5vsknk084sn02q', 'x']) {
    t.match((await call('GET', `/users/${unknown}/subject`)).json(), { status: 404, code: 'user_not_found' })
  }
  await t.rejects(app.users.subject('x'), { code: 'user_not_found' })
})

test('a subject is one person, also where an import gave a purged id again', async (t) => {
  for (const trash of [true, false]) {
    const { app, call } = await testApp(t, { eventLog: true, trash })
    const { id } = await app.users.create({ name: 'Ann', email: 'ann@example.org' })
    await app.users.update(id, { name: 'Ann Smith' })
    await app.users.delete(id)
    if (trash) await app.users.delete(id, { purge: true })
    const types = async () => (await app.users.subject(id)).events.map(({ type }) => type)
    const end = trash ? ['user.purged', 'user.deleted'] : ['user.deleted']
    t.strictSame(await types(), [...end, 'user.updated', 'user.created'], 'of whom it had last')
    const body = `${JSON.stringify({ id, name: 'Bob', email: 'bob@example.org' })}\n`
    const headers = { 'content-type': 'application/x-ndjson' }
    t.match((await call('POST', '/users/import', { body, headers })).body, /"created":1/)
    t.strictSame(await types(), ['user.created'])
    t.notMatch((await call('GET', `/users/${id}/subject`)).body, /Ann/)
    t.match((await call('GET', `/users/${id}/events`)).json().meta, { total: end.length + 3 })
    await app.users.delete(id)
    t.strictSame(await types(), ['user.deleted', 'user.created'])
    if (trash) await app.users.delete(id, { purge: true })
  }
})

test('without an event log a subject is the user alone', async (t) => {
  const { app, call } = await testApp(t)
  const user = await app.users.create({ name: 'Ann', email: 'ann@example.org' })
  const { id } = user
  const { statusCode, body } = await call('GET', `/users/${id}/subject`)
  t.strictSame([statusCode, JSON.parse(body)], [200, { user, groups: [], events: [], deliveries: [] }])
  await app.users.delete(id)
  t.equal((await call('GET', `/users/${id}/subject`)).statusCode, 404)
})
