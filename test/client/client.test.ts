// What only the client has: operations by their names, tenants, webhooks, keys, types from the description, its size.
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { test } from 'tap'
import { createClient, type FieldsOf, type UsersClient } from '../../client/index.ts'
import { operations } from '../../client/operations.ts'
import type { components } from '../../examples/typed-client/api.d.ts'
import webhooks from '../../lib/webhooks-plugin.ts'
import { ALL_SCOPES, testApp } from '../helpers/app.ts'
import { withoutType } from '../helpers/fields.ts'
import description from '../../openapi.json' with { type: 'json' }

const at = async (app: { listen: (options: object) => Promise<string> }): Promise<string> =>
  `${await app.listen({ host: '127.0.0.1', port: 0 })}/v1`

test('has each operation of the API by its operationId, and no other', (t) => {
  const described = Object.entries(description.paths).filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, { operationId }]) =>
      [operationId, [method.toUpperCase(), path.slice('/v1'.length)]]))
  t.strictSame(operations, Object.fromEntries(described))
  t.end()
})

test('needs nothing, and is small', async (t) => {
  const { outputFiles: [file], metafile: { inputs } } = await build({
    entryPoints: ['client/index.ts'], bundle: true, minify: true, write: false, metafile: true, format: 'esm'
  })
  const size = gzipSync(file?.contents ?? '').length
  t.ok(size <= 8 * 1024, `${size} bytes`)
  t.strictSame(Object.keys(inputs).filter((path) => !path.startsWith('client/')), [])
})

test('says what is wrong with its options, a source and an address', async (t) => {
  const { app, key } = await testApp(t)
  const baseUrl = await at(app)
  t.throws(() => createClient(withoutType({ baseUrl, key: undefined })), {
    name: 'TypeError', message: 'fastify-users/client: key must be the text of a key or a function'
  })
  for (const source of ['users.ndjson', Buffer.from('{}')]) {
    await t.rejects(createClient({ baseUrl, key }).import(source, { format: 'ndjson' }), {
      name: 'TypeError', message: /for a file pass createReadStream\(path\) and its format/
    })
  }
  await t.rejects(createClient({ baseUrl: baseUrl.replace('/v1', ''), key }).list(), {
    code: 'unreadable',
    statusCode: 404,
    message: '404 from something that is not this API: does baseUrl include the prefix?'
  })
})

test('the types of the host’s fields come from a description', async (t) => {
  type Fields = FieldsOf<components['schemas']['users.User'] & { plan?: 'free' | 'pro' }>
  const schema = { type: 'object', properties: { plan: { type: 'string', enum: ['free', 'pro'] } } } as const
  const { app, key } = await testApp(t, { fields: { schema } })
  const client: UsersClient<Fields> = createClient<Fields>({ baseUrl: await at(app), key: async () => key })
  const { plan } = await client.create({ name: 'Ann', email: 'ann@example.org', plan: 'pro' })
  const given: 'free' | 'pro' | undefined = plan
  t.equal(given, 'pro')
})

test('a client of the platform is narrowed to a tenant, and deletes one to the end', async (t) => {
  const { app } = await testApp(t, { tenants: true, eventLog: true })
  const { key } = await app.users.apiKeys.create({
    name: 'platform', scopes: [...ALL_SCOPES, 'tenants:read', 'tenants:delete']
  })
  const client = createClient({ baseUrl: await at(app), key })
  const acme = client.tenant('acme')
  const { id } = await acme.create({ name: 'Ann', email: 'ann@example.org' })
  await client.tenant('other').create({ name: 'Ann', email: 'ann@example.org' })
  t.equal((await acme.list()).meta.total, 1)
  t.equal((await client.list()).meta.total, 2)
  await t.rejects(client.tenant('other').get(id), { code: 'user_not_found' })
  t.match(await client.tenants.list(), { data: [{ id: 'acme', users: 1 }, { id: 'other', users: 1 }] })
  t.match(await client.tenants.get('acme'), { id: 'acme', users: 1 })
  t.equal(await client.tenants.remove('acme'), undefined)
  await t.rejects(client.tenants.get('acme'), { code: 'tenant_not_found' })
  t.equal((await client.list()).meta.total, 1)
})

test('serves webhooks, members one by one, a replacement, own keys, and what the API offers', async (t) => {
  const { app, key } = await testApp(t, { eventLog: true, groups: true, apiKeys: { routes: true } })
  await app.register(webhooks, { allowHttp: true, allowedNetworks: ['127.0.0.0/8'] })
  const { admin } = await import('../../lib/admin-plugin.ts')
  await app.register(admin)
  const client = createClient({ baseUrl: new URL(await at(app)), key })
  const hook = await client.webhooks.create({ url: 'http://127.0.0.1:9/x', types: ['user.*'] })
  t.match(hook, { id: /^whk_/, secret: /^whsec_/ })
  t.match(await client.webhooks.update(hook.id, { enabled: false }), { enabled: false })
  t.match(await client.webhooks.rotateSecret(hook.id), { secret: /^whsec_/ })
  t.match(await client.webhooks.test(hook.id), { type: 'webhook.test', status: 'failed' })
  const { data: [delivery] } = await client.webhooks.deliveries(hook.id, { status: 'failed' })
  t.match(await client.webhooks.retry(hook.id, delivery?.id ?? ''), { id: delivery?.id })
  t.match(await client.webhooks.replay(hook.id, { since: new Date().toISOString() }), { id: hook.id })
  t.equal((await client.webhooks.list()).meta.total, 1)
  t.equal(await client.webhooks.delete(hook.id), undefined)
  await t.rejects(client.webhooks.get(hook.id), { code: 'webhook_not_found' })

  const ann = await client.create({ name: 'Ann', email: 'ann@example.org' })
  const { id } = await client.groups.create({ name: 'Staff' })
  for (let n = 0; n < 2; n++) t.equal(await client.groups.addMember(id, ann.id), undefined)
  t.equal((await client.groups.get(id)).members, 1)
  await client.groups.removeMember(id, ann.id)
  t.equal((await client.groups.get(id)).members, 0)
  const replacement = { name: 'Anna', email: 'anna@example.org' }
  t.match(await client.replace(ann.id, replacement, { ifMatch: 1 }), { ...replacement, version: 2 })
  t.match(await client.capabilities(), { caller: { type: 'api_key' }, offers: { groups: true, webhooks: true } })
  t.match(await (await client.request('getUser', { params: { id: ann.id } })).json(), { id: ann.id })

  const other = await client.apiKeys.create({ name: 'other', scopes: ['users:read'] })
  await client.with({ timeoutMs: 5000 }).apiKeys.revoke(other.id, { successors: true })
  t.match(await client.apiKeys.get(other.id), { revokedAt: /Z$/ })
  await t.rejects(client.apiKeys.revokeCurrent(), { code: 'last_admin_key' })
  await client.apiKeys.revokeCurrent({ force: true })
  await t.rejects(client.list(), { code: 'invalid_api_key' })
})
