// What every operation refuses: a caller without its scope, what its path has not, and a body that it cannot read.
import { test } from 'tap'
import { newId } from '../../lib/core/ids.ts'
import type { Scope } from '../../lib/index.ts'
import { webhooks } from '../../lib/webhooks.ts'
import { ALL_SCOPES, testApp, type TestApp } from '../helpers/app.ts'
import { jsonHeaders, UNKNOWN } from '../helpers/contract.ts'
import description from '../../openapi.json' with { type: 'json' }

/** The scopes of each operation of a mount with one tenant: all that it needs. */
const SCOPES: ReadonlyArray<readonly [scopes: Scope[], operations: string]> = [
  [['users:read'], 'listUsers getUser exportUsers'],
  [['users:write'], 'createUser updateUser replaceUser revertUser importUsers'],
  // By what it does: test/batch.
  [[], 'writeUsers'],
  [['users:delete'], 'deleteUser restoreUser listDeletedUsers'],
  [['users:read', 'events:read', 'groups:read'], 'getSubject'],
  [['events:read'], 'listEvents listUserEvents'],
  [['keys:read'], 'listApiKeys getApiKey listApiKeyUses'],
  [['keys:write'], 'createApiKey revokeApiKey rotateApiKey'],
  [['groups:read'], 'listGroups getGroup listUserGroups'],
  [['groups:read', 'users:read'], 'listGroupMembers'],
  [['groups:write'], 'createGroup updateGroup deleteGroup addGroupMember removeGroupMember changeGroupMembers'],
  [['webhooks:read'], 'listWebhooks getWebhook listDeliveries'],
  [['webhooks:write'], 'createWebhook updateWebhook deleteWebhook rotateWebhookSecret testWebhook replayWebhook ' +
    'retryDelivery']
]
/** Bodies that are valid, of operations that need one. */
const BODIES: Record<string, object> = {
  replaceUser: { name: 'Ann', email: 'ann@example.org' },
  revertUser: { event: newId('evt') },
  replayWebhook: { since: '2026-01-01T00:00:00Z' }
}
/** Operations whose bodies are read part by part, or larger than those of one user. */
const OF_MANY = ['importUsers', 'writeUsers', 'changeGroupMembers']

const KINDS: Record<string, [kind: string, unknown: string]> = {
  users: ['user', newId('usr')],
  'api-keys': ['api_key', newId('key')],
  groups: ['group', newId('grp')],
  webhooks: ['webhook', newId('whk')]
}

interface Operation { id: string, method: string, path: string, scopes: Scope[], types: string[] }

const needed = new Map(SCOPES.flatMap(([scopes, ids]) => ids.split(' ').map((id) => [id, scopes] as const)))
const paths = Object.entries<object>(description.paths).filter(([path]) => path.startsWith('/v1/'))
const operations = paths.flatMap(([path, methods]) =>
  Object.entries<{ operationId: string, requestBody?: { content: object } }>({ ...methods })
    .map(([method, { operationId: id, requestBody }]): Operation => ({
      id,
      method: method.toUpperCase(),
      path: path.slice('/v1'.length),
      scopes: needed.get(id) ?? [],
      types: Object.keys(requestBody?.content ?? {})
    })))
  .filter(({ path }) => !/tenants|capabilities|current/.test(path))

async function mounted (t: Parameters<typeof testApp>[0]): Promise<TestApp> {
  const host = await testApp(t, {
    apiKeys: { routes: true, countUses: true }, eventLog: true, trash: true, groups: true
  })
  await host.app.register(webhooks, { deliver: false })
  return host
}

const at = (path: string, id: string) => path.replace('{id}', id).replace(/\{\w+\}/, UNKNOWN)

