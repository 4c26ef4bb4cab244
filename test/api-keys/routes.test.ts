// The routes of API keys (contract §9): the life of a key, faults in requests, and links.
import { test } from 'tap'
import { isApiKey } from '../../lib/index.ts'
import { type Call, testApp } from '../helpers/app.ts'
import { JSON_BODY, keyApp, UNKNOWN } from '../helpers/key-app.ts'
import { until } from '../helpers/until.ts'

const DAY = 86_400

test('the routes exist only with apiKeys.routes', async (t) => {
  const { call } = await testApp(t)
  for (const [method, path] of [
    ['GET', '/api-keys'], ['POST', '/api-keys'], ['POST', `/api-keys/${UNKNOWN}/rotate`],
    ['DELETE', '/api-keys/current']
  ] as const) t.equal((await call(method, path)).statusCode, 404, `${method} ${path}`)
})

test('creates, shows, rotates, revokes and lists keys over HTTP', async (t) => {
  const { app, call, as, post } = await keyApp(t)
  const [admin] = (await app.users.apiKeys.list()).data
  const events: unknown[] = []
  for (const type of ['api_key.created', 'api_key.rotated', 'api_key.revoked'] as const) {
    app.users.events.on(type, ({ data, actor }) => { events.push([type, data.id, actor]) })
  }

  const created = await post('/api-keys', { name: ' Deploy ', scopes: ['users:read'], expiresIn: 3600 })
  t.equal(created.statusCode, 201)
  const { key, ...record } = created.json()
  t.ok(isApiKey(key))
  t.strictSame(Object.keys(record), ['id', 'name', 'scopes', 'start', 'createdAt', 'expiresAt'])
  t.match(record, { name: 'Deploy', scopes: ['users:read'], start: key.slice(0, 15) })
  t.equal(Date.parse(record.expiresAt) - Date.parse(record.createdAt), 3_600_000)
  t.equal(created.headers.location, `/v1/api-keys/${record.id}`)
  t.equal(created.headers['cache-control'], 'no-store')
  t.equal(created.headers['content-type'], 'application/json; charset=utf-8')
  t.equal((await as(key)('GET', '/users')).statusCode, 200)
  t.equal((await as(key)('POST', '/users')).statusCode, 403)

  const got = await call('GET', String(created.headers.location).slice(3))
  t.equal(got.statusCode, 200)
  t.match(got.json(), record)
  t.notMatch(got.body, key.slice(16), 'the text of the key is shown once')
  const head = await call('HEAD', `/api-keys/${record.id}`)
  t.strictSame([head.statusCode, head.body], [200, ''])

  const rotated = await post(`/api-keys/${record.id}/rotate`, { overlap: 60 })
  t.equal(rotated.statusCode, 201)
  const { key: nextKey, ...next } = rotated.json()
  t.match(next, { name: 'Deploy', scopes: ['users:read'], rotatedFrom: record.id })
  t.equal(rotated.headers.location, `/v1/api-keys/${next.id}`)
  t.equal((await as(key)('GET', '/users')).statusCode, 200, 'both keys work during the overlap')
  t.equal((await as(nextKey)('GET', '/users')).statusCode, 200)
  const old = (await call('GET', `/api-keys/${record.id}`)).json()
  t.ok(Date.parse(old.expiresAt) - Date.parse(next.createdAt) <= 60_000)

  const ended = await call('DELETE', `/api-keys/${next.id}`)
  t.strictSame([ended.statusCode, ended.body], [204, ''])
  t.equal((await as(nextKey)('GET', '/users')).statusCode, 401, 'immediately')
  t.equal((await call('DELETE', `/api-keys/${next.id}`)).statusCode, 204, 'a second revocation changes nothing')
  const inactive = await post(`/api-keys/${next.id}/rotate`, {})
  t.strictSame([inactive.statusCode, inactive.json().code], [409, 'api_key_inactive'])

  const list = await call('GET', '/api-keys?limit=2')
  t.strictSame(list.json().meta, { page: 1, limit: 2, total: 3 })
  t.strictSame(list.json().data.map(({ id }: { id: string }) => id), [admin?.id, record.id])
  t.equal(
    list.headers.link,
    '</v1/api-keys?limit=2&page=1>; rel="first", </v1/api-keys?limit=2&page=2>; rel="next", ' +
      '</v1/api-keys?limit=2&page=2>; rel="last"'
  )
  const back = await call('GET', `/api-keys?sort=-createdAt&limit=1&after=${next.id}`)
  t.strictSame(
    [back.json().data.map(({ id }: { id: string }) => id), back.json().meta],
    [[record.id], { limit: 1, total: 3 }]
  )
  t.equal(back.headers.link, `</v1/api-keys?sort=-createdAt&limit=1&after=${record.id}>; rel="next"`)
  t.ok((await call('GET', `/api-keys/${next.id}`)).json().revokedAt, 'the record stays')
  t.notMatch(list.body + back.body, /digest|lifetime/)

  await until('three events', () => events.length >= 3)
  const actor = { type: 'api_key', id: admin?.id, name: 'test' }
  t.strictSame(events, [
    ['api_key.created', record.id, actor],
    ['api_key.rotated', next.id, actor],
    ['api_key.revoked', next.id, actor]
  ])
})

