// The description that @fastify/swagger makes of our routes: complete, right, and no trouble to the host's own.
import { readFile, writeFile } from 'node:fs/promises'
import swagger from '@fastify/swagger'
import { Type } from '@sinclair/typebox'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import Fastify, { type FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import users, { type UsersOptions } from '../lib/index.ts'
import { testApp } from './helpers/app.ts'
import { type Description, faultsOf } from './helpers/described.ts'
import { captureLog } from './helpers/log.ts'
import './helpers/watch-all.ts'

const INFO = { title: 'Users', version: '1.0.0', license: { name: 'MIT', url: 'https://opensource.org/license/mit' } }

const fields = Type.Object({
  plan: Type.Union([Type.Literal('free'), Type.Literal('pro')], { default: 'free', description: 'What is paid for.' }),
  seats: Type.Integer({ exclusiveMinimum: 0, examples: [5] }),
  note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  only: Type.Optional(Type.Literal('x')),
  pair: Type.Optional(Type.Tuple([Type.String(), Type.Number({ exclusiveMaximum: 9 })])),
  map: Type.Optional(Type.Record(Type.String({ pattern: '^[a-z]+$' }), Type.Integer())),
  type: Type.Optional(Type.Object({ $ref: Type.Optional(Type.String()), examples: Type.Optional(Type.Array(Type.String())), default: Type.Optional(Type.Boolean()) }, { default: { $ref: 'x' } })),
  multi: Type.Optional(Type.Unsafe<string | number>({ type: ['string', 'integer'] })),
  multi2: Type.Optional(Type.Unsafe<string | number>({ type: ['string', 'integer', 'null'], anyOf: [{ minLength: 1 }, { minimum: 1 }] })),
  none: Type.Optional(Type.Null()),
  mixed: Type.Optional(Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Optional(Type.Array(Type.Null())) })])),
  anything: Type.Optional(Type.Unknown())
})
const needed = Type.Object({ team: Type.String(), any: Type.Unknown(), noText: Type.Not(Type.String()) })

interface Host { openapi?: object | null, mounts?: Array<Partial<UsersOptions>>, before?: (app: FastifyInstance) => unknown, last?: boolean }

/** The description of a host with these mounts, and what was logged. */
async function describe (t: Test, { openapi = {}, mounts = [{}], before, last = false }: Host = {}): Promise<{ description: Description, text: string, log: string }> {
  const { stream, text: log } = captureLog()
  const app = Fastify({ logger: { stream } })
  t.teardown(() => app.close())
  const register = () => app.register(swagger, openapi === null ? {} : { openapi: Object({ openapi: '3.1.0', info: INFO, servers: [{ url: '/' }], ...openapi }) })
  if (!last) await register()
  await before?.(app)
  for (const mount of mounts) await app.register(users, { storage: memory(), migrate: true, ...mount })
  if (last) await register()
  await app.ready()
  const made: unknown = app.swagger()
  const text = JSON.stringify(made, null, 1)
  return { description: JSON.parse(text), text, log: log() }
}

async function lint (source: string): Promise<string[]> {
  const problems = await lintFromString({ source, config: await createConfig({ extends: ['recommended'] }) })
  return problems.map(({ severity, ruleId, message, location }) => `${severity} ${ruleId} ${message} ${location[0]?.pointer}`)
}

const operationsOf = ({ paths }: Description) => Object.entries(paths).flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => ({ method, path, operation })))

test('the description is the one that is kept (UPDATE=1 keeps another)', async (t) => {
  const { text } = await describe(t, { mounts: [{ apiKeyRoutes: true }] })
  const file = new URL('../openapi.json', import.meta.url)
  if (process.env['UPDATE'] === '1') await writeFile(file, `${text}\n`)
  t.equal(await readFile(file, 'utf8'), `${text}\n`)
})

