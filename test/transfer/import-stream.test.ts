// Imports over sockets beside others: keys that are revoked, requests and imports of the same process.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { mock } from 'node:test'
import { test, type Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { RECHECK_MS } from '../../lib/http/streams/paced-stream.ts'
import { aroundCommit } from '../helpers/around.ts'
import { testApp, type TestAppOptions } from '../helpers/app.ts'
import { line, openImport } from '../helpers/open-import.ts'
import { until } from '../helpers/until.ts'

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

test('an idle import ends soon after its key was revoked', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
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
  mock.timers.tick(RECHECK_MS - 1)
  t.strictSame([idle.isBroken(), hosted.isBroken()], [false, false])
  mock.timers.tick(1)
  await until('the idle one has ended', idle.isBroken)
  await until('that of the host’s token, too', hosted.isBroken)
  t.equal(answers.length, 0, 'it was asked again')
  t.equal((await host.app.users.list()).meta.total, 1000)
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