test('reports every fault of a request, and changes nothing', async (t) => {
  const { app, call, post } = await keyApp(t)
  const faults = async (answer: ReturnType<Call>): Promise<string[]> => {
    const response = await answer
    t.equal(response.statusCode, 400)
    const { errors }: { errors: Array<Record<string, string>> } = response.json()
    return errors.map(({ pointer, parameter, code }) => `${pointer ?? parameter} ${code}`)
  }
  t.strictSame(await faults(post('/api-keys?x=1', {})), ['x unknown', '/name required'])
  // Every fault of a body: test/mount/in-process-api-keys.test.ts.
  t.strictSame(await faults(call('POST', '/api-keys')), [' type'])
  const rotation = post(`/api-keys/${UNKNOWN}/rotate?y`, { overlap: 604_801 })
  t.strictSame(await faults(rotation), ['y unknown', '/overlap range'])
  t.strictSame(await faults(call('DELETE', `/api-keys/${UNKNOWN}?force=yes&z=1`)), ['z unknown', 'force choice'])
  const withBody = call('DELETE', '/api-keys/current', { headers: JSON_BODY, payload: '{"a":1}' })
  t.strictSame(await faults(withBody), ['/a unknown'])
  t.strictSame(await faults(call('GET', `/api-keys/${UNKNOWN}?force=true`)), ['force unknown'])
  t.strictSame(await faults(call('GET', '/api-keys?page=0&limit=x&sort=name&after=usr_1&email=a@b.co')), [
    'email unknown',
    'page range',
    'limit range',
    'sort choice',
    'after format',
    'after exclusive'
  ])
  t.equal((await app.users.apiKeys.list()).meta.total, 1, 'no key was created')
})

test('a rotation gives the successor the lifetime that is asked for, and later ones take it over', async (t) => {
  const { app, call } = await keyApp(t)
  const { id } = await app.users.apiKeys.create({ name: 'x', expiresIn: 100 * DAY })
  const lifeOf = ({ createdAt, expiresAt }: { createdAt: string, expiresAt?: string }) =>
    expiresAt === undefined ? Infinity : Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 1000)
  const rotate = (of: string, payload: object) =>
    call('POST', `/api-keys/${of}/rotate`, { payload })
  const at = new Date(Date.now() + 20 * DAY * 1000).toISOString()
  const next = (await rotate(id, {})).json()
  t.equal(lifeOf(next), 100 * DAY)
  const { expiresAt } = await app.users.apiKeys.get(id)
  t.equal(lifeOf({ ...next, expiresAt }), DAY, 'a day of overlap by default')
  t.equal(lifeOf((await rotate(id, {})).json()), 100 * DAY, 'not what the rotation has left of it')
  // In process nobody's own life bounds that of the successor.
  const made = await app.users.apiKeys.create({ name: 'long', expiresAt: '9999-12-31T23:59:59.999Z' })
  await app.users.apiKeys.rotate(made.id, { overlap: 60 })
  t.equal((await app.users.apiKeys.rotate(made.id)).expiresAt, made.expiresAt)
  t.equal((await rotate(id, { expiresAt: at })).json().expiresAt, at)
  t.equal(lifeOf((await rotate(id, { expiresAt: null })).json()), Infinity)
  const short = (await rotate(id, { expiresIn: 3 * DAY, overlap: 0 })).json()
  t.equal(lifeOf(short), 3 * DAY)
  t.equal(lifeOf((await rotate(short.id, {})).json()), 3 * DAY)
  for (const [payload, pointer, code] of [
    [{ expiresAt: '2001-01-01T00:00:00Z' }, '/expiresAt', 'past'],
    [{ expiresAt: 'soon' }, '/expiresAt', 'format'],
    [{ expiresIn: 0 }, '/expiresIn', 'range'],
    [{ expiresAt: at, expiresIn: 5 }, '/expiresIn', 'exclusive']
  ] as const) {
    const { statusCode, json } = await rotate(short.id, payload)
    t.match([statusCode, json()], [400, { code: 'validation_failed', errors: [{ pointer, code }] }])
  }
})
