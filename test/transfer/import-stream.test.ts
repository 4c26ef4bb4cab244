// An import over sockets: lines are answered while others are sent, and how it ends before its end.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { test, type Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { aroundCommit, usersIn } from '../helpers/around.ts'
import { testApp, type TestAppOptions } from '../helpers/app.ts'
import { from } from '../helpers/level.ts'
import { line, openImport } from '../helpers/open-import.ts'
import { until } from '../helpers/until.ts'

// What it waits for comes every 15 seconds.
const waits = from('ci')

test('lines are answered while others are still to come', async (t) => {
  const host = await testApp(t)
  const { sent, response, lines } = await openImport(host)
  sent.write(line(1).slice(0, 10))
  sent.write(line(1).slice(10) + line(2).slice(0, 5))
  t.equal((await response).statusCode, 200)
  await until('the first line is answered', () => lines().length === 1)
  sent.write(line(2).slice(5) + line(1))
  await until('the next ones are answered', () => lines().length === 3)
  sent.end()
  await once(await response, 'end')
  t.match(lines(), [
    { line: 1, status: 'created' }, { line: 2, status: 'created' }, { line: 3, status: 'refused' },
    { summary: { created: 2, updated: 0, skipped: 0, refused: 1, dryRun: false } }
  ])
})

test('what was done stays done if the connection breaks, but for a line without its end', async (t) => {
  const host = await testApp(t)
  const { sent, lines, response } = await openImport(host)
  sent.write(line(1) + line(2))
  await response
  await until('both are answered', () => lines().length === 2)
  sent.write(line(3) + line(4).trimEnd())
  await until('the third one is there', async () => (await host.app.users.list()).meta.total === 3)
  sent.destroy()
  const again = await openImport(host, '?onConflict=skip')
  again.sent.end([1, 2, 3, 4].map(line).join(''))
  await once(await again.response, 'end')
  t.match(again.lines(), [{ summary: { created: 1, skipped: 3 } }])
})

test('a storage that fails in the middle breaks the connection off', async (t) => {
  const storage = memory()
  aroundCommit(storage, 'users', (call, units) => usersIn(units, 'added').some(({ name }) => name === 'User 2')
    ? Promise.reject(new StorageError('unavailable', 'the connection was lost', { driverCode: 'ECONNRESET' }))
    : call())
  const host = await testApp(t, { storage })
  const { sent, lines, isBroken, response } = await openImport(host)
  sent.write(line(1))
  await response
  await until('the first line is answered', () => lines().length === 1)
  sent.write(line(2))
  await until('the client has noticed', isBroken)
  const early = await openImport(host)
  early.sent.end(line(2))
  t.equal((await early.response).statusCode, 503, 'before the first answer it is an ordinary error')
})

/** A host with the bodies that have begun to come, and whether so many of them are awaited. */
async function withBodies (t: Test, options: TestAppOptions = {}) {
  const bodies: IncomingMessage[] = []
  const host = await testApp(t, {
    ...options,
    before: (app) => { app.addHook('preHandler', async ({ raw }) => { bodies.push(raw) }) }
  })
  const areAwaited = (n: number) => bodies.filter((body) => body.readableFlowing === true).length === n
  const { id, key } = await host.app.users.apiKeys.create({ name: 'writer', scopes: ['users:write'] })
  return { host, areAwaited, key, revoke: () => host.app.users.apiKeys.revoke(id) }
}

test('no line is imported after the key was revoked', async (t) => {
  const { host, areAwaited, key, revoke } = await withBodies(t)
  const busy = await openImport({ ...host, key })
  const fresh = await openImport({ ...host, key })
  busy.sent.write(line(1))
  await busy.response
  await until('the first line is answered', () => busy.lines().length === 1)
  fresh.sent.flushHeaders()
  await until('their bodies are awaited', () => areAwaited(2))
  await revoke()
  busy.sent.write(line(2))
  fresh.sent.end(line(3))
  await until('the second line is answered, or never will be', () => busy.isBroken() || busy.lines().length === 2)
  t.equal(busy.isBroken(), true)
  t.equal((await fresh.response).statusCode, 401, 'before the first answer it is an ordinary error')
  t.equal((await host.app.users.list()).meta.total, 1)
})

