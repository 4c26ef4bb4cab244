// The routes of tenants, as the platform and a bound caller find them; and what a deletion leaves.
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import Fastify from 'fastify'
import { test, type Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import users, { type Scope, type Storage } from '../../lib/index.ts'
import { ALL_SCOPES, testApp } from '../helpers/app.ts'
import { aroundCommit } from '../helpers/around.ts'
import { withoutType } from '../helpers/fields.ts'
import { stores, temporaryDirectory } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'
import { ACME, hosted, PLATFORM } from './hosted.ts'

const SCOPES: Scope[] = [...ALL_SCOPES, 'tenants:read', 'tenants:delete']
const KEYS = { platform: PLATFORM, acme: ACME, reader: 'reader-static-key-of-at-least-32-characters' }
const NOT_FOUND = { status: 404, body: { code: 'tenant_not_found' } }

async function host (t: Test, storage: Storage = memory(), prefix = '/v1') {
  const { app, send: sendAs } = await hosted(t, {
    storage,
    prefix,
    apiKeys: {
      routes: true,
      static: [
        { key: KEYS.platform, name: 'platform', scopes: SCOPES, tenant: null },
        { key: KEYS.reader, name: 'reader', scopes: ['tenants:read'], tenant: null },
        { key: KEYS.acme, name: 'acme', scopes: SCOPES, tenant: 'acme' }
      ]
    }
  })
  const send = (method: string, path: string, { key = KEYS.platform }: { key?: string } = {}) =>
    sendAs(key, method, path)
  const fill = async (tenant: string, count: number): Promise<void> => {
    const { created } = await app.users.tenant(tenant).import(Array.from({ length: count }, (_, i) =>
      ({ name: `User ${i}`, email: `${i}@example.org` })))
    if (created !== count) throw new Error(`only ${created} users were made`)
  }
  /** Asks where the deletion of a tenant is, until nothing is left. */
  const gone = (tenant: string) => until(`nothing of ${tenant} is left`, async () =>
    (await send('GET', `/v1/tenants/${tenant}`)).status === 404)
  return { app, send, fill, gone }
}

for (const store of stores) {
  test(`lists the tenants with exact numbers, and deletes one, on ${store.name}`, async (t) => {
    const { app, send, fill, gone } = await host(t, await store.create(t))
    await fill('acme', 3)
    await fill('beta', 30)
    await app.users.tenant('empty').apiKeys.create({ name: 'k' })
    const all = [{ id: 'acme', users: 3 }, { id: 'beta', users: 30 }, { id: 'empty', users: 0 }]
    const { status, body } = await send('GET', '/v1/tenants')
    t.strictSame({ status, body }, { status: 200, body: { data: all, meta: { page: 1, limit: 20, total: 3 } } })
    const page = await send('GET', '/v1/tenants?limit=2&sort=-createdAt')
    t.strictSame(page.body, { data: [all[2], all[1]], meta: { page: 1, limit: 2, total: 3 } })
    t.match(page.link, /<\/v1\/tenants\?limit=2&sort=-createdAt&after=\w+>; rel="next"/)
    t.strictSame((await send('GET', '/v1/tenants?after=acme&limit=1')).body.data, [all[1]])
    t.match(await send('GET', '/v1/tenants?after=A'), { status: 400, body: { errors: [{ parameter: 'after' }] } })
    for (const sort of ['name', '-createdAt'] as const) {
      const { next = '' } = await app.users.tenant('acme').list({ sort, limit: 1 })
      t.match(await app.users.tenant('acme').list({ sort, cursor: next }), { meta: { total: 3 } })
      const refused = { code: 'validation_failed', errors: [{ parameter: 'cursor', code: 'format' }] }
      await t.rejects(app.users.tenant('beta').list({ sort, cursor: next }), refused, `${sort}: of another tenant`)
      await t.rejects(app.users.list({ sort, cursor: next }), refused, `${sort}: of one tenant, in the list of all`)
    }
    t.strictSame((await send('GET', '/v1/tenants/beta')).body, all[1])
    t.equal((await send('HEAD', '/v1/tenants/beta')).status, 200)

    const { key } = await app.users.tenant('beta').apiKeys.create({ name: 'its key' })
    const answer = await send('DELETE', '/v1/tenants/beta')
    t.match(answer, { status: 202, location: '/v1/tenants/beta', body: { id: 'beta', status: 'deleting' } })
    await gone('beta')
    t.match(await send('DELETE', '/v1/tenants/beta'), NOT_FOUND)
    t.match(await send('DELETE', '/v1/tenants/No'), NOT_FOUND)
    t.match(await send('GET', '/v1/users', { key }), { status: 401 })
    t.strictSame((await send('GET', '/v1/tenants')).body.data, [all[0], all[2]])
    t.equal((await send('GET', '/v1/users')).body.meta.total, 3)
    await fill('beta', 1)
    t.strictSame((await send('GET', '/v1/tenants/beta')).body, { id: 'beta', users: 1 }, 'a new tenant of this name')
  })

  test(`deletes a tenant beside creations, and leaves only what was made later, on ${store.name}`, async (t) => {
    const { app, send, fill, gone } = await host(t, await store.create(t))
    await fill('acme', 300)
    await fill('beta', 2)
    const acme = app.users.tenant('acme')
    const made: string[] = []
    const over = new AbortController()
    const creating = (async () => {
      for (let i = 0; i < 500 && !over.signal.aborted; i++) {
        made.push((await acme.create({ name: 'x', email: `new-${i}@example.org` })).id)
        await setImmediate()
      }
    })()
    await until('some were made', () => made.length > 3)
    const answers = await Promise.all(Array.from({ length: 3 }, () => send('DELETE', '/v1/tenants/acme')))
    t.strictSame(answers.map(({ status }) => status), [202, 202, 202])
    over.abort()
    await creating
    // Asked for once more after the last creation: that one goes too.
    await send('DELETE', '/v1/tenants/acme')
    await gone('acme')
    for (const id of made) await t.rejects(acme.get(id), { code: 'user_not_found' })
    t.equal((await acme.list()).meta.total, 0)
    t.strictSame((await app.users.tenants.list()).data, [{ id: 'beta', users: 2 }])
    t.strictSame((await acme.events.list()).data, [])
  })
}

test('tenants are not there for a bound caller, whichever it asks for', async (t) => {
  const { app, send, fill } = await host(t)
  await fill('acme', 1)
  await fill('beta', 1)
  const answers = []
  for (const path of ['', '?tenant=beta', '/acme', '/beta', '/nobody', '/acme?tenant=acme', '/beta?tenant=beta']) {
    answers.push(await send('GET', `/v1/tenants${path}`, { key: KEYS.acme }))
    if (path.startsWith('/')) answers.push(await send('DELETE', `/v1/tenants${path}`, { key: KEYS.acme }))
  }
  for (const answer of answers) t.match(answer, { status: 404, body: { code: 'not_found' } })
  const texts = answers.map(({ body: { instance, ...rest } }) => JSON.stringify(rest))
  t.equal(new Set(texts.map((text) => text.replace(/"requestId":"[^"]*"/, ''))).size, 1)
  t.equal((await app.users.list()).meta.total, 2)
  const { key } = await app.users.tenant('acme').apiKeys.create({ name: 'k', scopes: ['users:read'] })
  t.match(await send('GET', '/v1/tenants', { key }), { status: 404, body: { code: 'not_found' } })
  t.match(await send('DELETE', '/v1/tenants/acme', { key: KEYS.reader }),
    { status: 403, body: { code: 'insufficient_scope' } })
})

test('the platform narrows the tenants by the query, and by the path of the prefix', async (t) => {
  const { send, fill } = await host(t, memory(), '/:tenant/v1')
  await fill('acme', 2)
  await fill('beta', 1)
  const one = [{ id: 'acme', users: 2 }]
  t.strictSame((await send('GET', '/acme/v1/tenants')).body, { data: one, meta: { page: 1, limit: 20, total: 1 } })
  t.strictSame((await send('GET', '/acme/v1/tenants?page=2')).body.data, [])
  t.strictSame((await send('GET', '/acme/v1/tenants?after=a')).body.data, one)
  t.strictSame((await send('GET', '/acme/v1/tenants?after=a&sort=-createdAt')).body.data, [])
  t.strictSame((await send('GET', '/nobody/v1/tenants')).body, { data: [], meta: { page: 1, limit: 20, total: 0 } })
  t.match(await send('GET', '/acme/v1/tenants/beta'), NOT_FOUND)
  t.match(await send('DELETE', '/acme/v1/tenants/beta'), NOT_FOUND)
  t.match(await send('GET', '/acme/v1/tenants?tenant=beta'), { status: 403, body: { code: 'tenant_forbidden' } })
  t.match(await send('DELETE', '/acme/v1/tenants/acme'), { status: 202, location: '/acme/v1/tenants/acme' })
  t.match(await send('GET', '/acme/v1/tenants', { key: KEYS.acme }), { status: 404 })
  await until('it is gone', async () => (await send('GET', '/acme/v1/tenants/acme')).status === 404)
  t.strictSame((await send('GET', '/beta/v1/tenants/beta')).body, { id: 'beta', users: 1 })
})

test('a deletion ends when the server closes, and goes on when it is asked for again', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const before = await host(t, sqlite({ filename }))
  await before.fill('acme', 2000)
  t.match(await before.send('DELETE', '/v1/tenants/acme'), { status: 202 })
  t.match(await before.send('GET', '/v1/tenants/acme'), { body: { id: 'acme', status: 'deleting' } })
  const inProcess = before.app.users.tenants.remove('acme')
  await Promise.all([t.rejects(inProcess, { code: 'storage_unavailable' }), before.app.close()])

  const { app, send, gone } = await host(t, sqlite({ filename }))
  const { body: { users: left, ...rest } } = await send('GET', '/v1/tenants/acme')
  t.strictSame(rest, { id: 'acme' }, 'nobody deletes it now')
  t.ok(left > 0 && left <= 2000, `${left} users are left`)
  t.match(await send('DELETE', '/v1/tenants/acme'), { status: 202 })
  await gone('acme')
  t.equal((await app.users.list()).meta.total, 0)
})

test('a failure ends a deletion, and it can be asked for again', async (t) => {
  const storage = memory()
  let failures = 1
  aroundCommit(storage, 'users', async (call, units) => {
    const removes = units.every(({ writes }) => writes.every(({ put }) => put === null))
    if (removes && failures-- > 0) throw new Error('the disk is gone')
    return call()
  })
  const { send, fill, gone } = await host(t, storage)
  await fill('acme', 3)
  t.match(await send('DELETE', '/v1/tenants/acme'), { status: 202 })
  await until('it has ended', async () => (await send('GET', '/v1/tenants/acme')).body.status === undefined)
  t.strictSame((await send('GET', '/v1/tenants/acme')).body, { id: 'acme', users: 3 })
  t.match(await send('DELETE', '/v1/tenants/acme'), { status: 202 })
  await gone('acme')
})

test('without the option there are no routes, and the scopes are unknown', async (t) => {
  const { app, call } = await testApp(t, { apiKeys: { routes: true } })
  for (const path of ['/tenants', '/tenants/acme']) t.equal((await call('GET', path)).statusCode, 404)
  await t.rejects(app.users.apiKeys.create({ name: 'x', scopes: ['tenants:read'] }),
    { code: 'validation_failed', errors: [{ pointer: '/scopes/0', code: 'choice' }] })
  const refused = Fastify().register(users, withoutType({
    storage: memory(), apiKeys: { static: [{ key: KEYS.acme, name: 'x', scopes: ['tenants:delete'] }] }
  }))
  await t.rejects(Promise.resolve(refused), /has a scope of tenants, which needs the option tenants/)
})

test('in process a user of no tenant is refused as over HTTP', async (t) => {
  const { app } = await host(t)
  const ann = { name: 'Ann', email: 'ann@example.org' }
  const required = (place: object) => ({ code: 'validation_failed', errors: [{ ...place, code: 'required' }] })
  await t.rejects(app.users.create(ann), required({ pointer: '/tenant' }))
  const named = /the call names the tenant, as app\.users\.tenant\(name\)\.create\(\) does/
  for (const { create } of [app.users, app.users.tenant('acme')]) {
    const error = await create(withoutType({ ...ann, tenant: 'acme' })).catch((thrown) => thrown)
    t.match(error, { errors: [{ pointer: '/tenant', code: 'unknown', detail: named }] })
    t.equal(error.errors.length, 1)
  }
  await t.rejects(app.users.batch([{ op: 'create', body: ann }]), required({ parameter: 'tenant' }))
  t.match(await app.users.import([ann, { ...ann, tenant: 'acme' }, { ...ann, tenant: 'beta' }]),
    { created: 2, refused: 1 })
  const [first] = (await app.users.list()).data
  t.match(first, { tenant: 'acme' })
  t.match(await app.users.batch([{ op: 'update', id: String(first?.id), body: { name: 'Anne' } }]),
    { data: [{ status: 200 }] }, 'a batch that makes nobody names no tenant')
  await t.rejects(app.users.tenants.remove('No'), { code: 'validation_failed' })
  t.throws(() => app.users.tenant('No'), { code: 'validation_failed' })
})
