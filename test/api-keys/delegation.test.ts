// What a caller can give to a key that it creates or rotates: no scope that it lacks, no longer life, and no address or
// limit beyond its own.
import { mock } from 'node:test'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import type { HostPrincipal, Scope } from '../../lib/index.ts'
import { ALL_SCOPES } from '../helpers/app.ts'
import { keyApp } from '../helpers/key-app.ts'

const DAY_MS = 24 * 3600 * 1000
const LIMITS = { requests: { max: 600, window: 60 } }

test('a key gives only scopes that it has: every caller with keys:write, every set of four scopes', async (t) => {
  const { app, post } = await keyApp(t)
  const some: Scope[] = ['users:read', 'users:delete', 'keys:read', 'keys:write']
  const subsets = Array.from({ length: 16 }, (_, bits) => some.filter((_, i) => (bits >> i) & 1))
  const violations: string[] = []
  for (const own of subsets.filter((scopes) => scopes.includes('keys:write'))) {
    const { key } = await app.users.apiKeys.create({ name: 'caller', scopes: own })
    for (const scopes of subsets.filter(({ length }) => length > 0)) {
      const response = await post('/api-keys', { name: 'x', scopes }, key)
      const beyond = scopes.flatMap((scope, i) => (own.includes(scope) ? [] : [`/scopes/${i}`]))
      const isCorrect =
        beyond.length === 0
          ? response.statusCode === 201 && JSON.stringify(response.json().scopes) === JSON.stringify(scopes)
          : response.statusCode === 403 &&
            response.json().code === 'insufficient_scope' &&
            JSON.stringify(response.json().errors.map(({ pointer }: { pointer: string }) => pointer)) ===
              JSON.stringify(beyond) &&
            response.headers['www-authenticate'] ===
              `Bearer realm="users", error="insufficient_scope", scope="${scopes.join(' ')}"`
      if (!isCorrect) violations.push(`${own} asks for ${scopes}: ${response.statusCode} ${response.body}`)
    }
    const none = await post('/api-keys', { name: 'x' }, key)
    const users = own.filter((scope) => scope.startsWith('users:'))
    if (users.length === 0 ? none.statusCode !== 400 : JSON.stringify(none.json().scopes) !== JSON.stringify(users)) {
      violations.push(`${own} asks for none: ${none.body}`)
    }
  }
  t.strictSame(violations, [])
})

test('a key creates no key that outlives it, not by rotation either', async (t) => {
  const { app, post, as } = await keyApp(t)
  const own = { name: 'caller', scopes: ALL_SCOPES, expiresIn: 3600 }
  const { key, expiresAt = '', id } = await app.users.apiKeys.create(own)
  t.equal((await post('/api-keys', { name: 'x' }, key)).json().expiresAt, expiresAt, 'not the default of a year')
  t.equal((await post('/api-keys', { name: 'x', expiresAt }, key)).json().expiresAt, expiresAt)
  t.equal((await post('/api-keys', { name: 'x', expiresIn: 60 }, key)).statusCode, 201)
  const later = new Date(Date.parse(expiresAt) + 1).toISOString()
  const beyond = [{ expiresAt: later }, { expiresAt: null }, { expiresIn: 400 * 24 * 3600 }]
  const detail = 'must not be later than the expiry of the caller’s API key'
  const long = await app.users.apiKeys.create({ name: 'long', scopes: ['users:read'] })
  for (const expiry of beyond) {
    const errors = [{ pointer: `/${Object.keys(expiry)[0]}`, code: 'beyond_caller', detail }]
    for (const [path, body] of [['', { name: 'x', ...expiry }], [`/${long.id}/rotate`, expiry]] as const) {
      const refused = await post(`/api-keys${path}`, body, key)
      t.equal(refused.headers['www-authenticate'], 'Bearer realm="users", error="insufficient_scope"')
      t.match(refused.json(), { status: 403, code: 'insufficient_scope' })
      t.strictSame(refused.json().errors, errors, JSON.stringify(body))
    }
  }
  const successor = (await post(`/api-keys/${long.id}/rotate`, {}, key)).json()
  t.equal(successor.expiresAt, expiresAt, 'a successor does not outlive the caller either')
  t.equal((await post(`/api-keys/${long.id}/rotate`, { expiresAt }, key)).json().expiresAt, expiresAt)
  const admin = await app.users.apiKeys.create({ name: 'admin', scopes: ['keys:write'], expiresAt: null })
  const refused = await post(`/api-keys/${admin.id}/rotate`, { overlap: 0 }, key)
  t.strictSame([refused.statusCode, refused.json().errors[0].code], [403, 'beyond_caller'],
    'a key that manages keys is not replaced by one that expires sooner')
  const { key: text, ...record } = admin
  t.strictSame(await app.users.apiKeys.get(admin.id), record, 'it stays as it was')
  t.equal((await post(`/api-keys/${id}/rotate`, {}, key)).json().expiresAt, expiresAt, 'nor does its own successor')
  const year = (await post(`/api-keys/${(await app.users.apiKeys.create({ name: 'year' })).id}/rotate`, {})).json()
  const lifetime = Date.parse(year.expiresAt) - Date.parse(year.createdAt)
  t.ok(Math.abs(lifetime - 365 * DAY_MS) < 60_000, 'a caller that expires later gives the whole lifetime')
  mock.timers.enable({ apis: ['Date'], now: Date.parse(expiresAt) })
  t.equal((await as(key)('GET', '/api-keys')).statusCode, 401)
  mock.timers.reset()
})

