// Contract §13: the event log as Server-Sent Events, over sockets.
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import { test, type Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { sendStream } from '../../lib/http/streams/event-stream.ts'
import type { LoggedEvent } from '../../lib/index.ts'
import { advancing } from '../helpers/advancing.ts'
import { testApp, type TestAppOptions } from '../helpers/app.ts'
import { turns } from '../helpers/exchanges.ts'
import { withoutType } from '../helpers/fields.ts'
import { openStream } from '../helpers/open-stream.ts'
import { until } from '../helpers/until.ts'

// How often a stream has its caller checked, and says how far it is.
const ROUND_MS = 15_000

const logged = (t: Test, options: TestAppOptions = {}) => testApp(t, { eventLog: true, ...options })
const ann = { name: 'Ann', email: 'Ann@example.org' }

test('a stream has the events that are there and those that come, and goes on where it ended', async (t) => {
  const host = await logged(t)
  const { app } = host
  const first = await app.users.create(ann)
  const stream = await openStream(host, '?type=user.*')
  t.equal(stream.response.statusCode, 200)
  t.match(stream.response.headers, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    vary: 'Accept',
    'x-content-type-options': 'nosniff'
  })
  await until('the first event was there', () => stream.events().length === 1)
  await app.users.update(first.id, { name: 'Anna' })
  await app.users.delete(first.id)
  await until('three events were there', () => stream.events().length === 3)
  const events = (await host.call('GET', '/events?type=user.*')).json().data
  t.strictSame(stream.events(), events.map((data: LoggedEvent) => ({ id: data.id, data })))
  stream.end()
  const second = await openStream(host, `?after=${events[0]?.id}&type=user.*`, {
    'last-event-id': String(events[1]?.id)
  })
  await until('the last event was there', () => second.events().length === 1)
  t.equal(second.events()[0]?.id, events[2]?.id)
  second.end()
})

test('what a hook of the host varies by stays', async (t) => {
  const { call } = await logged(t, {
    before: (app) => { app.addHook('onRequest', async (_request, reply) => { reply.header('vary', 'Origin') }) }
  })
  t.equal((await call('GET', '/events')).headers.vary, 'Origin, Accept')
})

test('a client gets a stream if it names one, and prefers JSON no more', async (t) => {
  // A stream whose place is unknown is refused before it begins, and names the header.
  const { call } = await logged(t)
  const rows: Array<[accept: string, isStream: boolean]> = [
    ['Text/Event-Stream; charset=utf-8', true],
    ['application/json, text/event-stream', true],
    ['application/json, text/event-stream;q=0.9', false],
    ['text/event-stream; q=0.000', false],
    ['*/*', false],
    ['text/*', false]
  ]
  for (const [accept, isStream] of rows) {
    const { statusCode } = await call('GET', '/events', { headers: { accept, 'last-event-id': 'x' } })
    t.equal(statusCode, isStream ? 400 : 200, accept)
  }
})

test('a stream ends soon after its key was revoked', async (t) => {
  const host = await logged(t, { apiKeys: { cache: 0 } })
  const { app, call } = host
  const reader = await app.users.apiKeys.create({ name: 'reader', scopes: ['events:read'] })
  const { advance } = advancing(t)
  const stream = await openStream({ ...host, key: reader.key })
  await turns('the stream was open', () => stream.text() !== '')
  await app.users.apiKeys.revoke(reader.id)
  await advance(ROUND_MS)
  await turns('the stream has ended', stream.isOver)
  t.equal((await call('GET', '/events')).statusCode, 200)
})

test('a stream of one type says how far it is when only others come', async (t) => {
  const host = await logged(t)
  const { app, call } = host
  const { advance } = advancing(t)
  const stream = await openStream(host, '?type=user.deleted')
  await turns('the stream was open', () => stream.text() === ':\n\n')
  const { id } = await app.users.create(ann)
  await app.users.update(id, { name: 'Anna' })
  const last = (await call('GET', '/events')).json().data.at(-1).id
  await advance(1)
  await advance(ROUND_MS)
  await turns('the second comment was there', () => stream.text().length > 3)
  t.equal(stream.text(), `:\n\n:\nid: ${last}\n\n`)
  await app.users.delete(id)
  await turns('the event was there', () => stream.events().length === 1)
  t.match(stream.events(), [{ data: { type: 'user.deleted', data: { id } } }])
  stream.end()
})

