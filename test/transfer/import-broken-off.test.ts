// How imports end before their end, on each version of HTTP: visibly, and without a line that did not come whole.
import { type Test, test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { aroundCommit, aroundFind, usersIn } from '../helpers/around.ts'
import { endingOf, type Send, served } from '../helpers/exchanges.ts'
import { linesOf } from '../helpers/import-rows.ts'
import { line } from '../helpers/open-import.ts'
import { type Exchange, http1, type Transport, TRANSPORTS } from '../helpers/transports.ts'
import { until } from '../helpers/until.ts'

const lost = () => new StorageError('unavailable', 'the connection was lost', { driverCode: 'ECONNRESET' })

const NDJSON = { 'content-type': 'application/x-ndjson' }
const CSV = { 'content-type': 'text/csv' }

/** Begins an import, and waits until its first line was answered. */
async function beginImport (send: Send): Promise<Exchange> {
  const imported = send('POST', '/users/import?report=all', NDJSON)
  imported.read()
  imported.send(line(1))
  await until('the first line is answered', () => imported.text().endsWith('}\n'))
  return imported
}

/** Begins an import whose storage fails at its second line. */
async function beginBroken (t: Test, transport: Transport): Promise<Exchange> {
  const storage = memory()
  aroundCommit(storage, 'users', (call, units) =>
    usersIn(units, 'added').some(({ name }) => name === 'User 2') ? Promise.reject(lost()) : call())
  const { send } = await served(t, transport, { storage })
  const imported = await beginImport(send)
  imported.send(line(2))
  return imported
}

// Of a key that is revoked: import-stream.test.ts.
for (const transport of TRANSPORTS) {
  const { name } = transport

  test(`${name}: an import whose storage fails is broken off`, async (t) => {
    const imported = await beginBroken(t, transport)
    t.equal(await endingOf(imported), 'broken')
    t.notMatch(imported.text(), 'summary')
  })

  test(`${name}: the last line of a body that its client breaks off is not imported`, async (t) => {
    const { app, send, running } = await served(t, transport)
    const imported = send('POST', '/users/import?report=all', CSV)
    imported.read()
    imported.send('name,email\nAnn,ann@example.org\nBob,bob@example.co')
    await until('the first line is answered', () => imported.text().endsWith('}\n'))
    imported.cancel()
    await until('the server has noticed', () => running() === 0)
    t.strictSame((await app.users.list()).data.map(({ email }) => email), ['ann@example.org'])
    const whole = send('POST', '/users/import?onConflict=skip', CSV)
    whole.read()
    whole.send('name,email\nAnn,ann@example.org\nBob,bob@example.co')
    whole.end()
    t.equal(await endingOf(whole), 'whole')
    t.match(linesOf(whole.text()), [{ summary: { created: 1, skipped: 1 } }])
  })

  test(`${name}: nothing is imported for a client that has gone, even if its body is whole`, async (t) => {
    const storage = memory()
    let holds = false
    let isHeld = false
    let release = (): void => {}
    const released = new Promise<void>((resolve) => { release = resolve })
    aroundFind(storage, 'apiKeys', async (call) => {
      isHeld = holds
      if (holds) await released
      return call()
    })
    const { app, send, running, awaitsBody } = await served(t, transport, { storage })
    const imported = send('POST', '/users/import', CSV)
    imported.send('name,email\n')
    await until('its body is awaited', awaitsBody)
    holds = true
    imported.send('Ann,ann@example.org\n')
    imported.end()
    await until('its key is looked up before the batch', () => isHeld)
    imported.cancel()
    await until('the server has noticed', () => running() === 0)
    release()
    await app.close()
    t.equal((await app.users.list()).meta.total, 0)
  })
}

test('imports are broken off on a host without lines for requests', async (t) => {
  const server = { disableRequestLogging: true }
  t.equal(await endingOf(await beginBroken(t, { ...http1, server })), 'broken')
  const { send } = await served(t, { ...http1, server })
  const cancelled = await beginImport(send)
  cancelled.cancel()
})

test('an import whose connection is idle for too long is broken off', async (t) => {
  const { send } = await served(t, { ...http1, server: { connectionTimeout: 200 } })
  t.equal(await endingOf(await beginImport(send)), 'broken')
})
