// Contract §9: which keys are accepted. What is refused: break-in.test.ts, and for a scope: test/contract.
import { mock } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { inject, testApp } from '../helpers/app.ts'
import { until } from '../helpers/until.ts'

const INVALID = 'Bearer realm="users", error="invalid_token"'

const get = (app: FastifyInstance, authorization: string) =>
  inject(app, 'GET', '/v1/users', { headers: { authorization } })
const statusOf = async (app: FastifyInstance, key: string) => (await get(app, `Bearer ${key}`)).statusCode

test('accepts stored keys until they end, and refuses others with the same bytes', async (t) => {
  const { app, key } = await testApp(t, { server: { genReqId: () => 'fixed' } })
  t.equal(await statusOf(app, key), 200)
  t.equal((await get(app, `bEARER   ${key}`)).statusCode, 200, 'the scheme in any case, then spaces')
  const revoked = await app.users.apiKeys.create({ name: 'revoked' })
  t.equal(await statusOf(app, revoked.key), 200)
  await app.users.apiKeys.revoke(revoked.id)
  const soon = await app.users.apiKeys.create({ name: 'soon', expiresIn: 60 })
  t.equal(await statusOf(app, soon.key), 200)
  mock.timers.enable({ apis: ['Date'], now: Date.parse(soon.expiresAt ?? '') - 1 })
  t.equal(await statusOf(app, soon.key), 200, 'valid to its last millisecond')
  mock.timers.setTime(Date.parse(soon.expiresAt ?? ''))

  const refused = await get(app, `Bearer ${soon.key}`)
  mock.timers.reset()
  t.strictSame([refused.statusCode, refused.headers['www-authenticate']], [401, INVALID], 'expired')
  t.equal(refused.body, JSON.stringify({
    type: 'urn:problem:fastify-users:invalid_api_key',
    title: 'Invalid API key',
    status: 401,
    code: 'invalid_api_key',
    detail: 'The API key is malformed, unknown, expired or revoked.',
    requestId: 'fixed'
  }))
  t.equal((await get(app, `Bearer ${revoked.key}`)).body, refused.body, 'every refusal has the same bytes')
})

test('accepts only keys made under a current or former pepper', async (t) => {
  const storage = memory()
  const under = (pepper: string | string[]) => testApp(t, { storage, apiKeys: { pepper } })
  const { app, key } = await under('p'.repeat(32))
  const { app: other } = await under('q'.repeat(32))
  const { app: next, key: young } = await under(['n'.repeat(32), 'p'.repeat(32)])
  t.equal(await statusOf(app, key), 200)
  t.equal(await statusOf(other, key), 401, 'refuses a key that was made under another pepper')
  for (const each of [key, young]) t.equal(await statusOf(next, each), 200, 'of the current and the former pepper')
  t.equal(await statusOf(app, young), 401, 'new keys are made under the current pepper')
})

test('records the use of a key at most once a minute', async (t) => {
  const { app, key } = await testApp(t)
  const used = async () => (await app.users.apiKeys.list()).data[0]?.lastUsedAt
  t.equal(await used(), undefined)
  await statusOf(app, key)
  // A use is recorded after the answer.
  await until('recording the first use', async () => (await used()) !== undefined)
  const first = await used()
  mock.timers.enable({ apis: ['Date'], now: Date.parse(first ?? '') + 59_999 })
  await statusOf(app, key)
  t.equal(await used(), first)
  mock.timers.setTime(Date.parse(first ?? '') + 60_000)
  await statusOf(app, key)
  await until('recording the second use', async () => (await used()) !== first)
  t.equal(await used(), new Date(Date.parse(first ?? '') + 60_000).toISOString())
  mock.timers.reset()
})
