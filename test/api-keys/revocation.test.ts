// Revoking keys over HTTP: every holder can revoke its key, but the last key that can manage keys stays.
import { test } from 'tap'
import type { HostPrincipal } from '../../lib/index.ts'
import { ALL_SCOPES, type Call } from '../helpers/app.ts'
import { keyApp } from '../helpers/key-app.ts'
import { until } from '../helpers/until.ts'

/** The status of a revocation, and the code of its refusal. */
async function revocation (call: Call, path: string) {
  const response = await call('DELETE', path)
  return [response.statusCode, ...response.body === '' ? [] : [response.json().code]]
}

const LAST = [409, 'last_admin_key']
const guest: HostPrincipal = { id: 'guest', scopes: ['keys:write'] }

test('refuses to revoke the last key that can manage keys, unless forced', async (t) => {
  const { app, call, as } = await keyApp(t)
  const [admin] = (await app.users.apiKeys.list()).data
  for (const path of [`/api-keys/${admin?.id}`, '/api-keys/current', `/api-keys/${admin?.id}?force=false`]) {
    t.strictSame(await revocation(call, path), LAST, path)
  }
  const other = await app.users.apiKeys.create({ name: 'other', scopes: ['keys:write'] })
  t.equal((await as(other.key)('DELETE', '/api-keys/current')).statusCode, 204, 'there is another such key')
  t.equal((await call('DELETE', '/api-keys/current?force=true')).statusCode, 204)
  t.equal((await call('GET', '/api-keys')).statusCode, 401)

  const fixed = await keyApp(t, { apiKeys: { static: [{ key: 's'.repeat(32), scopes: ALL_SCOPES }] } })
  t.equal((await fixed.call('DELETE', '/api-keys/current')).statusCode, 204, 'a static key can manage keys too')
  const lesser = await keyApp(t, {
    apiKeys: { static: ['s'.repeat(32), { key: 't'.repeat(32), scopes: ['keys:write'] }] }
  })
  t.equal((await lesser.call('DELETE', '/api-keys/current')).statusCode, 409, 'but not two that share its scopes')
})

test('refuses to revoke the last key that can give its scopes, unless forced', async (t) => {
  const { app, call, as } = await keyApp(t)
  const [first] = (await app.users.apiKeys.list()).data
  const manager = await app.users.apiKeys.create({ name: 'readers', scopes: ['keys:write', 'users:read'] })
  for (const path of [`/api-keys/${first?.id}`, '/api-keys/current']) {
    t.strictSame(await revocation(call, path), LAST, path)
  }
  t.equal((await as(manager.key)('DELETE', '/api-keys/current')).statusCode, 204)
  await app.users.apiKeys.create({ name: 'all but one', scopes: ALL_SCOPES.filter((scope) => scope !== 'keys:read') })
  t.equal((await call('DELETE', '/api-keys/current')).statusCode, 409, 'nobody could give keys:read')
  await app.users.apiKeys.create({ name: 'another', scopes: ALL_SCOPES.toReversed() })
  t.equal((await call('DELETE', '/api-keys/current')).statusCode, 204)
})

test('a key revokes only keys whose scopes it has itself', async (t) => {
  const { app, as } = await keyApp(t)
  const manager = await app.users.apiKeys.create({ name: 'manager', scopes: ['keys:write', 'users:read'] })
  const call = as(manager.key)
  const [first] = (await app.users.apiKeys.list()).data
  for (const path of [`/api-keys/${first?.id}`, `/api-keys/${first?.id}?force=true`]) {
    const response = await call('DELETE', path)
    t.equal(response.statusCode, 403)
    t.match(response.json(), {
      code: 'insufficient_scope',
      detail: 'An API key can only revoke keys whose scopes it has itself.',
      errors: [{ pointer: '', code: 'beyond_caller', detail: 'must have no scope that the caller lacks' }]
    })
    t.equal(response.headers['www-authenticate'], 'Bearer realm="users", error="insufficient_scope"')
  }
  t.equal((await app.users.apiKeys.get(String(first?.id))).revokedAt, undefined)
  const lesser = await app.users.apiKeys.create({ name: 'lesser', scopes: ['users:read'] })
  t.equal((await call('DELETE', `/api-keys/${lesser.id}`)).statusCode, 204)
  t.equal((await call('DELETE', `/api-keys/${manager.id}?force=true`)).statusCode, 204, 'itself, by its id too')
})

