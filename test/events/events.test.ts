// Contract §11: events are emitted once, after the commit, with actor and request id. No listener affects a request.
import { mock } from 'node:test'
import Fastify from 'fastify'
import { test } from 'tap'
import { contextOf } from '../../lib/http/caller.ts'
import type { EventType, UsersEvent } from '../../lib/index.ts'
import { testApp, type TestApp } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'
import { untyped } from '../helpers/untyped.ts'
import '../helpers/watch-all.ts'

const TYPES: EventType[] = [
  'user.created',
  'user.updated',
  'user.deleted',
  'api_key.created',
  'api_key.rotated',
  'api_key.revoked'
]
const nextTick = () => new Promise((resolve) => setImmediate(resolve))

function collect ({ app }: TestApp): Array<UsersEvent<EventType>> {
  const seen: Array<UsersEvent<EventType>> = []
  for (const type of TYPES) {
    app.users.events.on(type, (event) => {
      seen.push(event)
    })
  }
  return seen
}

test('emits one event per change', async (t) => {
  const host = await testApp(t, { server: { genReqId: () => 'req-7' } })
  const { app, call } = host
  const [key] = (await app.users.apiKeys.list()).data
  const seen = collect(host)
  const newEvents = async () => {
    await nextTick()
    return seen.splice(0)
  }
  const actor = { type: 'api_key', id: key?.id }

  const user = (await call('POST', '/users', { payload: { name: 'Ann', email: 'Ann@example.org' } })).json()
  t.match(await newEvents(), [
    {
      id: /^evt_\w{26}$/,
      type: 'user.created',
      timestamp: /Z$/,
      data: { ...user, version: 1 },
      actor,
      requestId: 'req-7'
    }
  ])
  await call('PATCH', `/users/${user.id}`, { payload: { name: 'Anna' } })
  t.match(await newEvents(), [{ type: 'user.updated', data: { id: user.id, name: 'Anna', version: 2 }, actor }])
  await call('PATCH', `/users/${user.id}`, { payload: { name: 'Anna' } })
  await call('PATCH', `/users/${user.id}`, { payload: { name: 'X' }, headers: { 'if-match': '"1"' } })
  await call('POST', '/users', { payload: { name: 'B', email: 'ANN@example.org' } })
  t.strictSame(await newEvents(), [], 'no event for a request that changes nothing or is refused')
  await call('DELETE', `/users/${user.id}`)
  await call('DELETE', `/users/${user.id}`)
  t.match(await newEvents(), [{ type: 'user.deleted', data: { id: user.id, name: 'Anna', version: 2 } }])

  const made = await app.users.apiKeys.create({ name: 'x' })
  const next = await app.users.apiKeys.rotate(made.id)
  await app.users.apiKeys.revoke(made.id)
  await app.users.apiKeys.revoke(made.id)
  const events = await newEvents()
  t.match(events, [
    { type: 'api_key.created', data: { id: made.id, start: made.start }, actor: null, requestId: null },
    { type: 'api_key.rotated', data: { id: next.id, rotatedFrom: made.id } },
    { type: 'api_key.revoked', data: { id: made.id, revokedAt: /Z$/ } }
  ])
  for (const secret of [made.key, next.key, 'digest', 'lifetime']) t.notMatch(JSON.stringify(events), secret)
})

test('a listener that throws, rejects, hangs or changes its event affects nobody else', async (t) => {
  const log = captureLog()
  const { app, call } = await testApp(t, { server: { logger: { stream: log.stream } } })
  mock.timers.enable({ apis: ['setTimeout'] })
  let released = () => {}
  app.users.events.on('user.created', () => {
    throw new Error('thrown by the listener')
  })
  app.users.events.on('user.created', async () => {
    throw new Error('rejected by the listener')
  })
  app.users.events.on(
    'user.created',
    () => new Promise<void>((resolve) => { released = resolve })
  )
  app.users.events.on('user.created', (event) => {
    Object.assign(event.data, { name: 'changed' })
  })
  const seen: string[] = []
  const stop = app.users.events.on('user.created', ({ data }) => {
    seen.push(data.name)
  })
  const created = await call('POST', '/users', { payload: { name: 'Ann', email: 'a@b.co' } })
  t.equal(created.statusCode, 201)
  await nextTick()
  t.strictSame(seen, ['Ann'])
  mock.timers.tick(10_000)
  mock.timers.reset()
  released()
  for (const words of [
    'thrown by the listener',
    'rejected by the listener',
    'a listener takes longer than 10 seconds',
    'a listener failed',
    '"eventType":"user.created"'
  ]) { t.match(log.text(), words) }
  stop()
  const user = await app.users.create({ name: 'B', email: 'b@b.co' })
  user.name = 'the caller may change what it got'
  await nextTick()
  t.strictSame(seen, ['Ann'])
  const unknown: EventType = JSON.parse('"user.made"')
  t.throws(() => app.users.events.on(unknown, () => {}), /unknown event user\.made; there are user\.created/)
  t.throws(() => app.users.events.on('user.created', untyped(null)), {
    name: 'TypeError', message: 'fastify-users: events.on() takes a type and a function'
  })
})

test('a request outside our routes has no actor', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.get('/', async (request) => contextOf(request))
  t.strictSame((await app.inject('/')).json(), { actor: null, requestId: 'req-1' })
})
