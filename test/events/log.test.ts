// Contract §13: the event log over HTTP and in process, on every store.
import { test, type Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { newId } from '../../lib/core/ids.ts'
import { type LoggedEvent, UsersError } from '../../lib/index.ts'
import { testApp, type TestApp, type TestAppOptions } from '../helpers/app.ts'
import { fields } from '../helpers/fields.ts'
import { stores } from '../helpers/stores.ts'
import { untyped } from '../helpers/untyped.ts'
import { until } from '../helpers/until.ts'

const logged = (t: Test, options: TestAppOptions = {}) =>
  testApp(t, { eventLog: true, ...options, apiKeys: { routes: true, ...options.apiKeys } })
const ann = { name: 'Ann', email: 'Ann@example.org' }

/** All events of the feed, as whoever follows `next` gets them. */
async function feed ({ call }: TestApp, query = ''): Promise<LoggedEvent[]> {
  const all: LoggedEvent[] = []
  let path = `/events?limit=2${query}`
  while (true) {
    const response = await call('GET', path)
    all.push(...response.json().data)
    const next = /<[^>]*(\/events[^>]*)>; rel="next"/.exec(String(response.headers['link']))?.[1]
    if (next === undefined) return all
    path = next
  }
}

for (const store of stores) {
  test(`every change is in the feed once, with what it changed, on ${store.name}`, async (t) => {
    const host = await logged(t, { storage: await store.create(t), server: { genReqId: () => 'req-7' } })
    const { app, call } = host
    const [key] = (await app.users.apiKeys.list()).data
    const actor = { type: 'api_key', id: key?.id }
    const inProcess: string[] = []
    for (const type of ['user.created', 'user.updated', 'user.deleted'] as const) {
      app.users.events.on(type, ({ id }) => { inProcess.push(id) })
    }

    const user = (await call('POST', '/users', { payload: ann })).json()
    await call('POST', '/users', { payload: ann })
    const changed = (await call('PATCH', `/users/${user.id}`, { payload: { name: 'Anna' } })).json()
    await call('PATCH', `/users/${user.id}`, { payload: { name: 'Anna' } })
    const made = (await call('POST', '/api-keys', { payload: { name: 'other' } })).json()
    await call('DELETE', `/users/${user.id}`)
    const created = await app.users.create({ name: 'Bob', email: 'bob@example.org' })

    const common = { id: /^evt_\w{26}$/, timestamp: /^\d{4}-.*Z$/ }
    const byKey = { actor, requestId: 'req-7' }
    const { key: _text, ...record } = made
    const events = await feed(host)
    t.match(events, [
      { ...common, type: 'api_key.created', data: { id: key?.id }, actor: null, requestId: null },
      { ...common, type: 'user.created', data: { ...user, version: 1 }, ...byKey },
      { ...common, type: 'user.updated', data: { ...changed, version: 2 }, before: { name: 'Ann' }, ...byKey },
      { ...common, type: 'api_key.created', data: record, ...byKey },
      { ...common, type: 'user.deleted', data: { ...changed, version: 2 }, ...byKey },
      { ...common, type: 'user.created', data: created, actor: null, requestId: null }
    ].slice(events[0]?.type === 'api_key.created' && events[0].data['id'] === key?.id ? 0 : 1))
    t.strictSame(Object.keys(events.find(({ type }) => type === 'user.updated') ?? {}),
      ['id', 'type', 'timestamp', 'data', 'before', 'actor', 'requestId'])
    await until('every listener was called', () => inProcess.length === 4)
    t.strictSame(inProcess, events.filter(({ type }) => type.startsWith('user.')).map(({ id }) => id))
    t.strictSame((await feed(host, '&type=user.*')).map(({ type }) => type),
      ['user.created', 'user.updated', 'user.deleted', 'user.created'])

    const history = await call('GET', `/users/${user.id}/events?limit=2`)
    t.strictSame(history.json().data.map(({ type }: LoggedEvent) => type), ['user.deleted', 'user.updated'])
    t.strictSame(history.json().meta, { page: 1, limit: 2, total: 3 })
    t.match(history.headers['link'], `</v1/users/${user.id}/events?limit=2&page=2>; rel="next"`)
    t.equal((await call('GET', `/users/${newId('usr')}/events`)).statusCode, 404)
    t.equal((await call('GET', '/users/x/events')).statusCode, 404)

    t.strictSame((await call('GET', `/events?after=${String(events.at(-1)?.id)}`)).json(), {
      data: [], meta: { limit: 20, more: false, position: events.at(-1)?.id }
    })
  })
}

test('an erasure leaves no value of the user, also afterwards', async (t) => {
  const host = await logged(t, { fields: { schema: fields } })
  const { call, app } = host
  const own = { plan: 'pro', seats: 3 }
  const add = async (name: string) =>
    (await call('POST', '/users', { payload: { name, email: `${name}@example.org`, ...own } })).json()
  const [one, two] = [await add('first'), await add('second')]
  await call('PATCH', `/users/${one.id}`, { payload: { seats: 4 } })
  let last: unknown
  app.users.events.on('user.deleted', ({ data }) => { last = data.name })
  t.equal((await call('DELETE', `/users/${one.id}?erase=true`)).statusCode, 204)
  await until('the listener was called', () => last === 'first')
  t.equal((await call('DELETE', `/users/${two.id}`)).statusCode, 204)
  t.match(JSON.stringify(await feed(host)), 'second@example.org')
  t.equal((await call('DELETE', `/users/${two.id}?erase=true`)).statusCode, 204)
  for (const tag of ['*', '"77"']) {
    const response = await call('DELETE', `/users/${two.id}?erase=true`, { headers: { 'if-match': tag } })
    t.equal(response.statusCode, 404, 'If-Match requires the user')
  }
  const events = await feed(host, '&type=user.*')
  t.notMatch(JSON.stringify(events), /first|second|pro\b/)
  t.match(events[2], { type: 'user.updated', data: { name: null, email: null, seats: null } })
  t.strictSame(events[2]?.before, { seats: null })
  t.match((await call('DELETE', `/users/${two.id}?erase=yes`)).json(), {
    errors: [{ parameter: 'erase', code: 'choice' }]
  })
})

test('with requireIfMatch an erasure needs it as long as there is the user', async (t) => {
  const { call } = await logged(t, { requireIfMatch: true })
  const { id } = (await call('POST', '/users', { payload: ann })).json()
  const erase = async (headers: Record<string, string> = {}) =>
    (await call('DELETE', `/users/${id}?erase=true`, { headers })).statusCode
  t.equal(await erase(), 428)
  t.equal(await erase({ 'if-match': '"2"' }), 412)
  t.equal((await call('DELETE', `/users/${id}`, { headers: { 'if-match': '"1"' } })).statusCode, 204)
  t.equal(await erase(), 204)
  t.equal((await call('DELETE', `/users/${newId('usr')}?erase=true`)).statusCode, 404)
})

test('refusals of the feed', async (t) => {
  const host = await logged(t)
  const { call, app } = host
  const weak = await app.users.apiKeys.create({ name: 'weak', scopes: ['users:read'] })
  const response = await call('GET', '/events', { headers: { authorization: `Bearer ${weak.key}` } })
  t.equal(response.statusCode, 403)
  const unknown = await call('GET', `/events?after=${newId('evt')}`)
  t.match(unknown.json(), { status: 400, code: 'position_unknown', errors: [{ parameter: 'after', code: 'unknown' }] })
  const faults = (await call('GET', '/events?after=x&limit=0&type=user&page=1')).json().errors
  t.strictSame(faults.map(({ parameter }: { parameter: string }) => parameter), ['page', 'after', 'limit', 'type'])
  const streamed = await call('GET', '/events?after=x', { headers: { accept: 'text/event-stream' } })
  t.equal(streamed.statusCode, 400)
  const resumed = async (path: string, id: string) => (await call('GET', path, {
    headers: { accept: 'text/event-stream', 'last-event-id': id }
  })).json().errors.map(({ detail, ...fault }: { detail: string }) => fault)
  t.strictSame(await resumed('/events', 'x'), [{ header: 'last-event-id', code: 'format' }])
  t.strictSame(await resumed('/events', newId('evt')), [{ header: 'last-event-id', code: 'unknown' }])
  t.strictSame(await resumed('/events?after=1&after=2&type=user', 'x'), [
    { parameter: 'after', code: 'duplicate' }, { header: 'last-event-id', code: 'format' },
    { parameter: 'type', code: 'choice' }
  ])
  t.equal(streamed.headers['content-type'], 'application/problem+json; charset=utf-8')
  await t.rejects(app.users.events.after(newId('evt')).next(), { code: 'position_unknown' })
})

test('refuses in process what is no id, no signal and no option', async (t) => {
  const { app: { users: { events } } } = await logged(t)
  await t.rejects(events.ofUser(untyped(null)), { code: 'user_not_found' })
  await t.rejects(events.after(null, untyped({ signal: {}, limt: 1 })).next(), {
    code: 'validation_failed', errors: [{ parameter: 'signal', code: 'type' }, { parameter: 'limt', code: 'unknown' }]
  })
  t.match((await events.after(null, untyped(null)).next()).value, { type: 'api_key.created' })
})

test('prunes events older than the retention, and answers events_expired to a reader of one of them', async (t) => {
  const storage = memory()
  const host = await logged(t, { storage, eventLog: { retention: 60 } })
  const { app, call } = host
  for (const n of [1, 2, 3]) await app.users.create({ name: `User ${n}`, email: `user${n}@example.org` })
  const events = await feed(host)
  await storage.log.prune(new Date(Date.now() + 1000).toISOString(), 100)
  const response = await call('GET', `/events?limit=2&after=${events[0]?.id}&type=user.*`)
  t.match([response.statusCode, response.json().code, response.headers['link']],
    [410, 'events_expired', '</v1/events?limit=2&type=user.*>; rel="first"'])
  const accept = 'text/event-stream'
  const resumed = await call('GET', '/events', { headers: { accept, 'last-event-id': String(events[0]?.id) } })
  t.match([resumed.statusCode, resumed.json().code], [410, 'events_expired'])
  await t.rejects(app.users.events.list({ after: String(events[0]?.id) }), new UsersError('events_expired'))
  t.strictSame((await feed(host)).map(({ id }) => id), [events.at(-1)?.id])
})

test('in process, an iteration ends when the server closes', async (t) => {
  const { app } = await logged(t)
  const seen: string[] = []
  const iterating = (async () => {
    for await (const { type } of app.users.events.after()) seen.push(type)
  })()
  await app.users.create(ann)
  await until('the event was seen', () => seen.length === 2)
  await app.close()
  await iterating
  t.strictSame(seen, ['api_key.created', 'user.created'])
})

test('a wrong option is refused, and without the option there is no log', async (t) => {
  await t.rejects(logged(t, { eventLog: { retention: 0 }, openapi: false }), /eventLog must be true, false or/)
  const storage = memory()
  const { app, call } = await testApp(t, { storage })
  const user = (await call('POST', '/users', { payload: ann })).json()
  t.strictSame(await storage.log.read({ after: null, limit: 9, types: null }), {
    events: [], more: false, position: null
  })
  t.equal((await call('GET', '/events')).statusCode, 404)
  t.equal((await call('GET', `/users/${user.id}/events`)).statusCode, 404)
  t.equal((await call('DELETE', `/users/${user.id}?erase=true`)).statusCode, 400)
  await t.rejects(app.users.events.list(), new TypeError('fastify-users: events.list() needs the option eventLog'))
  await t.rejects(app.users.events.after().next(), TypeError)
  await t.rejects(app.users.events.ofUser(user.id), TypeError)
  await t.rejects(app.users.delete(user.id, { erase: true }), { code: 'validation_failed' })
})