test('every operation needs its scopes, and no other will do', async (t) => {
  const { app, call } = await mounted(t)
  t.strictSame(operations.map(({ id }) => id).sort(), [...needed.keys()].sort(), 'the table has each')
  for (const missing of ALL_SCOPES) {
    const others = ALL_SCOPES.filter((scope) => scope !== missing)
    const { key } = await app.users.apiKeys.create({ name: missing, scopes: others })
    for (const { id, method, path, scopes } of operations) {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'text/plain' }
      const { statusCode, headers: got, body } = await call(method, at(path, 'x'), { headers, payload: 'x' })
      if (!scopes.includes(missing)) {
        t.not(statusCode, 403, `${id} without ${missing}`)
        continue
      }
      t.equal(statusCode, 403, `${id} without ${missing}`)
      t.match(got['www-authenticate'], /^Bearer realm="users", error="insufficient_scope", scope="[^"]+"$/)
      t.ok(String(got['www-authenticate']).includes(missing), id)
      const detail = new RegExp(`^The API key lacks (?:the|a) scope that this operation needs: .*${missing}`)
      t.match(JSON.parse(body), { code: 'insufficient_scope', detail })
    }
  }
})

test('every operation refuses unknown parameters, ids and methods', async (t) => {
  const { app, call } = await mounted(t)
  const { id: group } = await app.users.groups.create({ name: 'Staff' })
  const { key: other } = await app.users.apiKeys.create({ name: 'other', scopes: ['users:delete'] })
  const authorization = `Bearer ${other}`
  for (const { id, method, path, types } of operations) {
    const payload = BODIES[id] ?? (method === 'GET' ? undefined : id === 'importUsers' ? 'x' : {})
    const typed = { headers: { 'content-type': types[0] ?? 'application/json' } }
    const send = (of: string, query = '') =>
      call(method, `${at(path, of)}${query}`, payload === undefined ? {} : { payload, ...typed })
    const strange = await send(group, '?unknownParameter=1')
    t.match([strange.statusCode, strange.json().errors?.[0]],
      [400, { parameter: 'unknownParameter', code: 'unknown', detail: 'is not a known parameter' }], id)
    const [, collection = ''] = path.split('/')
    const [kind, unknown] = KINDS[collection] ?? []
    for (const nobody of path.includes('{id}') ? [String(unknown), 'x'] : []) {
      const { statusCode, body } = await send(nobody)
      t.strictSame([statusCode, JSON.parse(body).code], [404, `${kind}_not_found`], `${id} of ${nobody}`)
    }
    const there = operations.filter((each) => each.path === path).map((each) => each.method)
    const allow = there.flatMap((each) => each === 'GET' ? ['GET', 'HEAD'] : [each])
    const { statusCode, headers } = await call('PROPFIND', at(path, UNKNOWN), { headers: { authorization } })
    const methods = String(headers.allow).split(', ').sort()
    t.strictSame([statusCode, methods], [405, allow.sort()], `${path}: before the scope`)
  }
})

test('every operation with a body refuses other types, codings, texts and sizes', async (t) => {
  const { call } = await mounted(t)
  for (const { id, method, path, types } of operations.filter((each) => each.types.length > 0)) {
    const send = async (payload: string, headers: Record<string, string> = jsonHeaders) => {
      const { statusCode, body } = await call(method, at(path, UNKNOWN), { headers, payload })
      return [statusCode, JSON.parse(body).code]
    }
    const [type = ''] = types
    t.strictSame(await send('x', { 'content-type': 'text/plain' }), [415, 'unsupported_media_type'], id)
    t.strictSame(await send('{}', { 'content-type': type, 'content-encoding': 'gzip' }),
      [415, 'unsupported_media_type'], id)
    if (id === 'importUsers') continue
    t.strictSame(await send('{'), [400, 'malformed_json'], id)
    for (const wrong of ['[]', '{"unknownMember":1}']) t.strictSame(await send(wrong), [400, 'validation_failed'], id)
    if (!OF_MANY.includes(id)) t.strictSame(await send(' '.repeat(20_000)), [413, 'body_too_large'], id)
  }
})
