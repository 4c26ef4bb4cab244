// What the plugin tells by `node:diagnostics_channel`, and that it tells nobody's data.
import { tracingChannel } from 'node:diagnostics_channel'
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Test, test } from 'tap'
import { sqlite } from '../../adapters/sqlite.ts'
import { generateKey } from '../../lib/api-keys/key-text.ts'
import { ALL_SCOPES, testApp } from '../helpers/app.ts'
import { sqliteDriver } from '../helpers/sqlite.ts'

const SILENT = { start () {}, end () {}, asyncStart () {}, asyncEnd () {}, error () {} }

/** Everything that a channel tells until the end of the test, in the form that it has at its end. */
function listen (t: Test, name: string): Array<Record<string, unknown>> {
  const told: Array<Record<string, unknown>> = []
  const channel = tracingChannel(`fastify-users:${name}`)
  const subscriber = { ...SILENT, asyncEnd: (trace: object) => { told.push({ ...trace }) } }
  channel.subscribe(subscriber)
  t.teardown(() => channel.unsubscribe(subscriber))
  return told
}

test('tells of operations with their id and status, and of those that fail', async (t) => {
  const { call, key } = await testApp(t, { requireIfMatch: true })
  const told = listen(t, 'operation')
  const created = await call('POST', '/users', { payload: { name: 'Ada', email: 'ada@example.org' } })
  await call('HEAD', '/users')
  await call('GET', created.headers.location?.toString().replace('/v1', '') ?? '', {
    headers: { 'if-none-match': String(created.headers.etag) }
  })
  await call('DELETE', `/users/${created.json().id}`)
  t.strictSame(told.map(({ operation, status, error }) => [operation, status, Object(error).code]), [
    ['createUser', 201, undefined],
    ['listUsers', 200, undefined],
    ['getUser', 304, undefined],
    ['deleteUser', undefined, 'precondition_required']
  ])
  t.ok(told.every(({ requestId }) => /^req-/.test(String(requestId))))
  t.notMatch(JSON.stringify(told), new RegExp(`Ada|ada@|${key}`))
})

test('tells of key checks by their outcome', async (t) => {
  const { app, call, key } = await testApp(t, { apiKeys: { static: ['s'.repeat(32)], cache: 0 } })
  await app.users.apiKeys.create({ name: 'another', scopes: ALL_SCOPES })
  const told = listen(t, 'key-check')
  const ask = (token: string) => call('GET', '/users', { headers: { authorization: `Bearer ${token}` } })
  const unknown = generateKey('uk').text
  const mistyped = unknown.slice(0, -1) + (unknown.endsWith('a') ? 'b' : 'a')
  for (const token of [key, 's'.repeat(32), unknown, mistyped, 'x']) await ask(token)
  t.strictSame(told.map(({ outcome }) => outcome), ['accepted', 'accepted', 'unknown', 'malformed', 'unrecognized'])
  t.notMatch(JSON.stringify(told), /uk_|digest|key_/)
})

test('tells of compaction and of calls under one name of the storage, without the version of its driver', async (t) => {
  const [calls, rounds] = [listen(t, 'storage'), listen(t, 'compaction')]
  const storage = sqlite({ filename: ':memory:', driver: sqliteDriver })
  const { app } = await testApp(t, { storage, migrate: true })
  await storage.rebuildCounts()
  await app.users.list()
  t.ok(calls.length > 0)
  t.strictSame(new Set(calls.map((trace) => trace['storage'])), new Set(['sqlite']))
  t.strictSame(rounds, [{ storage: 'sqlite', result: undefined }])
})

test('tells in the context of the request: what a listener keeps there is kept inside', async (t) => {
  const spans = new AsyncLocalStorage<string>()
  const channel = tracingChannel('fastify-users:operation')
  channel.start.bindStore(spans, () => `inside ${spans.getStore()}`)
  channel.subscribe(SILENT)
  const seen: Array<string | undefined> = []
  const storage = tracingChannel('fastify-users:storage')
  const listener = { ...SILENT, start: () => { seen.push(spans.getStore()) } }
  storage.subscribe(listener)
  t.teardown(() => {
    channel.unsubscribe(SILENT)
    channel.start.unbindStore(spans)
    storage.unsubscribe(listener)
  })
  const { call } = await testApp(t, {
    before: (app) => { app.addHook('onRequest', (_request, _reply, done) => spans.run('the request', done)) }
  })
  seen.length = 0
  await call('GET', '/users')
  t.ok(seen.includes('inside the request'), seen.join())
})
