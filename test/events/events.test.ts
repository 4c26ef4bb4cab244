// Contract §11: events are emitted once, after the commit, with actor and request id. No listener affects a request.
import { mock } from 'node:test'
import Fastify from 'fastify'
import { test } from 'tap'
import { contextOf } from '../../lib/http/caller.ts'
import type { EventType } from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'
import { untyped } from '../helpers/untyped.ts'
import '../helpers/watch-all.ts'

const nextTick = () => new Promise((resolve) => setImmediate(resolve))

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
