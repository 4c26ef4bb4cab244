// How exports end before their end, on each version of HTTP: visibly.
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'tap'
import { StorageError } from '../../lib/storage/storage-error.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { advancing } from '../helpers/advancing.ts'
import { testApp } from '../helpers/app.ts'
import { crowd } from '../helpers/crowd.ts'
import { endingOf, served, turns, type Ways } from '../helpers/exchanges.ts'
import { replaceSteadyClock } from '../helpers/steady-clock.ts'
import { TRANSPORTS } from '../helpers/transports.ts'
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
    const storage = watched(await crowd(30_000))
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
    const storage = watched(await crowd(30_000))
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

  test(`${name}: an export that is whole ends as such`, async (t) => {
    const { send } = await served(t, transport, { storage: await crowd(3000) })
    const exported = send('GET', '/users/export')
    exported.read()
    t.equal(await endingOf(exported), 'whole')
    t.equal(exported.status(), 200)
    t.equal(exported.text().split('\n').length, 3001)
  })

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
