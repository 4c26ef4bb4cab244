// The description that @fastify/swagger makes of our routes: complete, right, and apart from the host's own.
import { readFile, writeFile } from 'node:fs/promises'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import users from '../../lib/index.ts'
import { describe, lint, operationsOf } from '../helpers/description.ts'

const ALL = {
  apiKeys: { routes: true, countUses: true },
  eventLog: true,
  trash: true,
  webhooks: true,
  groups: true,
  scim: true,
  tenants: true,
  admin: true,
  limits: { requests: { max: 6000, window: 60 } }
}

/** Operations of which each caller has a share. */
const SHARED = ['exportUsers', 'importUsers', 'getSubject']

test('openapi.json is the description of all routes (UPDATE=1 writes it)', async (t) => {
  const { text } = await describe(t, { mounts: [ALL] })
  const file = new URL('../../openapi.json', import.meta.url)
  if (process.env['UPDATE'] === '1') await writeFile(file, `${text}\n`)
  t.equal(await readFile(file, 'utf8'), `${text}\n`)
})

test('a linter finds no problem, whatever the options', async (t) => {
  const schema = Type.Object({ team: Type.String(), any: Type.Unknown(), noText: Type.Not(Type.String()) })
  for (const mount of [
    { errorFormat: 'fastify', deprecated: { since: '2026-01-01' } },
    { ...ALL, prefix: '/:tenant/v1', fields: { schema } }
  ] as const) {
    t.strictSame(await lint((await describe(t, { mounts: [mount] })).text), [], JSON.stringify(mount))
  }
})

test('describes the operations of a mount without options, each with an id of its own and security', async (t) => {
  const { description } = await describe(t, { mounts: [{ limits: { failures: { max: 10, window: 60 } } }] })
  const operations = operationsOf(description)
  t.strictSame(operations.map(({ method, path }) => `${method} ${path}`), [
    'get /v1/users', 'post /v1/users', 'get /v1/users/{id}', 'patch /v1/users/{id}', 'put /v1/users/{id}',
    'delete /v1/users/{id}', 'get /v1/users/{id}/subject', 'get /v1/users/export', 'post /v1/users/batch',
    'post /v1/users/import'
  ])
  for (const { operation: { operationId, security, responses } } of operations) {
    t.ok('429' in responses, `${operationId} may meet the limit of failures`)
    t.strictSame(security, [{ usersApiKey: [] }])
  }
  t.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length)
})

test('describes the host’s own page size, prefix, error format and limits', async (t) => {
  const { description } = await describe(t, {
    mounts: [{
      prefix: '/:tenant/v1',
      pageSize: { default: 5, max: 10 },
      errorFormat: 'fastify',
      deprecated: { since: '2026-01-01' }
    }]
  })
  const list = description.paths['/{tenant}/v1/users']?.['get']
  const parameter = (name: string) => list?.parameters?.find((each) => each.name === name)
  t.match(parameter('limit'), { schema: { maximum: 10, default: 5 } })
  t.match(parameter('tenant'), { in: 'path', schema: { type: 'string' } })
  t.equal(list?.deprecated, true)
  t.strictSame(Object.keys(list?.responses['400']?.content ?? {}), ['application/json'])
  const headers = list?.responses['200']?.headers ?? {}
  t.match(Object.keys(headers), ['Cache-Control', 'X-Content-Type-Options', 'Link', 'Deprecation'])
  t.notOk('Sunset' in headers, 'it has none')

  const deprecated = { since: '2026-01-01', sunset: '2027-01-01', link: '/x' }
  const ended = await describe(t, {
    mounts: [{ apiKeys: { routes: true }, limits: { deletions: { max: 5, window: 3600 } }, deprecated }]
  })
  const ofRefusals = ['Cache-Control', 'X-Content-Type-Options', 'WWW-Authenticate', 'Deprecation', 'Sunset', 'Link']
  for (const { operation: { operationId, responses } } of operationsOf(ended.description)) {
    t.match(Object.keys(responses['401']?.headers ?? {}), ofRefusals)
    t.equal('429' in responses, ['deleteUser', 'writeUsers', ...SHARED].includes(operationId))
  }
  const limited = await describe(t, {
    mounts: [{ apiKeys: { routes: true }, limits: { requests: { max: 1, window: 1 } } }]
  })
  const unlimited = operationsOf(limited.description).filter(({ operation }) => !('429' in operation.responses))
  t.strictSame(unlimited.map(({ path }) => path), ['/v1/api-keys/current'])
})

