// Contract §9: a scope includes no other, so a write tells a caller without `users:read` nothing of the user.
import { test } from 'tap'
import type { Scope } from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { fields } from '../helpers/fields.ts'
import { linesOf, ndjsonOf } from '../helpers/import-rows.ts'

const ann = { name: 'Ann Secret', email: 'ann@example.org', plan: 'pro' } as const
const MINIMAL = ['id', 'createdAt', 'updatedAt']
const JSON_BODY = { 'content-type': 'application/json' }

async function writer (t: Parameters<typeof testApp>[0], scopes: Scope[] = ['users:write', 'users:delete']) {
  const { app, call } = await testApp(t, { fields: { schema: fields }, eventLog: true })
  const { key } = await app.users.apiKeys.create({ name: 'writer', scopes })
  const write = (method: string, path: string, body: object, headers: Record<string, string> = {}) =>
    call(method, path, {
      headers: { ...JSON_BODY, ...headers, authorization: `Bearer ${key}` }, payload: JSON.stringify(body)
    })
  return { app, call, key, write }
}

test('a write without users:read answers with id, times and ETag alone', async (t) => {
  const { app, write } = await writer(t)
  const { id } = await app.users.create(ann)
  for (const [method, body, etag] of [
    ['PATCH', {}, '"1"'], ['PATCH', { plan: 'free' }, '"2"'], ['PUT', { ...ann, name: 'Bob Secret' }, '"3"']
  ] as const) {
    const response = await write(method, `/users/${id}`, body)
    const { createdAt, updatedAt } = await app.users.get(id)
    t.strictSame([response.statusCode, response.headers['etag']], [200, etag])
    t.strictSame(response.json(), { id, createdAt, updatedAt })
  }
  const creation = () => write('POST', '/users', { ...ann, email: 'new@example.org' }, { 'idempotency-key': 'one' })
  const made = await creation()
  t.equal(made.statusCode, 201)
  t.strictSame(Object.keys(made.json()), MINIMAL)
  t.equal(made.headers['location'], `/v1/users/${made.json().id}`)
  const replayed = await creation()
  t.equal(replayed.headers['idempotency-replayed'], 'true')
  t.strictSame([replayed.statusCode, replayed.headers['etag'], replayed.body], [201, '"1"', made.body])
})

test('the trash and a reversal show ids and times alone', async (t) => {
  const { app, call } = await testApp(t, { eventLog: true, trash: true })
  const { id } = await app.users.create({ name: 'Ann Secret', email: 'ann@example.org' })
  await app.users.update(id, { name: 'Anna Secret' })
  const [event] = (await app.users.events.ofUser(id)).data
  const inTrash = ['id', 'version', 'createdAt', 'updatedAt', 'deletedAt', 'deletedBy']
  const rows: Array<[scope: Scope, method: string, path: string, shown: string[], payload?: object]> = [
    ['users:write', 'POST', `/users/${id}/revert`, MINIMAL, { event: event?.id }],
    ['users:delete', 'DELETE', `/users/${id}`, []],
    ['users:delete', 'GET', '/users/deleted', inTrash],
    ['users:delete', 'POST', `/users/${id}/restore`, MINIMAL]
  ]
  for (const [scope, method, path, shown, payload] of rows) {
    const { key } = await app.users.apiKeys.create({ name: 'x', scopes: [scope] })
    const headers = { authorization: `Bearer ${key}` }
    const { statusCode, body } = await call(method, path, { headers, ...payload !== undefined && { payload } })
    t.ok(statusCode < 300, `${method} ${path}: ${body}`)
    const got = body === '' ? {} : JSON.parse(body)
    t.strictSame(Object.keys(got.data?.[0] ?? got), shown)
  }
})

test('a batch without users:read shows no user, in a repetition neither', async (t) => {
  const { app, write } = await writer(t)
  const { id } = await app.users.create(ann)
  const operations = [
    { op: 'create', body: { ...ann, email: 'new@example.org' } },
    { op: 'update', id, body: {} },
    { op: 'update', id, body: { name: 'Bob Secret' } },
    { op: 'create', body: ann }
  ]
  for (const isRepetition of [false, true]) {
    const response = await write('POST', '/users/batch', { operations }, { 'idempotency-key': 'batch' })
    t.equal(response.headers['idempotency-replayed'], isRepetition ? 'true' : undefined)
    t.notMatch(response.body, /Secret|"pro"/)
    const { data } = response.json()
    t.strictSame(data.slice(0, 3).map(({ body }: { body: object }) => Object.keys(body)), [MINIMAL, MINIMAL, MINIMAL])
    t.strictSame(data.slice(0, 3).map(({ etag }: { etag: string }) => etag), ['"1"', '"1"', '"2"'])
    t.equal(data[3].body.code, 'email_taken')
  }
})

test('an import without users:read gives ids of users that it made, and of no others', async (t) => {
  const { app, call, key } = await writer(t)
  await app.users.create(ann)
  await app.users.create({ ...ann, email: 'same@example.org' })
  const file = ndjsonOf([
    { ...ann, name: 'New Name' }, { ...ann, email: 'same@example.org' }, { ...ann, email: 'new@example.org' }, {}
  ])
  for (const [query, words] of [
    ['onConflict=update&report=all&dryRun=true', ['1 updated', '2 skipped', '3 created', '4 refused']],
    ['onConflict=skip&report=all&dryRun=true', ['1 skipped', '2 skipped', '3 created', '4 refused']],
    ['onConflict=update&report=faults&dryRun=true', ['4 refused']],
    ['onConflict=update&report=all', ['1 updated', '2 skipped', '3 created id', '4 refused']],
    ['report=all', ['1 refused', '2 refused', '3 refused', '4 refused']]
  ] as const) {
    const response = await call('POST', `/users/import?${query}`, {
      headers: { 'content-type': 'application/x-ndjson', authorization: `Bearer ${key}` }, payload: file
    })
    const lines = linesOf(response.body).filter(({ summary }) => summary === undefined)
    t.strictSame(lines.map(({ line, status, id }) => `${line} ${status}${id === undefined ? '' : ' id'}`), words, query)
    t.notMatch(response.body, /Secret|"pro"/, query)
  }
})

test('a rotation without keys:read gives the new text, and shows nothing else of the key', async (t) => {
  const { app, call } = await testApp(t, { apiKeys: { routes: true } })
  const { id } = await app.users.apiKeys.create({ name: 'CRM of Bob', scopes: ['users:read'] })
  for (const [scopes, shown] of [
    [['keys:write', 'users:read'], ['id', 'start', 'createdAt', 'expiresAt', 'key']],
    [['keys:write', 'users:read', 'keys:read'],
      ['id', 'name', 'scopes', 'start', 'createdAt', 'expiresAt', 'rotatedFrom', 'key']]
  ] as const) {
    const { key } = await app.users.apiKeys.create({ name: 'rotator', scopes: [...scopes] })
    const target = await app.users.apiKeys.rotate(id)
    const headers = { authorization: `Bearer ${key}` }
    const response = await call('POST', `/api-keys/${target.id}/rotate`, { headers })
    t.equal(response.statusCode, 201)
    t.strictSame(Object.keys(response.json()), shown)
  }
})