test('the linter has nothing to say, whatever the options', async (t) => {
  const limits = { rateLimit: { max: 10, window: 60 }, maxDeletesPerHour: 5 }
  for (const options of [{}, { apiKeyRoutes: true, ...limits }, { errorFormat: 'fastify' }, { fields, filterable: ['plan', 'seats'] }, { fields: needed }, { prefix: '/:tenant/v1', apiKeyRoutes: true }, { deprecated: { since: '2026-01-01' } }] as const) {
    for (const openapi of ['3.0.3', '3.1.0']) t.strictSame(await lint((await describe(t, { openapi: { openapi }, mounts: [options] })).text), [], `${JSON.stringify(options)} ${openapi}`)
  }
})

test('the host’s own fields are described as they are judged', async (t) => {
  const { description } = await describe(t, { mounts: [{ fields, filterable: ['plan', 'seats'] }] })
  const { schemas } = description.components
  const { User = {}, UserInput = {}, UserPatch = {}, UserReplacement = {} } = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name.replace('users.', ''), schema]))
  t.strictSame(User.required, ['id', 'name', 'email', 'plan', 'seats', 'createdAt', 'updatedAt'])
  t.strictSame(UserInput.required, ['name', 'email', 'seats'], 'what has a default may be left out')
  t.strictSame(UserReplacement.required, ['name', 'email', 'seats'])
  t.strictSame(UserPatch.required, [])
  t.strictSame(UserInput.properties?.['plan'], { type: 'string', enum: ['free', 'pro'], default: 'free', description: 'What is paid for.' })
  t.strictSame(UserPatch.properties?.['plan'], { type: 'string', enum: ['free', 'pro'], description: 'What is paid for.' }, 'a patch has no defaults')
  t.match(UserPatch.properties, { note: { anyOf: [{ type: 'string' }, { type: 'null' }] }, only: { type: ['string', 'null'], enum: ['x', null] }, seats: { type: 'integer' } })
  t.match(User.properties, { pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false } })
  t.match(UserInput, { examples: [{ name: 'Ada Lovelace', email: 'ada@example.org', plan: 'free', seats: 5 }] })
  const query = Object.fromEntries((description.paths['/v1/users']?.['get']?.parameters ?? []).map(({ name, schema }) => [name, schema]))
  t.match(query, { plan: { type: 'string' }, seats: { type: 'number' } })
  t.notOk('note' in query)
  const { description: bare } = await describe(t, { mounts: [{ fields: needed }] })
  t.notOk('examples' in Object(bare.components.schemas['users.UserInput']), 'there is no example that the schema would refuse')
  const { description: two } = await describe(t, { mounts: [{ fields: needed }, { prefix: '/v2', decoratorName: 'others' }] })
  t.ok('team' in Object(two.components.schemas['users.User']?.properties))
  t.notOk('team' in Object(two.components.schemas['others.User']?.properties))
})

test('every operation of the contract has an id, a tag, security and every status', async (t) => {
  const { description } = await describe(t, { mounts: [{ apiKeyRoutes: true, authFailures: { max: 10, window: 60 } }] })
  const common = ['401', '403', '405', '500', '503', '429']
  const rows: Record<string, string[]> = {
    'get /v1/users': ['200', '400'],
    'post /v1/users': ['201', '400', '409', '413', '415', '422'],
    'get /v1/users/{id}': ['200', '304', '400', '404', '412'],
    'patch /v1/users/{id}': ['200', '400', '404', '409', '412', '413', '415', '428'],
    'put /v1/users/{id}': ['200', '400', '404', '409', '412', '413', '415', '428'],
    'delete /v1/users/{id}': ['204', '400', '404', '412', '413', '415', '428'],
    'get /v1/api-keys': ['200', '400'],
    'post /v1/api-keys': ['201', '400', '413', '415'],
    'get /v1/api-keys/{id}': ['200', '400', '404'],
    'delete /v1/api-keys/{id}': ['204', '400', '404', '409', '413', '415'],
    'delete /v1/api-keys/current': ['204', '400', '404', '409', '413', '415'],
    'post /v1/api-keys/{id}/rotate': ['201', '400', '404', '409', '413', '415']
  }
  const operations = operationsOf(description)
  t.strictSame(operations.map(({ method, path }) => `${method} ${path}`).sort(), Object.keys(rows).sort())
  for (const { method, path, operation: { operationId, tags, security, responses } } of operations) {
    t.strictSame(Object.keys(responses).sort(), [...rows[`${method} ${path}`] ?? [], ...common].sort(), `${method} ${path}`)
    t.match(operationId, /^[a-z]+[A-Za-z]+$/)
    t.equal(tags.length, 1)
    t.strictSame(security, [{ usersApiKey: [] }])
  }
  t.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length)
  t.match(description.components.securitySchemes, { usersApiKey: { type: 'http', scheme: 'bearer' } })
  const list = description.paths['/v1/users']?.['get']
  t.strictSame(list?.parameters?.map(({ name }) => name), ['page', 'limit', 'sort', 'after', 'email', 'q'])
  t.match(list?.parameters?.find(({ name }) => name === 'limit'), { schema: { minimum: 1, maximum: 100, default: 20 } })
  t.strictSame(description.tags.map(({ name }) => name), ['users', 'api-keys'])
})

