// An export over sockets: back pressure, and how it ends before its end.
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'tap'
import { StorageError } from '../../lib/storage/storage-error.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { pacedStream } from '../../lib/http/streams/paced-stream.ts'
import { advancing } from '../helpers/advancing.ts'
import { testApp, type TestApp } from '../helpers/app.ts'
import { crowd } from '../helpers/crowd.ts'
import { replaceSteadyClock } from '../helpers/steady-clock.ts'
import { until } from '../helpers/until.ts'

/** An export of a server that listens, as its client reads it. */
async function openExport ({ app, key }: TestApp, query = '') {
  if (app.server.address() === null) await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = Object(app.server.address())
  const headers = { authorization: `Bearer ${key}` }
  const request = get({ host: '127.0.0.1', port, path: `/v1/users/export${query}`, headers })
  const [response]: IncomingMessage[] = await once(request, 'response')
  if (response === undefined) throw new Error('there was no response')
  let length = 0
  let isBroken = false
  response.on('error', () => { isBroken = true })
  return {
    response,
    read: () => response.on('data', (chunk: Buffer) => { length += chunk.length }).resume(),
    length: () => length,
    isBroken: () => isBroken,
    leave: () => request.destroy()
  }
}

/** Counts how many reads of all users run, and how many parts were taken. */
function watchReads (storage: Storage): { running: () => number, parts: () => number } {
  const walk = storage.users.walk.bind(storage.users)
  let running = 0
  let parts = 0
  storage.users.walk = async (filter, order, onPart) => {
    running++
    await walk(filter, order, async (users) => {
      await onPart(users)
      parts++
    }).finally(() => { running-- })
  }
  return { running: () => running, parts: () => parts }
}

test('a client that goes away ends the reading, and one that waits holds it up', async (t) => {
  const storage = await crowd(30_000)
  const { running, parts } = watchReads(storage)
  const host = await testApp(t, { storage })
  const { response, leave } = await openExport(host)
  response.pause()
  await until('it was read until the connection was full', () => parts() > 0)
  t.ok(parts() < 30, 'not everything is read ahead')
  leave()
  await until('nothing is read any more', () => running() === 0)
  t.ok(parts() < 30)
  const whole = await openExport(host)
  whole.read()
  await once(whole.response, 'end')
  t.ok(whole.length() > 30_000 * 300)
  t.equal(running(), 0)
})

test('an error in the middle breaks the connection off', async (t) => {
  const storage = await crowd(3000)
  const walk = storage.users.walk.bind(storage.users)
  let parts = 0
  storage.users.walk = (filter, order, onPart) => walk(filter, order, async (users) => {
    await onPart(users)
    if (++parts === 2) throw new StorageError('unavailable', 'the connection was lost', { driverCode: 'ECONNRESET' })
  })
  const exported = await openExport(await testApp(t, { storage }))
  exported.read()
  await until('the client has noticed', exported.isBroken)
  t.equal(exported.response.complete, false)
})

test('an export ends soon after its key was revoked', async (t) => {
  const storage = await crowd(30_000)
  const host = await testApp(t, { storage, apiKeys: { cache: 0 } })
  const reader = await host.app.users.apiKeys.create({ name: 'reader', scopes: ['users:read'] })
  const exported = await openExport({ ...host, key: reader.key })
  exported.response.pause()
  await host.app.users.apiKeys.revoke(reader.id)
  // The first chunks were checked when the stream began.
  const { now } = performance
  replaceSteadyClock(t, () => now.call(performance) + 16_000)
  exported.read()
  await until('the client has noticed', exported.isBroken)
})

test('exports hold no place of the limit of concurrent requests', async (t) => {
  const storage = await crowd(30_000)
  const host = await testApp(t, { storage, limits: { inFlight: 1 } })
  const exported = await openExport(host)
  exported.response.pause()
  t.equal((await host.call('GET', '/users?limit=1')).statusCode, 200)
  exported.leave()
})

test('a reader that takes nothing for 30 seconds is dropped, and later if it has taken much', async (t) => {
  const { advance } = advancing(t)
  const gone = new AbortController()
  const stream = pacedStream(gone, async function * (_signal, pace) {
    for (let n = 0; n < 10; n++) yield * pace(`${n}`)
  })
  stream.on('error', () => {})
  await once(stream, 'readable')
  await advance(29_000)
  t.equal(stream.read(), '0')
  await advance(0)
  await advance(29_000)
  t.notOk(stream.destroyed)
  await advance(1001)
  t.ok(stream.destroyed)
  const long = pacedStream(new AbortController(), async function * (_signal, pace) {
    yield * pace('x'.repeat(3_000_000))
  })
  await once(long, 'readable')
  const take = async () => {
    await advance(0)
    return Number(long.read()?.length)
  }
  // Two pieces were taken ahead, and each gives 6.5 seconds more.
  t.equal(await take(), 65_536)
  await advance(42_000)
  t.notOk(long.destroyed)
  for (let n = 0; n < 20; n++) t.equal(await take(), 65_536)
  await advance(119_000)
  t.notOk(long.destroyed)
  await advance(1001)
  t.ok(long.destroyed)
  const emoji = pacedStream(new AbortController(), (_signal, pace) => pace(`x${'\u{1f98a}'.repeat(50_000)}`))
  t.equal(await text(emoji), `x${'\u{1f98a}'.repeat(50_000)}`, 'no character is cut')
  const late = new AbortController()
  late.abort()
  t.ok(pacedStream(late, async function * () {}).destroyed)
})
