// Contract §13 and §18: the event log newest first, and by subject, actor and time.
import { test, type Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { newId } from '../../lib/core/ids.ts'
import type { LoggedEvent } from '../../lib/index.ts'
import { testApp, type TestApp, type TestAppOptions } from '../helpers/app.ts'

const logged = (t: Test, options: TestAppOptions = {}) =>
  testApp(t, { eventLog: true, ...options, apiKeys: { routes: true, ...options.apiKeys } })
const stream = { headers: { accept: 'text/event-stream' } }

/** All events of a walk by `Link`, and the meta of its pages. */
async function walk ({ call }: TestApp, query: string) {
  const all: LoggedEvent[] = []
  const metas: Array<Record<string, unknown>> = []
  let path = `/events?${query}`
  while (true) {
    const response = await call('GET', path)
    all.push(...response.json().data)
    metas.push(response.json().meta)
    const next = /<\/v1(\/events[^>]*)>; rel="next"/.exec(String(response.headers['link']))?.[1]
    if (next === undefined) return { all, metas }
    path = next
  }
}

const idsOf = (events: readonly LoggedEvent[]): string[] => events.map(({ id }) => id)

test('the log is read newest first, and by subject, actor and time', async (t) => {
  const host = await logged(t)
  const { app, call } = host
  const other = await app.users.apiKeys.create({ name: 'other', scopes: ['users:read', 'users:write'] })
  const headers = { authorization: `Bearer ${other.key}` }
  const add = async (name: string, by = {}) =>
    (await call('POST', '/users', { payload: { name, email: `${name}@example.org` }, ...by })).json()
  const [one, two] = [await add('one'), await add('two', { headers })]
  await call('PATCH', `/users/${one.id}`, { payload: { name: 'first' }, headers })
  await call('DELETE', `/users/${one.id}`)
  await app.users.create({ name: 'host', email: 'host@example.org' })
  const forwards = (await walk(host, 'limit=100')).all

  const { all, metas } = await walk(host, 'order=desc&limit=2')
  t.strictSame(all, forwards.toReversed())
  t.strictSame(metas[0], { limit: 2, more: true, position: forwards.at(-1)?.id })
  t.ok(metas.slice(1).every((meta) => !('position' in meta)), 'only the first page says where to read on')

  // What comes during a walk is not in it.
  const first = await call('GET', '/events?order=desc&limit=2&type=user.*')
  const created = await add('three')
  t.match(first.headers['link'], /^<\/v1\/events\?order=desc&limit=2&type=user\.\*&before=evt_\w+>; rel="next"$/)
  const before = first.json().data[1].id
  const rest = await walk(host, `order=desc&limit=2&type=user.*&before=${before}`)
  t.strictSame([...idsOf(first.json().data), ...idsOf(rest.all)], idsOf(all.filter(({ type }) => /^user/.test(type))))
  const since = await call('GET', `/events?after=${first.json().meta.position}`)
  t.strictSame(since.json().data.map(({ data }: LoggedEvent) => data['id']), [created.id])

  const ofOne = forwards.filter(({ data }) => data['id'] === one.id)
  const subject = await walk(host, `order=desc&subject=${one.id}&limit=2`)
  t.strictSame(subject.all, ofOne.toReversed())
  t.strictSame(subject.metas.map(({ total }) => total), [3, 3])
  const byOther = forwards.filter(({ actor }) => actor?.id === other.id)
  t.strictSame(byOther.map(({ data }) => data['id']), [two.id, one.id])
  t.strictSame((await walk(host, `actor=${other.id}&type=user.updated`)).all, byOther.slice(1))

  const time = String(byOther[1]?.timestamp)
  const until = forwards.filter(({ timestamp }) => timestamp < time)
  const elsewhere = new Date(Date.parse(time) + 7_200_000).toISOString().replace('Z', '%2B02:00')
  t.strictSame((await walk(host, `order=desc&until=${elsewhere}&limit=3`)).all, until.toReversed())
  t.strictSame((await walk(host, `since=${time}&limit=100`)).all.slice(0, forwards.length - until.length),
    forwards.slice(until.length))
  // Later than the millisecond that the event has.
  const later = time.replace('Z', '001Z')
  t.ok((await walk(host, `until=${later}`)).all.some(({ id }) => id === byOther[1]?.id))
  t.notOk((await walk(host, `since=${later}`)).all.some(({ id }) => id === byOther[1]?.id))

  const history = async (query: string) => (await call('GET', `/users/${one.id}/events?${query}`)).json()
  t.match(await history('type=user.updated'), { data: [{ id: ofOne[1]?.id }], meta: { page: 1, total: 1 } })
  t.match(await history('type=user'), { code: 'validation_failed', errors: [{ parameter: 'type', code: 'choice' }] })
  const { data } = await app.users.events.ofUser(one.id, { type: 'user.deleted' })
  t.strictSame(idsOf(data), idsOf(ofOne.slice(2)))
})

test('an order and a place that do not go together, and what is no filter, are 400', async (t) => {
  const { call, app } = await logged(t)
  const [event] = (await call('GET', '/events')).json().data
  const faults = async (query: string, options = {}) => {
    const response = await call('GET', `/events?${query}`, options)
    t.equal(response.statusCode, 400, query)
    return response.json().errors.map(({ detail, ...fault }: { detail: string }) => fault)
  }
  t.strictSame(await faults(`order=desc&after=${event.id}`), [{ parameter: 'after', code: 'exclusive' }])
  t.strictSame(await faults(`before=${event.id}`), [{ parameter: 'before', code: 'exclusive' }])
  t.strictSame(await faults(`order=desc&before=${newId('evt')}`), [{ parameter: 'before', code: 'unknown' }])
  t.strictSame(await faults('order=desc&before=now'), [{ parameter: 'before', code: 'format' }])
  t.strictSame(await faults('order=newest&subject=ann&actor=&since=yesterday&until=2026-02-30T00:00:00Z'), [
    { parameter: 'order', code: 'choice' }, { parameter: 'subject', code: 'format' },
    { parameter: 'actor', code: 'format' }, { parameter: 'since', code: 'format' },
    { parameter: 'until', code: 'format' }
  ])
  t.strictSame(await faults('actor=a%00'), [{ parameter: 'actor', code: 'format' }])
  // A plus that was not escaped.
  t.strictSame(await faults('since=2026-01-01T00:00:00+02:00'), [{ parameter: 'since', code: 'format' }])
  t.strictSame(await faults('order=desc', stream), [{ parameter: 'order', code: 'exclusive' }])
  t.strictSame(await faults('until=2030-01-01T00:00:00Z', stream), [{ parameter: 'until', code: 'exclusive' }])
  await t.rejects(app.users.events.after(null, Object({ until: '2030-01-01T00:00:00Z' })).next(), {
    code: 'validation_failed', errors: [{ parameter: 'until', code: 'exclusive' }]
  })
})

test('a walk newest first ends where the log was pruned', async (t) => {
  const storage = memory()
  const host = await logged(t, { storage })
  const { app, call } = host
  for (const n of [1, 2, 3]) await app.users.create({ name: `User ${n}`, email: `user${n}@example.org` })
  const all = (await walk(host, 'order=desc')).all
  await storage.log.prune(new Date(Date.now() + 1000).toISOString(), 100)
  const response = await call('GET', `/events?order=desc&before=${all[1]?.id}`)
  t.strictSame([response.statusCode, response.json()], [200, { data: [], meta: { limit: 20, more: false } }])
  t.strictSame((await walk(host, 'order=desc')).all, all.slice(0, 1))
})

test('an iteration has the events of one subject or actor, from a time on', async (t) => {
  const { app } = await logged(t)
  const one = await app.users.create({ name: 'One', email: 'one@example.org' })
  await app.users.create({ name: 'Two', email: 'two@example.org' })
  const iteration = app.users.events.after(null, { subject: one.id, since: one.createdAt })
  t.match((await iteration.next()).value, { type: 'user.created', data: { id: one.id } })
  const next = iteration.next()
  await app.users.create({ name: 'Three', email: 'three@example.org' })
  await app.users.update(one.id, { name: 'First' })
  t.match((await next).value, { type: 'user.updated', data: { id: one.id } })
  await iteration.return()
})