test('keeps what the host describes itself, and openapi: false adds nothing', async (t) => {
  const host = {
    tags: [{ name: 'users', description: 'The host’s' }],
    components: {
      schemas: { User: { type: 'boolean' } },
      securitySchemes: { usersApiKey: { type: 'http', scheme: 'basic' }, other: { type: 'http', scheme: 'digest' } }
    }
  }
  const before = (app: FastifyInstance) => {
    app.addSchema({ $id: 'User', type: 'object', properties: { shoe: { type: 'number' } } })
    app.get('/own', { schema: { response: { 200: { $ref: 'User#' } } } }, async () => ({ shoe: 1 }))
  }
  const { description } = await describe(t, { openapi: host, before })
  t.strictSame(description.tags, host.tags)
  const { usersApiKey2, ...others } = Object(description.components.securitySchemes)
  t.strictSame(others, host.components.securitySchemes)
  t.match(usersApiKey2, { type: 'http', scheme: 'bearer' })
  for (const { path, operation } of operationsOf(description)) {
    if (path !== '/own') t.strictSame(operation.security, [{ usersApiKey2: [] }])
  }
  t.strictSame(description.components.schemas['User'], { type: 'boolean' })
  t.ok(description.paths['/own'])
  const hidden = await describe(t, { before, mounts: [{ openapi: false, apiKeys: { routes: true } }] })
  const { paths, components } = hidden.description
  t.strictSame(Object.keys(paths), ['/own'])
  const ours = Object.keys(components.schemas).filter((name) => name.includes('.'))
  t.strictSame([components.securitySchemes, ours], [undefined, []])
  t.strictSame(Object.keys(host.components.schemas), ['User'], 'the host’s object is not changed')
})

test('each mount in a server has its own names, even in separate contexts', async (t) => {
  const before = async (app: FastifyInstance) => {
    for (const prefix of ['/a', '/b']) {
      await app.register(async (scope) => { await scope.register(users, { prefix, storage: memory(), migrate: true }) })
    }
  }
  const { description, text } = await describe(t, { before, mounts: [{ decoratorName: 'people' }] })
  const ids = operationsOf(description).map(({ operation }) => operation.operationId)
  t.equal(new Set(ids).size, ids.length)
  for (const id of ['listUsers', 'listUsers_users2', 'listUsers_people']) t.ok(ids.includes(id), id)
  for (const name of ['users.User', 'users2.User', 'people.User']) {
    t.ok(Object.hasOwn(description.components.schemas, name), name)
  }
  const named = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name = '']) => name)
  t.strictSame([...new Set(named)].filter((name) => !Object.hasOwn(description.components.schemas, name)), [])
})

test('a schema of the host’s with a name like one of ours stays, and ours have another one', async (t) => {
  const own = { type: 'object', properties: { mine: { type: 'string' } } }
  const { description, text } = await describe(t, {
    openapi: { components: { schemas: { 'users.User': own, 'users2.x': own } } }
  })
  t.strictSame(description.components.schemas['users.User'], own)
  t.ok(Object.hasOwn(description.components.schemas, 'users3.User'))
  t.equal(description.paths['/v1/users']?.['post']?.operationId, 'createUser_users3')
  t.notMatch(text, '#/components/schemas/users.')
})

test('a route of the host’s keeps its operationId, and ours have others', async (t) => {
  const route = (app: FastifyInstance, operationId: string) =>
    app.get(`/${operationId}`, { schema: { operationId } }, async () => '')
  const cases: Array<[before: string[], after: string[], ours: string]> = [
    [['mine'], ['other'], 'listUsers'],
    [['getUser'], [], 'listUsers_users2'],
    [[], ['getUser'], 'listUsers_users2'],
    [['getUser'], ['deleteUser_users2'], 'listUsers_users3']
  ]
  for (const [earlier, later, ours] of cases) {
    const before = async (app: FastifyInstance) => {
      for (const id of earlier) route(app, id)
      await app.register(users, { prefix: '/v1', storage: memory(), migrate: true })
      for (const id of later) route(app, id)
    }
    const { description } = await describe(t, { before, mounts: [] })
    const ids = operationsOf(description).map(({ operation }) => operation.operationId)
    t.equal(new Set(ids).size, ids.length)
    for (const id of [...earlier, ...later, ours]) t.ok(ids.includes(id), id)
  }
})

test('describes prefixes and decorators of any form', async (t) => {
  const before = async (app: FastifyInstance) => {
    await app.register(async (scope) => {
      await scope.register(users, { prefix: '/v1', storage: memory(), migrate: true })
    }, { prefix: '/:tenant(^(?:acme|be:ta)$)' })
  }
  const mounts = [
    { prefix: '/rpc::v1', decoratorName: '$people' },
    { prefix: '/:a-:b', decoratorName: 'definitions' }
  ]
  const { description } = await describe(t, { before, mounts })
  const namesAt = (path: string) => description.paths[path]?.['patch']?.parameters
    ?.filter((each) => each.in === 'path').map(({ name }) => name)
  const paths = ['/rpc:v1/users/{id}', '/{a}-{b}/users/{id}', '/{tenant}/v1/users/{id}']
  t.strictSame(paths.map(namesAt), [['id'], ['a', 'b', 'id'], ['tenant', 'id']])
  const names = Object.keys(description.components.schemas).map((name) => name.split('.')[0])
  t.strictSame([...new Set(names)].sort(), ['_people', 'defs', 'users'])
})