test('the host’s own bounds, prefix and formats are described', async (t) => {
  const { description } = await describe(t, { mounts: [{ prefix: '/:tenant/v1', pageSize: { default: 5, max: 10 }, errorFormat: 'fastify', deprecated: { since: '2026-01-01' } }] })
  const list = description.paths['/{tenant}/v1/users']?.['get']
  t.match(list?.parameters?.find(({ name }) => name === 'limit'), { schema: { maximum: 10, default: 5 } })
  t.match(list?.parameters?.find(({ name }) => name === 'tenant'), { in: 'path', schema: { type: 'string' } })
  t.equal(list?.deprecated, true)
  t.strictSame(Object.keys(list?.responses['400']?.content ?? {}), ['application/json'])
  t.match(Object.keys(list?.responses['200']?.headers ?? {}), ['Cache-Control', 'X-Content-Type-Options', 'Link', 'Deprecation'])
  t.notOk('Sunset' in Object(list?.responses['200']?.headers), 'it has none')
  const both = await describe(t, { mounts: [{ apiKeyRoutes: true, maxDeletesPerHour: 5, deprecated: { since: '2026-01-01', sunset: '2027-01-01', link: '/x' } }] })
  for (const { operation: { operationId, responses } } of operationsOf(both.description)) {
    t.match(Object.keys(responses['401']?.headers ?? {}), ['Cache-Control', 'X-Content-Type-Options', 'WWW-Authenticate', 'Deprecation', 'Sunset', 'Link'])
    t.equal('429' in responses, operationId === 'deleteUser')
  }
  const counted = await describe(t, { mounts: [{ apiKeyRoutes: true, rateLimit: { max: 1, window: 1 } }] })
  t.strictSame(operationsOf(counted.description).filter(({ operation }) => !('429' in operation.responses)).map(({ path }) => path), ['/v1/api-keys/current'])
})

test('what the host has already stays, and a host that hides us has nothing of ours', async (t) => {
  const host = { tags: [{ name: 'users', description: 'The host’s' }], components: { schemas: { User: { type: 'boolean' } }, securitySchemes: { usersApiKey: { type: 'http', scheme: 'basic' }, other: { type: 'http', scheme: 'digest' } } } }
  const before = (app: FastifyInstance) => {
    app.addSchema({ $id: 'User', type: 'object', properties: { shoe: { type: 'number' } } })
    app.get('/own', { schema: { response: { 200: { $ref: 'User#' } } } }, async () => ({ shoe: 1 }))
  }
  const { description } = await describe(t, { openapi: host, before })
  t.strictSame(description.tags, host.tags)
  t.strictSame(description.components.securitySchemes, host.components.securitySchemes)
  t.strictSame(description.components.schemas['User'], { type: 'boolean' })
  t.ok(description.paths['/own'])
  const hidden = await describe(t, { before, mounts: [{ openapi: false, apiKeyRoutes: true }] })
  t.strictSame(Object.keys(hidden.description.paths), ['/own'])
  t.strictSame([hidden.description.components.securitySchemes, Object.keys(hidden.description.components.schemas).filter((name) => name.includes('.'))], [undefined, []])
  t.strictSame(Object.keys(host.components.schemas), ['User'], 'what the host gave is not changed')
})