test('a stream that begins at the end says where that is, so that a client goes on from there', async (t) => {
  const host = await logged(t)
  const { app } = host
  await app.users.create(ann)
  const newest = (await app.users.events.list()).data.at(-1)?.id
  const stream = await openStream(host, '?after=now&type=user.*')
  await until('the stream was open', () => stream.text() !== '')
  t.equal(stream.text(), `:\nid: ${newest}\n\n`)
  stream.end()
  const { id } = await app.users.create({ ...ann, email: 'bob@example.org' })
  const second = await openStream(host, '?after=now&type=user.*', { 'last-event-id': String(newest) })
  await until('what came meanwhile was there', () => second.events().length === 1)
  t.match(second.events(), [{ data: { type: 'user.created', data: { id } } }])
  second.end()
})

test('those who wait at the end of the log share what is read, and each has its own copy', async (t) => {
  const storage = memory()
  const { log } = storage
  const read = log.read.bind(log)
  let reads = 0
  log.read = (request) => {
    reads++
    return read(request)
  }
  const fields = Type.Object({ tags: Type.Array(Type.String()) })
  const host = await logged(t, { storage, fields: { schema: fields }, limits: { streams: { perKey: 20 } } })
  const { app } = host
  await app.users.create(withoutType({ ...ann, tags: [] }))
  const controller = new AbortController()
  const { signal } = controller
  const seen: LoggedEvent[][] = Array.from({ length: 20 }, () => [])
  const followers = seen.map(async (events) => {
    for await (const event of app.users.events.after(null, { type: 'user.*', signal })) events.push(event)
  })
  const streams = await Promise.all(seen.map(() => openStream(host, '?type=user.*')))
  await until('all have seen the first', () =>
    [...seen, ...streams.map(({ events }) => events())].every(({ length }) => length === 1))
  await setImmediate()
  reads = 0
  await app.users.create(withoutType({ ...ann, email: 'other@example.org', tags: [] }))
  await until('all have seen the second', () =>
    [...seen, ...streams.map(({ events }) => events())].every(({ length }) => length === 2))
  t.ok(reads <= 8, `${reads} reads for 40`)
  const [first, ...others] = seen.map((events) => events[1])
  Object(first?.data).tags.push('from one')
  t.ok(others.every((event) => Object(event?.data).tags.length === 0))
  controller.abort()
  await Promise.all(followers)
  for (const { end } of streams) end()
})

test('a reader that leaves while text waits for it leaves nothing behind', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  let isOver = false
  const event: LoggedEvent = Object({ id: 'evt_x', type: 'user.created', data: { id: 'x'.repeat(50_000) } })
  let closed = 0
  app.get('/', (request, reply) => sendStream(request, reply, {
    start: null,
    recheck: async () => {},
    onClose: () => { closed++ },
    async * parts () {
      try {
        while (true) yield { events: [event], last: event.id }
      } finally {
        isOver = true
      }
    }
  }))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const request = get(app.listeningOrigin)
  const [response]: IncomingMessage[] = await once(request, 'response')
  await once(Object(response), 'readable')
  request.on('error', () => {}).destroy()
  await until('what it read from has ended', () => isOver && closed === 1)
})

test('a key has 10 streams at most, and a mount as many as it says, until one of them ends', async (t) => {
  for (const [eventStreams, max, status, code] of [
    [undefined, 10, 429, 'rate_limited'], [{ perKey: 2, total: 3 }, 2, 429, 'rate_limited'],
    [{ total: 2 }, 2, 503, 'storage_unavailable']
  ] as const) {
    const host = await logged(t, eventStreams === undefined ? {} : { limits: { streams: eventStreams } })
    const { key: other } = await host.app.users.apiKeys.create({ name: 'other', scopes: ['events:read'] })
    const streams = []
    while (streams.length < max) streams.push(await openStream(host))
    t.ok(streams.every(({ response }) => response.statusCode === 200))
    const headers = { accept: 'text/event-stream' }
    const refused = await host.call('GET', '/events', { headers })
    t.match([refused.statusCode, refused.json().code, refused.headers['retry-after']], [status, code, '15'])
    t.equal((await host.call('GET', '/events')).statusCode, 200, 'a page is no stream')
    const others = await openStream({ ...host, key: other })
    t.equal(others.response.statusCode, status === 503 ? 503 : 200, 'of another key')
    others.end()
    streams.pop()?.end()
    // A stream whose beginning is refused takes no place.
    await until('there is a place again', async () =>
      (await host.call('GET', '/events?after=evt_x', { headers })).statusCode === 400)
    const again = await openStream(host)
    t.equal(again.response.statusCode, 200)
    for (const { end } of [...streams, again]) end()
  }
})