test('an idle import ends soon after its key was revoked', { skip: waits }, async (t) => {
  const answers = [{ id: 'writer', scopes: ['users:write'] }, null]
  const { host, areAwaited, key, revoke } = await withBodies(t, { authenticate: () => answers.shift() ?? null })
  const hosted = await openImport({ ...host, key: 'a-token-of-the-host' })
  hosted.sent.write(Array.from({ length: 1000 }, (_, n) => line(100 + n)).join(''))
  const idle = await openImport({ ...host, key })
  idle.sent.flushHeaders()
  await until('their bodies are awaited', () => areAwaited(2))
  await revoke()
  await until('a thousand lines are answered', () => hosted.lines().length === 1000)
  t.equal(answers.length, 1, 'the host was asked once about its own token')
  await until('the idle one has ended', idle.isBroken, 20_000)
  await until('that of the host’s token, too', hosted.isBroken, 20_000)
  t.equal(answers.length, 0, 'it was asked again')
  t.equal((await host.app.users.list()).meta.total, 1000)
})

test('an import holds no place of the limit of concurrent requests', async (t) => {
  const host = await testApp(t, { limits: { inFlight: 1 } })
  const { sent, response } = await openImport(host)
  sent.write(line(1))
  const payload = { name: 'A', email: 'beside@example.org' }
  t.equal((await host.call('POST', '/users', { payload })).statusCode, 201)
  sent.end()
  t.equal((await response).statusCode, 200)
})

test('beside other requests of the process few rows are written at a time, and all of them in the end', async (t) => {
  const storage = memory()
  const sizes: number[] = []
  let running = 0
  let [arrivedAt, pausedAt] = [-Infinity, -Infinity]
  const onArrival = (): void => {
    const now = performance.now()
    if (now - arrivedAt > 50) pausedAt = now
    arrivedAt = now
  }
  const isSteady = (): boolean => performance.now() - arrivedAt < 50 && arrivedAt - pausedAt > 100
  subscribe('http.server.request.start', onArrival)
  t.teardown(() => unsubscribe('http.server.request.start', onArrival))
  aroundCommit(storage, 'users', async (call) => {
    // On a busy machine the requests pause too. Large groups are right then, and for a moment after.
    if (running++ === 0 && isSteady()) setImmediate(() => { sizes.push(running) })
    const outcomes = await call()
    setImmediate(() => { running-- })
    return outcomes
  })
  const host = await testApp(t, { storage })
  const { sent, response, lines } = await openImport(host)
  const { port } = Object(host.app.server.address())
  const over = new AbortController()
  const others = async () => {
    while (!over.signal.aborted) await fetch(`http://127.0.0.1:${port}/elsewhere`)
  }
  const count = 2000
  sent.write(line(0))
  await response
  const asking = Promise.all([others(), others()])
  await until('requests arrive steadily', isSteady)
  sent.end(Array.from({ length: count - 1 }, (_, n) => line(n + 1)).join(''))
  await once(await response, 'end')
  over.abort()
  await asking
  t.match(lines().at(-1), { summary: { created: count } })
  t.strictSame(sizes.filter((size) => size > 16), [], `groups of ${sizes.join(', ')}`)
})

test('twelve imports add no more listeners to the requests of the process than one', async (t) => {
  const counts: number[] = []
  const host = await testApp(t, {
    before: (app) => {
      app.get('/elsewhere', async (_request, { raw }) => {
        counts.push(raw.listenerCount('close'))
        return ''
      })
    }
  })
  for (let n = 0; n < 12; n++) {
    const { sent, response } = await openImport(host)
    sent.write(line(n))
    await response
    if (n === 0 || n === 11) await fetch(`http://127.0.0.1:${Object(host.app.server.address()).port}/elsewhere`)
  }
  t.equal(counts.length, 2)
  t.equal(counts[1], counts[0])
})

test('a client that does not read its answer is held up, and loses nothing', async (t) => {
  const host = await testApp(t)
  const { sent, response, text } = await openImport(host)
  const count = 20_000
  let written = 0
  const send = async () => {
    while (written < count) {
      if (!sent.write(line(written++))) await once(sent, 'drain')
    }
    sent.end()
  }
  const sending = send()
  const answer = await response
  answer.pause()
  let before = 0
  await until('nobody is added any more', async () => {
    const { meta: { total } } = await host.app.users.list({ limit: 1 })
    const isStill = total > 0 && total === before
    before = total
    return isStill
  })
  answer.resume()
  await sending
  if (!answer.readableEnded) await once(answer, 'end')
  t.match(JSON.parse(text().trimEnd().split('\n').at(-1) ?? ''), { summary: { created: count, refused: 0 } })
})