test('a holder of a key can revoke it, whatever its scopes', async (t) => {
  const { app, as } = await keyApp(t, {
    apiKeys: { static: ['s'.repeat(32)] },
    authenticate: (token) => token === 'guest' ? guest : null
  })
  for (const scopes of ALL_SCOPES) {
    const { key } = await app.users.apiKeys.create({ name: 'leaked', scopes: [scopes] })
    t.equal((await as(key)('DELETE', '/api-keys/current')).statusCode, 204, scopes)
    t.equal((await as(key)('DELETE', '/api-keys/current')).statusCode, 401)
  }
  for (const token of ['s'.repeat(32), 'guest']) {
    const response = await as(token)('DELETE', '/api-keys/current')
    t.match(response.json(), {
      status: 404, code: 'api_key_not_found', detail: 'The key of this request is not stored here.'
    })
  }
})

test('with successors, keys that were rotated from a leaked one are refused with it', async (t) => {
  const { app, as, call } = await keyApp(t, { apiKeys: { cache: 60 }, eventLog: true })
  const { apiKeys, events } = app.users
  const published: string[] = []
  events.on('api_key.revoked', ({ id, data }) => { published.push(`${id} ${data.id}`) })
  const leaked = await apiKeys.create({ name: 'leaked', scopes: ALL_SCOPES })
  const next = await apiKeys.rotate(leaked.id)
  const last = await apiKeys.rotate(next.id)
  const side = await apiKeys.rotate(leaked.id)
  for (const { key } of [leaked, next, last, side]) t.equal((await as(key)('GET', '/users')).statusCode, 200)
  t.equal((await call('DELETE', `/api-keys/${next.id}?successors=true`)).statusCode, 204)
  t.equal((await as(leaked.key)('GET', '/users')).statusCode, 200, 'what it came from stays')
  for (const { key } of [next, last]) t.equal((await as(key)('GET', '/users')).statusCode, 401)
  t.equal((await as(leaked.key)('DELETE', '/api-keys/current?successors=true')).statusCode, 204)
  for (const { key } of [leaked, side]) t.equal((await as(key)('GET', '/users')).statusCode, 401)

  await until('every revocation is published', () => published.length === 4)
  const { data: recorded } = await events.list({ type: 'api_key.revoked' })
  t.strictSame(published.toSorted(), recorded.map(({ id, data }) => `${id} ${String(data['id'])}`).toSorted())
  t.strictSame(recorded.map(({ data }) => data['id']), [next.id, last.id, leaked.id, side.id])
  t.match(recorded.at(-1), { actor: { type: 'api_key', id: leaked.id } }, 'the caller')
})

test('with successors, the last key that can manage keys is none of theirs', async (t) => {
  const { app, call } = await keyApp(t)
  const [admin] = (await app.users.apiKeys.list()).data
  await app.users.apiKeys.rotate(String(admin?.id))
  for (const path of [`/api-keys/${admin?.id}`, '/api-keys/current']) {
    t.strictSame(await revocation(call, `${path}?successors=true`), LAST, path)
  }
  const wrong = await call('DELETE', '/api-keys/current?successors=yes')
  t.match(wrong.json(), { status: 400, errors: [{ parameter: 'successors', code: 'choice' }] })
  await t.rejects(app.users.apiKeys.revoke(String(admin?.id), Object({ successors: 'yes', force: true })), {
    code: 'validation_failed',
    errors: [{ pointer: '/force', code: 'unknown' }, { pointer: '/successors', code: 'type' }]
  })
  const revoked = await app.users.apiKeys.revoke(String(admin?.id), { successors: true })
  t.match(revoked.successors, [{ rotatedFrom: admin?.id, revokedAt: revoked.revokedAt }])
})