test('mounts in one server have names of their own, wherever they are', async (t) => {
  const before = async (app: FastifyInstance) => {
    for (const prefix of ['/a', '/b']) await app.register(async (scope) => { await scope.register(users, { prefix, storage: memory(), migrate: true }) })
  }
  const { description, text } = await describe(t, { before, mounts: [{ decoratorName: 'people' }] })
  const ids = operationsOf(description).map(({ operation }) => operation.operationId)
  t.equal(new Set(ids).size, 18)
  for (const id of ['listUsers', 'listUsers_users2', 'listUsers_people']) t.ok(ids.includes(id), id)
  for (const name of ['users.User', 'users2.User', 'people.User']) t.ok(Object.hasOwn(description.components.schemas, name), name)
  t.strictSame(await lint(text), [])
})

test('prefixes and decorators of any form are described', async (t) => {
  const before = async (app: FastifyInstance) => {
    await app.register(async (scope) => { await scope.register(users, { prefix: '/v1', storage: memory(), migrate: true }) }, { prefix: '/:tenant(^(?:acme|be:ta)$)' })
  }
  const { description, text } = await describe(t, { before, mounts: [{ prefix: '/rpc::v1', decoratorName: '$people' }, { prefix: '/:a-:b', decoratorName: 'definitions' }] })
  t.strictSame(await lint(text), [])
  const namesAt = (path: string) => description.paths[path]?.['patch']?.parameters?.filter((each) => each.in === 'path').map(({ name }) => name)
  t.strictSame(['/rpc:v1/users/{id}', '/{a}-{b}/users/{id}', '/{tenant}/v1/users/{id}'].map(namesAt), [['id'], ['a', 'b', 'id'], ['tenant', 'id']])
  t.strictSame([...new Set(Object.keys(description.components.schemas).map((name) => name.split('.')[0]))].sort(), ['_people', 'defs', 'users'])
})

test('logs why a description omits our routes', async (t) => {
  const late = await describe(t, { last: true })
  t.strictSame(late.description.paths, {})
  t.match(late.log, 'the description of @fastify/swagger omits the routes of fastify-users: register it before them')
  const old = await describe(t, { openapi: null, mounts: [{ apiKeyRoutes: true }] })
  t.strictSame(old.description.paths, {})
  t.equal(old.log.split("it is not OpenAPI 3.1; register it with { openapi: { openapi: '3.1.0' } }").length, 2, 'once')
  t.notMatch((await describe(t)).log, 'omits the routes')
  t.notMatch((await describe(t, { last: true, mounts: [{ openapi: false }] })).log, 'omits the routes')
})

