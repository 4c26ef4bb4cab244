// How exports end before their end, on each version of HTTP: visibly. And how readers hold them up.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'tap'
import { pacedStream } from '../../lib/http/streams/paced-stream.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { advancing } from '../helpers/advancing.ts'
import { testApp } from '../helpers/app.ts'
import { crowd, MANY } from '../helpers/crowd.ts'
import { endingOf, served, turns, type Ways } from '../helpers/exchanges.ts'
import { replaceSteadyClock } from '../helpers/steady-clock.ts'
import { http1, TRANSPORTS } from '../helpers/transports.ts'
import { until } from '../helpers/until.ts'

/** A store that counts how many reads of all users run, and how many parts they gave. */
function watched (storage: Storage): Storage & { running: () => number, parts: () => number } {
  const walk = storage.users.walk.bind(storage.users)
  let running = 0
  let parts = 0
  storage.users.walk = (filter, order, onPart) => {
    running++
    return walk(filter, order, async (users) => {
      parts++
      await onPart(users)
    }).finally(() => { running-- })
  }
  return Object.assign(storage, { running: () => running, parts: () => parts })
}

/** A store whose reading of all users fails after so many parts. */
function failsAfter (storage: Storage, count: number): Storage {
  const walk = storage.users.walk.bind(storage.users)
  storage.users.walk = (filter, order, onPart) => {
    let parts = 0
    return walk(filter, order, async (users) => {
      await onPart(users)
      if (++parts < count) return
      throw new StorageError('unavailable', 'the connection was lost', { driverCode: 'ECONNRESET' })
    })
  }
  return storage
}

/** The ways in which the server breaks an export off. */
const exports: Ways = [
  ['whose storage fails', async (t, transport) => {
    const { send } = await served(t, transport, { storage: failsAfter(await crowd(3000), 2) })
    const exported = send('GET', '/users/export')
    exported.read()
    return exported
  }],
  ['whose key is revoked', async (t, transport) => {
    const storage = watched(await crowd(MANY))
    const { send, revoke } = await served(t, transport, { storage })
    const exported = send('GET', '/users/export')
    await until('it has begun', () => storage.running() === 1)
    await revoke()
    const { now } = performance
    replaceSteadyClock(t, () => now.call(performance) + 16_000)
    exported.read()
    return exported
  }],
  ['whose reader takes nothing for two minutes', async (t, transport) => {
    const storage = watched(await crowd(MANY))
    const { send } = await served(t, transport, { storage })
    const { advance } = advancing(t)
    const exported = send('GET', '/users/export')
    let parts = -1
    await turns('it was read until the connection was full', () => {
      const isFull = parts > 0 && parts === storage.parts()
      parts = storage.parts()
      return isFull
    })
    await advance(120_001)
    await turns('nothing is read any more', () => storage.running() === 0)
    exported.read()
    await turns('it has ended', () => exported.ending() !== null)
    return exported
  }]
]

for (const transport of TRANSPORTS) {
  const { name } = transport

  for (const [way, run] of exports) {
    test(`${name}: an export ${way} is broken off`, async (t) => {
      t.equal(await endingOf(await run(t, transport)), 'broken')
    })
  }
}

test('over HTTP/1.0 on a Unix socket, which has no reset, an export that is broken off is ended', async (t) => {
  // The path of a Unix socket has at most 107 bytes.
  const directory = await mkdtemp(join(tmpdir(), 'users-'))
  t.teardown(() => rm(directory, { recursive: true }))
  const path = join(directory, 'http')
  const { app, key } = await testApp(t, { storage: failsAfter(await crowd(3000), 2) })
  await app.listen({ path })
  const socket = connect(path)
  socket.write(`GET /v1/users/export HTTP/1.0\r\nauthorization: Bearer ${key}\r\n\r\n`)
  const answer = await text(socket)
  t.match(answer, /^HTTP\/1.1 200 OK\r\n/)
  t.ok(answer.split('\n').length < 3000)
})

test('a client that waits holds up the reading, and one that goes away ends it', async (t) => {
  const storage = watched(await crowd(MANY))
  const { send } = await served(t, http1, { storage })
  const left = send('GET', '/users/export')
  await until('it was read until the connection was full', () => storage.parts() > 0)
  t.ok(storage.parts() < 6, 'not everything is read ahead')
  left.cancel()
  await until('nothing is read any more', () => storage.running() === 0)
  t.ok(storage.parts() < 6)
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