test('a key does not rotate a key that has scopes it lacks', async (t) => {
  const { app, post } = await keyApp(t)
  const { key } = await app.users.apiKeys.create({ name: 'caller', scopes: ['users:read', 'keys:write'] })
  const greater = await app.users.apiKeys.create({ name: 'greater', scopes: ['users:read', 'users:delete'] })
  const refused = await post(`/api-keys/${greater.id}/rotate`, {}, key)
  t.equal(refused.statusCode, 403, 'the caller would get the text of the successor')
  t.equal('revokedAt' in (await app.users.apiKeys.get(greater.id)), false)
  t.equal((await app.users.apiKeys.get(greater.id)).expiresAt, greater.expiresAt, 'it stays as it was')
  const own = await app.users.apiKeys.create({ name: 'own', scopes: ['users:read'] })
  t.equal((await post(`/api-keys/${own.id}/rotate`, {}, key)).statusCode, 201)
})

test('a principal of the host gives no longer life than its own expiresAt', async (t) => {
  const guest: HostPrincipal = { id: 'guest', scopes: ['keys:write'] }
  const expiresAt = new Date(Date.now() + DAY_MS).toISOString()
  const { post } = await keyApp(t, { authenticate: (token) => token === 'guest' ? guest : { ...guest, expiresAt } })
  const create = async (token: string) =>
    (await post('/api-keys', { name: 'x', scopes: ['keys:write'], expiresAt: null }, token)).statusCode
  t.equal(await create('guest'), 201, 'without expiresAt the caller has no expiry')
  t.equal(await create('for-a-day'), 403)
})

test('a key gives addresses and a limit within its own, and its own where none are named', async (t) => {
  const { app, post } = await keyApp(t, { limits: LIMITS })
  const own = { addresses: ['127.0.0.0/8', '10.0.0.0/8', '2001:db8::/32'], rateLimit: { max: 100, window: 60 } }
  const caller = await app.users.apiKeys.create({ name: 'caller', scopes: ALL_SCOPES, ...own })
  t.has((await post('/api-keys', { name: 'x' }, caller.key)).json(), own)
  const right = [
    { addresses: ['10.1.0.0/16', '2001:db8::1/128', '127.0.0.1/32'] }, { addresses: ['::ffff:10.0.0.1/128'] },
    { rateLimit: { max: 100, window: 60 } }, { rateLimit: { max: 100, window: 61 } },
    { rateLimit: { max: 1, window: 1 } }
  ]
  for (const members of right) {
    const answer = await post('/api-keys', { name: 'x', ...members }, caller.key)
    t.equal(answer.statusCode, 201, JSON.stringify(members))
  }
  const wrong = [
    { addresses: null }, { addresses: ['0.0.0.0/0'] }, { addresses: ['10.0.0.0/7'] }, { addresses: ['::/0'] },
    { addresses: ['10.0.0.1/32', '11.0.0.1/32'] }, { rateLimit: null }, { rateLimit: { max: 101, window: 3600 } },
    { rateLimit: { max: 100, window: 59 } }
  ]
  for (const members of wrong) {
    const answer = await post('/api-keys', { name: 'x', ...members }, caller.key)
    t.equal(answer.headers['www-authenticate'], 'Bearer realm="users", error="insufficient_scope"')
    t.match([answer.statusCode, answer.json()], [403, {
      code: 'insufficient_scope', errors: [{ pointer: `/${Object.keys(members)[0]}`, code: 'beyond_caller' }]
    }], JSON.stringify(members))
  }
})

test('a key without a limit of its own gives no more than that of every key', async (t) => {
  const { post } = await keyApp(t, { limits: { requests: { max: 100, window: 60 } } })
  const status = async (rateLimit: object | null) => (await post('/api-keys', { name: 'x', rateLimit })).statusCode
  t.strictSame([await status({ max: 101, window: 60 }), await status({ max: 100, window: 60 }), await status(null)],
    [403, 201, 201])
})

test('a key rotates no key that works from elsewhere, or may send more', async (t) => {
  const { app, post } = await keyApp(t, { limits: LIMITS })
  const bounds = { addresses: ['127.0.0.0/8'], rateLimit: { max: 100, window: 60 } }
  const caller = await app.users.apiKeys.create({ name: 'caller', scopes: ALL_SCOPES, ...bounds })
  const others = [{}, { ...bounds, addresses: ['0.0.0.0/0'] }, { ...bounds, rateLimit: { max: 101, window: 60 } }]
  for (const members of others) {
    const other = await app.users.apiKeys.create({ name: 'other', ...members })
    const answer = await post(`/api-keys/${other.id}/rotate`, {}, caller.key)
    t.match([answer.statusCode, answer.json()], [403, { code: 'insufficient_scope', errors: [{ pointer: '' }] }])
    t.strictSame(await app.users.apiKeys.get(other.id), (({ key, ...record }) => record)(other), 'it stays as it was')
  }
  t.has((await post(`/api-keys/${caller.id}/rotate`, {}, caller.key)).json(), bounds)
})

test('a store that loses the addresses of a key makes none: the key is revoked', async (t) => {
  const storage = memory()
  const { find } = storage
  storage.find = async (name, keys) => {
    const rows = await find(name, keys)
    return rows.map((row) => {
      const { addresses, ...record }: { addresses?: unknown } = Object(row?.record)
      return row && { ...row, record: Object(record) }
    })
  }
  const { app } = await keyApp(t, { storage })
  await t.rejects(app.users.apiKeys.create({ name: 'bound', addresses: ['10.0.0.0/8'] }), { code: 'internal' })
  const key = (await app.users.apiKeys.list()).data.at(-1)
  t.match(key, { name: 'bound', revokedAt: String })
})
