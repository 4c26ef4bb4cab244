// The addresses and the limit that a caller can give to a key that it creates or rotates: none beyond its own.
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { ALL_SCOPES } from '../helpers/app.ts'
import { keyApp } from '../helpers/key-app.ts'

const LIMITS = { requests: { max: 600, window: 60 } }

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
