// What becomes of exports and imports whose server closes: they come to an end, in as much time as there is.
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { advancing } from '../helpers/advancing.ts'
import { testApp } from '../helpers/app.ts'
import { aroundFind } from '../helpers/around.ts'
import { crowd, MANY } from '../helpers/crowd.ts'
import { endingOf, served, turns } from '../helpers/exchanges.ts'
import { linesOf } from '../helpers/import-rows.ts'
import { captureLog } from '../helpers/log.ts'
import { line, openImport } from '../helpers/open-import.ts'
import { listen } from '../helpers/raw.ts'
import { type Transport, TRANSPORTS } from '../helpers/transports.ts'
import { until } from '../helpers/until.ts'

const NDJSON = { 'content-type': 'application/x-ndjson' }

/** A store whose reads of all users wait until they are released. */
function held (storage: Storage): Storage & { isAsked: () => boolean, release: () => void } {
  const walk = storage.users.walk.bind(storage.users)
  let isAsked = false
  let release = (): void => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  storage.users.walk = async (...args) => {
    isAsked = true
    await released
    return walk(...args)
  }
  return Object.assign(storage, { isAsked: () => isAsked, release })
}

/** A transport whose server logs warnings. */
function logging (transport: Transport): { transport: Transport, text: () => string } {
  const log = captureLog()
  const server = { ...transport.server, logger: { level: 'warn', stream: log.stream } }
  return { transport: { ...transport, server }, text: log.text }
}

for (const transport of TRANSPORTS) {
  const { name } = transport

  for (const [what, count, hasUsers] of [
    ['goes on to its end', MANY, true], ['that waits for its first users gets all of them', 2000, false]
  ] as const) {
    test(`${name}: an export ${what} when its server closes`, async (t) => {
      const log = logging(transport)
      const storage = held(await crowd(count))
      const { app, send } = await served(t, log.transport, { storage })
      const exported = send('GET', '/users/export')
      if (hasUsers) storage.release()
      await until('users are read', storage.isAsked)
      const closed = app.close()
      storage.release()
      exported.read()
      t.equal(await endingOf(exported), 'whole')
      t.equal(exported.text().split('\n').length, count + 1)
      await closed
      t.equal(log.text(), '')
    })
  }

  test(`${name}: an export that has not ended 7 seconds after its server began to close is broken off`, async (t) => {
    const storage = held(await crowd(MANY))
    const { app, send } = await served(t, transport, { storage })
    const { advance } = advancing(t)
    const exported = send('GET', '/users/export')
    storage.release()
    await turns('it has begun', storage.isAsked)
    const closed = app.close()
    await turns('it listens no more', () => !app.server.listening)
    await advance(6999)
    t.equal(exported.ending(), null)
    await advance(2)
    exported.read()
    await turns('it has ended', () => exported.ending() !== null)
    t.equal(exported.ending(), 'broken')
    await closed
  })

  test(`${name}: an import answers what it has read when its server closes, and where it stopped`, async (t) => {
    const log = logging(transport)
    const { app, send } = await served(t, log.transport)
    const imported = send('POST', '/users/import?report=all', NDJSON)
    imported.read()
    imported.send(`${line(1)}\n${line(2)}${line(3).slice(0, -5)}`)
    await until('two lines are answered', () => imported.text().split('\n').length === 3)
    const closed = app.close()
    t.equal(await endingOf(imported), 'whole')
    const summary = { created: 2, updated: 0, skipped: 0, refused: 0, dryRun: false, stoppedAfter: 3 }
    t.match(linesOf(imported.text()), [{ line: 1 }, { line: 3 }, { summary }])
    await closed
    const [entry, ...more] = linesOf(log.text())
    t.match(entry, { level: 40, summary, msg: /^an import was stopped because the server is closing/ })
    t.strictSame(more, [])
    t.equal((await app.users.list()).meta.total, 2)
  })

  test(`${name}: an import whose first row has not come when its server closes is 503`, async (t) => {
    const log = logging(transport)
    const { app, send, awaitsBody } = await served(t, log.transport)
    const imported = send('POST', '/users/import', NDJSON)
    imported.read()
    imported.send('{')
    await until('its body is awaited', awaitsBody)
    const closed = app.close()
    t.equal(await endingOf(imported), 'whole')
    t.equal(imported.status(), 503)
    t.match(JSON.parse(imported.text()), { code: 'storage_unavailable', detail: /^The server is closing\./ })
    await closed
    t.equal(log.text(), '')
  })
}

test('an import whose body has come whole goes on to its end when its server closes', async (t) => {
  const storage = memory()
  let isHeld = false
  let release = (): void => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  const host = await testApp(t, { storage, apiKeys: { cache: 0 } })
  const { sent, lines, response } = await openImport(host)
  sent.write(line(1))
  await response
  await until('the first line is answered', () => lines().length === 1)
  aroundFind(storage, 'apiKeys', async (call) => {
    isHeld = true
    await released
    return call()
  })
  sent.end(line(2) + line(3).trimEnd())
  await until('its key is looked up before the second batch', () => isHeld)
  const closed = host.app.close()
  release()
  await once(await response, 'end')
  await closed
  t.match(lines().at(-1), { summary: { created: 3, stoppedAfter: undefined } })
})

test('a server that closes refuses new exports and imports with 503', async (t) => {
  const host = await testApp(t, { server: { return503OnClosing: false }, storage: await crowd(3000) })
  const port = await listen(host.app)
  const requests = ['GET /v1/users/export', 'GET /v1/users/usr_00000000000000000000000000/subject',
    'POST /v1/users/import']
  const sockets = await Promise.all(requests.map(async (start) => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(`${start} HTTP/1.1\r\nhost: x\r\n`)
    return socket
  }))
  // A later request was answered, so the server has read the beginnings of these.
  await fetch(`http://127.0.0.1:${port}/v1/users`)
  const closed = host.app.close()
  for (const socket of sockets) {
    socket.write(`authorization: Bearer ${host.key}\r\nconnection: close\r\n` +
      'content-type: text/csv\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n')
    const answer = await text(socket)
    t.match(answer, /HTTP\/1\.1 503 [^]*"code":"storage_unavailable"/)
  }
  await closed
})