test('every answer of a deprecated version says so', async (t) => {
  const since = new Date('2026-01-31T12:00:00.900Z')
  const { app, call } = await testApp(t, { deprecated: { since, sunset: '2026-12-31', link: '/changes' } })
  const links = '</changes>; rel="deprecation", </changes>; rel="sunset"'
  const user = (await call('POST', '/users', { headers: { 'content-type': 'application/json' }, payload: { name: 'Ann', email: 'ann@example.org' } })).json()
  for (const [method, path, status] of [['GET', `/users/${user.id}`, 200], ['GET', '/users/x', 404], ['GET', '/nothing', 404], ['OPTIONS', '/users', 405], ['DELETE', `/users/${user.id}`, 204]] as const) {
    const { statusCode, headers } = await call(method, path)
    t.match({ statusCode, ...headers }, { statusCode: status, deprecation: '@1769860800', sunset: 'Thu, 31 Dec 2026 00:00:00 GMT', link: links })
  }
  t.match((await app.inject('/v1/users')).headers, { deprecation: '@1769860800', link: links })
  t.equal((await call('GET', '/users')).headers['link'], `</v1/users?page=1>; rel="first", </v1/users?page=1>; rel="last", ${links}`)
  t.notOk('deprecation' in (await app.inject('/elsewhere')).headers, 'what is not ours is not')
  const bare = await testApp(t, { deprecated: { since: '2026-01-31T12:00:00Z' } })
  t.match((await bare.call('GET', '/users/x')).headers, { deprecation: '@1769860800', sunset: undefined, link: undefined })
  const linked = await testApp(t, { deprecated: { since: '2026-01-31T12:00:00Z', link: 'https://example.org/a' } })
  t.equal((await linked.call('GET', '/users/x')).headers['link'], '<https://example.org/a>; rel="deprecation"')
})

test('wrong dates and links are refused at the start', async (t) => {
  const wrong: Array<[deprecated: object, words: RegExp]> = [
    [{}, /deprecated must be \{ since, sunset, link \}/],
    [{ since: 'tomorrow' }, /deprecated must be/],
    [{ since: new Date(NaN) }, /deprecated must/],
    [{ since: '2026-02-30' }, /deprecated must have dates that exist/],
    [{ since: '2026-02-28T25:00Z' }, /deprecated must have dates that exist/],
    [{ since: new Date(-1) }, /deprecated must have dates that exist/],
    [{ since: '2026-02-01', sunset: new Date(8e15) }, /deprecated must have dates that exist/],
    [{ since: '2026-02-01', sunset: '2026-02-29' }, /deprecated must have dates that exist/],
    [{ since: '2026-02-01', sunset: '2026-01-31' }, /deprecated.sunset must not be before deprecated.since/],
    [{ since: '2026-02-01', link: 'a b>' }, /deprecated must be/],
    [{ since: '2026-02-01', more: 1 }, /deprecated must be/]
  ]
  for (const [deprecated, words] of wrong) {
    const app = Fastify()
    await t.rejects(async () => app.register(users, { storage: memory(), deprecated: Object(deprecated) }), words, JSON.stringify(deprecated))
  }
})

test('the check that every answer of every test passes finds what it is there for', async (t) => {
  const { description } = await describe(t)
  const get = description.paths['/v1/users/{id}']?.['get']
  const user = { id: 'usr_01h455vb4pex5vsknk084sn02q', name: 'Ann', email: 'ann@example.org', createdAt: '2026-01-31T09:30:00.000Z', updatedAt: '2026-01-31T09:30:00.000Z' }
  const answer = { status: 200, headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', etag: '"1"', date: 'x', 'x-own': 'y' }, type: 'application/json', body: JSON.stringify(user), head: false }
  const faults = (changes: object) => get === undefined ? [] : faultsOf(description, get, { ...answer, ...changes })
  t.strictSame(faults({}), [])
  t.match(faults({ status: 201 }), ['status 201 is not described'])
  t.match(faults({ headers: { ...answer.headers, etag: 'W/"1"' } }), ['header etag of 200 is not as described'])
  t.match(faults({ headers: { ...answer.headers, location: '/' } }), ['header location is not described for 200'])
  t.match(faults({ headers: { 'cache-control': 'no-store', etag: '"1"' } }), ['header x-content-type-options of 200 is missing'])
  t.match(faults({ type: 'text/plain' }), ['type text/plain of 200 is not described'])
  for (const wrong of [{ ...user, secret: 1 }, { ...user, name: '' }, { ...user, createdAt: 'today' }, { ...user, email: undefined }]) t.match(faults({ body: JSON.stringify(wrong) }), ['body of 200 is not as described'])
  t.match(faults({ status: 304 }), ['304 has a body'])
  t.strictSame(faults({ status: 304, body: '' }), [])
})
