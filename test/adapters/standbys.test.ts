// Reads on standbys of a real PostgreSQL: what goes there, what a token promises, and when a standby is left alone.
import Fastify from 'fastify'
import { test } from 'tap'
import { postgres } from '../../adapters/postgres.ts'
import { createReadiness } from '../../examples/standalone/readiness.ts'
import users from '../../lib/index.ts'
import { inject, testApp } from '../helpers/app.ts'
import {
  ada, caughtUp, countCalls, openApp, openBehind, openReplicated, replicatedStorage, resumeReplay, tokenOf
} from '../helpers/replication.ts'
import { until } from '../helpers/until.ts'

const POSITION = /^[0-9A-F]+\/[0-9A-F]+$/

test('reads on a standby', async (t) => {
  const servers = await openReplicated(t, 1)
  const { standby } = servers

  await t.test('serves lists, look-ups and exports, and nothing else', async (t) => {
    const { app, call, user, get } = await openBehind(t, servers, 'served')
    await call('POST', '/users', { payload: { ...ada, email: 'ada2@example.org' } })
    const counts = countCalls(t)
    t.equal((await get()).json().name, 'Ada')
    t.strictSame((await call('GET', '/users')).json(), { data: [user], meta: { page: 1, limit: 20, total: 1 } })
    t.equal((await call('GET', '/users?q=ad')).json().meta.total, 1)
    t.strictSame((await call('GET', '/users?email=ada2@example.org')).json().data, [])
    t.equal((await call('GET', '/users/export')).body, `${JSON.stringify(user)}\n`)
    t.equal((await call('HEAD', `/users/${user.id}`)).headers.etag, '"1"')
    t.strictSame(Object.fromEntries([...counts].filter(([method]) => /\.(find|list|walk)$/.test(method))), {
      'standbys.find': 2, 'standbys.list': 3, 'standbys.walk': 1
    })
    t.equal((await call('GET', '/events?type=user.*')).json().data.length, 3)
    t.equal((await app.users.get(user.id)).name, 'Ada Lovelace', 'in process it is what is stored now')
    t.equal((await app.users.get(user.id, { standby: true })).name, 'Ada', 'unless it is asked for')
    t.equal((await app.users.list({}, { standby: true })).meta.total, 1)
    for (const [options, names] of [
      [{ standby: true }, ['Ada']], [{ standby: true, snapshot: true }, ['Ada']],
      [{ snapshot: true }, ['Ada Lovelace', 'Ada']]
    ] as const) {
      const found: string[] = []
      for await (const { name } of app.users.iterate({}, options)) found.push(name)
      t.strictSame(found, names)
    }
    const wrong = { code: 'validation_failed', errors: [{ parameter: 'standby', code: 'type' }] }
    await t.rejects(app.users.get(user.id, Object({ standby: 1 })), wrong)
  })

  await t.test('gives a token with writes, and reads nothing older than it', async (t) => {
    const { call, path, created, changed, get } = await openBehind(t, servers, 'tokens', { replicaWaitMs: 100 })
    t.match(tokenOf(created), POSITION)
    const headers = { 'consistency-token': tokenOf(changed) }
    const read = await get(headers)
    t.equal(read.json().name, 'Ada Lovelace')
    t.match(tokenOf(read), POSITION)
    t.equal((await call('GET', '/users?email=ada@example.org', { headers })).json().data[0].name, 'Ada Lovelace')
    t.match((await call('GET', '/users/export', { headers })).body, /"Ada Lovelace"/)
    t.equal((await get({ 'consistency-token': tokenOf(created) })).json().name, 'Ada', 'an older token')
    for (const token of ['primary', '', 'FFFFFFFF/FFFFFFFF', `${tokenOf(created)}, ${tokenOf(created)}`]) {
      const other = await get({ 'consistency-token': token })
      t.equal(other.json().name, 'Ada Lovelace', 'no position that is reached: the primary')
      t.match(tokenOf(other), POSITION)
    }
    t.equal((await get()).headers['consistency-token'], undefined, 'none was sent')
    const taken = await call('POST', '/users', { payload: ada })
    t.equal(taken.statusCode, 409)
    t.match(tokenOf(taken), POSITION, 'a refusal tells what is stored')
    t.equal((await call('POST', '/users', { payload: {} })).headers['consistency-token'], undefined)
    const gone = await call('DELETE', path)
    const missing = await get({ 'consistency-token': tokenOf(gone) })
    t.equal(missing.statusCode, 404)
    t.match(tokenOf(missing), POSITION)
    const events = await call('GET', '/events', { headers })
    t.match(tokenOf(events), POSITION, 'who has read of a change reads the change')
    const rows = { payload: `${JSON.stringify(ada)}\n`, headers: { 'content-type': 'application/x-ndjson' } }
    t.equal(tokenOf(await call('POST', '/users/import', rows)), 'primary', 'what it writes comes after its headers')
  })

  await t.test('waits for a standby that comes up to the token', async (t) => {
    const { changed, get } = await openBehind(t, servers, 'waits', { replicaWaitMs: 5000 })
    const counts = countCalls(t)
    const read = get({ 'consistency-token': tokenOf(changed) })
    await resumeReplay(standby)
    t.equal((await read).json().name, 'Ada Lovelace')
    t.equal(counts.get('standbys.find'), 1)
    t.equal(counts.get('users.find'), undefined)
  })

  await t.test('does not answer a client that names a later version', async (t) => {
    const { call, get } = await openBehind(t, servers, 'versions')
    for (const [headers, status, etag] of [
      [{ 'if-none-match': '"1"' }, 304, '"1"'], [{ 'if-none-match': '"2"' }, 304, '"2"'],
      [{ 'if-none-match': '"1", W/"2"' }, 304, '"2"'], [{ 'if-match': '"2"' }, 200, '"2"']
    ] as const) {
      const answer = await get(headers)
      t.strictSame([answer.statusCode, answer.headers.etag], [status, etag], JSON.stringify(headers))
    }
    const other = (await call('POST', '/users', { payload: { ...ada, email: 'ada2@example.org' } })).json()
    t.strictSame((await call('GET', `/users/${other.id}`)).json(), other, 'who is not there yet')
  })

  await t.test('shows a tenant its own users alone', async (t) => {
    const { storage, reported } = await replicatedStorage(servers, { schema: 'tenants' })
    const { app, call } = await testApp(t, { storage, tenants: true })
    await reported(null)
    const keys = await Promise.all(['acme', 'other'].map(async (tenant) => {
      const user = await app.users.tenant(tenant).create(ada)
      const { key } = await app.users.tenant(tenant).apiKeys.create({ name: tenant })
      return { user, authorization: `Bearer ${key}` }
    }))
    await caughtUp(servers, standby)
    const counts = countCalls(t)
    for (const [i, { user, authorization }] of keys.entries()) {
      const headers = { authorization }
      const other = keys[1 - i]?.user.id
      t.strictSame((await call('GET', '/users', { headers })).json().data, [user])
      t.strictSame((await call('GET', `/users/${user.id}`, { headers })).json(), user)
      t.equal((await call('GET', `/users/${other}`, { headers })).statusCode, 404)
      t.equal((await call('GET', '/users/export', { headers })).body, `${JSON.stringify(user)}\n`)
    }
    t.equal(counts.get('standbys.find'), 4)
    t.equal(counts.get('standbys.list'), 2)
  })

  await t.test('leaves a standby alone that is too far behind, and reads it again', async (t) => {
    const { reported, get } = await openBehind(t, servers, 'behind', { replicaMaxLagMs: 1000 })
    await reported(/^it is too far behind$/)
    t.equal((await get()).json().name, 'Ada Lovelace')
    await resumeReplay(standby)
    await reported(null)
    const counts = countCalls(t)
    t.equal((await get()).json().name, 'Ada Lovelace')
    t.equal(counts.get('standbys.find'), 1)
  })

  await t.test('on a server that is a standby: events as far as they are numbered, no writes, read-only', async (t) => {
    const { call, key, storage } = await openApp(t, servers, 'alone')
    for (const email of ['a@example.org', 'b@example.org']) await call('POST', '/users', { payload: { ...ada, email } })
    const listed = (await call('GET', '/events')).json()
    t.equal(listed.data.length, 3)
    await call('POST', '/users', { payload: ada })
    t.equal(await createReadiness(storage)(), 'ready')
    await caughtUp(servers, standby)
    const alone = postgres({ connection: standby.url, schema: 'alone' })
    const app = Fastify()
    t.teardown(() => app.close())
    await app.register(users, { prefix: '/v1', storage: alone, eventLog: true, migrate: true })
    t.equal(await createReadiness(alone)(), 'read-only')
    const send = (method: string, url: string) =>
      inject(app, method, `/v1${url}`, { headers: { authorization: `Bearer ${key}` } })
    const last = listed.data.at(-1).id
    const { id } = listed.data[1].data
    const read = await send('GET', '/events')
    t.strictSame([read.statusCode, read.json()], [200, listed])
    t.strictSame((await send('GET', `/events?after=${last}`)).json().data, [])
    t.equal((await send('GET', '/events?after=evt_01m8ejzawfen8becn3rpv02x58')).statusCode, 503, 'it may come yet')
    t.equal((await send('GET', `/users/${id}/events`)).json().meta.total, 1)
    t.equal((await send('GET', '/users')).json().meta.total, 3)
    t.equal((await send('DELETE', `/users/${id}`)).statusCode, 503)
    t.equal((await call('GET', `/events?after=${last}`)).json().data.length, 1, 'the primary numbers it')
    await caughtUp(servers, standby)
    t.equal((await send('GET', `/events?after=${last}`)).json().data.length, 1)
  })

  await t.test('leaves a standby alone that is gone or was promoted', async (t) => {
    const { call, reported, reports } = await openApp(t, servers, 'gone')
    const { id } = (await call('POST', '/users', { payload: ada })).json()
    await caughtUp(servers, standby)
    t.equal((await call('GET', `/users/${id}`)).statusCode, 200)
    await standby.kill()
    t.equal((await call('GET', `/users/${id}`)).statusCode, 200)
    await reported(/^it does not answer \(/)
    await standby.start()
    await reported(null)
    standby.signal('SIGSTOP')
    const frozen = await Promise.all([call('GET', `/users/${id}`), call('GET', '/users'), call('GET', '/users/export')])
    t.strictSame(frozen.map(({ statusCode }) => statusCode), [200, 200, 200])
    await reported(/^it does not answer \(/)
    standby.signal('SIGCONT')
    await reported(null)
    await standby.sql('SELECT pg_promote()')
    await until('the promotion', async () => (await standby.sql('SELECT 1 WHERE NOT pg_is_in_recovery()')).length === 1)
    await standby.sql("UPDATE gone.fastify_users_users SET name = 'Split', version = 9")
    await reported(/^it is no longer a standby: it was promoted, and may have writes of its own$/)
    t.equal((await call('GET', `/users/${id}`)).json().name, 'Ada')
    t.ok(reports.every(({ name }) => name === 'replicas[0]'))
  })
})
