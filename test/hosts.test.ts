// The plugin inside somebody else's server: the host's settings do not reach our routes, and ours do not reach its own.
import Fastify, { type FastifyInstance } from 'fastify'
import { test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import users from '../lib/index.ts'
import { ALL_SCOPES, inject } from './helpers/app.ts'
import { difficultHosts, plainHost } from './helpers/hosts.ts'

type Sent = [method: string, path: string, payload?: string | object | undefined, headers?: Record<string, string>]

const JSON_BODY = { 'content-type': 'application/json' }
const requests: Sent[] = [
  ['GET', '/users'],
  ['HEAD', '/users'],
  ['GET', '/users?page=1e0'],
  ['GET', '/users?limit=5&x[y]=1'],
  ['GET', '/users?limit=1&limit=2'],
  ['GET', '/users?page=2&limit=1'],
  ['POST', '/users', { name: 5, email: ['a@b.co'] }],
  ['POST', '/users', { name: 'B', email: 'b@c.de', role: 'admin' }],
  ['POST', '/users', { name: 'B', email: 'B@c.de' }],
  ['POST', '/users', '{"name":"C","email":"c@c.de","__proto__":{}}', JSON_BODY],
  ['POST', '/users', '{', JSON_BODY],
  ['POST', '/users', ' '.repeat(17_000), JSON_BODY],
  ['POST', '/users', '<x/>', { 'content-type': 'application/xml' }],
  ['POST', '/users'],
  ['PUT', '/users', {}],
  ['OPTIONS', '/users'],
  ['QUERY', '/users', {}],
  ['GET', '/users/ID'],
  ['HEAD', '/users/ID'],
  ['GET', '/users/ID', undefined, { 'if-none-match': '"1"' }],
  ['GET', '/users/nope'],
  ['GET', '/nothing'],
  ['GET', '/users', undefined, { authorization: 'Bearer x' }],
  ['PATCH', '/users/ID', { name: true }],
  ['PATCH', '/users/ID', {}],
  ['PATCH', '/users/ID', { name: 'X' }, { 'if-match': '"9"' }],
  ['DELETE', '/users/ID', '', JSON_BODY],
  ['DELETE', '/users/ID']
]

/** Every answer of a host as text, with ids and times replaced, since these differ between hosts. */
async function answersOf (app: FastifyInstance): Promise<string[]> {
  const { key } = await app.users.apiKeys.create({ name: 'host', scopes: ALL_SCOPES })
  const { id } = await app.users.create({ name: 'Ann', email: 'ann@example.org' })
  await app.users.create({ name: 'Bea', email: 'b@c.de' })
  const answers: string[] = []
  for (const [method, path, payload, more] of requests) {
    const headers = { authorization: `Bearer ${key}`, ...more }
    const response = await inject(app, method, `/v1${path.replace('ID', id)}`, {
      headers, ...(payload !== undefined && { payload })
    })
    const { date, ...rest } = response.headers
    const text = JSON.stringify([method, path, response.statusCode, rest, response.body])
    answers.push(text.replaceAll(/usr_\w{26}/g, 'ID').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'))
  }
  return answers
}

test('hosts of every kind get the same answers, byte for byte', async (t) => {
  const expected = await answersOf(await plainHost(t))
  t.equal(new Set(expected).size, requests.length)
  for (const { name, options, prepare } of difficultHosts) {
    t.strictSame(await answersOf(await plainHost(t, options, prepare)), expected, name)
  }
})

test('the routes of the host answer as they do without the plugin', async (t) => {
  const own: Sent[] = [
    ['POST', '/own', { n: '5', extra: 1 }],
    ['POST', '/own', { n: 'x' }],
    ['POST', '/own', '{', JSON_BODY],
    ['POST', '/own', 'x', { 'content-type': 'text/plain' }],
    ['GET', '/own/1?a=1&a=2'],
    ['PUT', '/own'],
    ['GET', '/boom'],
    ['GET', '/nothing'],
    ['HEAD', '/own/1'],
    ['OPTIONS', '/own'],
    ['GET', '/v2/users']
  ]
  const body = { type: 'object', properties: { n: { type: 'number' } } }
  const answers = async (withPlugin: boolean) => {
    const app = Fastify({ genReqId: () => 'r' })
    t.teardown(() => app.close())
    app.setErrorHandler((error, _request, reply) => reply.code(418).send({ own: String(error) }))
    if (withPlugin) await app.register(users, { prefix: '/v1', storage: memory() })
    app.post('/own', { schema: { body } }, async ({ body }) => body)
    app.get('/own/:id', async ({ params, query }) => ({ params, query }))
    app.get('/boom', async () => { throw new Error('boom') })
    const seen = []
    for (const [method, url, payload, headers] of own) {
      const response = await inject(app, method, url, {
        ...(payload !== undefined && { payload }), ...(headers !== undefined && { headers })
      })
      const { date, ...rest } = response.headers
      seen.push([method, url, response.statusCode, rest, response.body])
    }
    return seen
  }
  t.strictSame(await answers(true), await answers(false))
})

test('an error of the host’s own hook goes to the host’s own handler', async (t) => {
  const app = await plainHost(t, {}, (app) => {
    app.setErrorHandler((error, _request, reply) => reply.code(418).send({ own: String(error) }))
    app.addHook('onRequest', async ({ headers }) => {
      if (headers['x-fail'] !== undefined) throw new Error('the host says no')
    })
    app.addHook('preHandler', async ({ headers }) => {
      if (headers['x-late'] !== undefined) throw new Error('the host says no, late')
    })
  })
  const { key } = await app.users.apiKeys.create({ name: 'x' })
  for (const header of ['x-fail', 'x-late']) {
    const headers = { authorization: `Bearer ${key}`, [header]: '1' }
    const response = await inject(app, 'GET', '/v1/users', { headers })
    t.equal(response.statusCode, 418)
    t.match(response.json().own, /the host says no/)
  }
})

test('the log level that Fastify gives a plugin applies to its routes', async (t) => {
  const lines: string[] = []
  const app = Fastify({ logger: { stream: { write: (line: string) => { lines.push(line) } } } })
  t.teardown(() => app.close())
  await app.register(users, { storage: memory(), logLevel: 'silent', logSerializers: { res: () => 'ours' } })
  await inject(app, 'GET', '/v1/users')
  t.notMatch(lines.join(''), 'incoming request')
})
