// Paths of the host's: no answer leads away from it. Tricks with paths: test/http/break-in-paths.test.ts.
import Fastify from 'fastify'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import users from '../../lib/index.ts'
import { inject } from '../helpers/app.ts'
import { plainHost, SEMICOLONS } from '../helpers/hosts.ts'
import { listen, rawRequest } from '../helpers/raw.ts'

test('a semicolon begins the query if the host made it a delimiter', async (t) => {
  const app = await plainHost(t, { routerOptions: SEMICOLONS })
  const { key } = await app.users.apiKeys.create({ name: 'x' })
  const get = (path: string) => inject(app, 'GET', path, { headers: { authorization: `Bearer ${key}` } })
  t.equal((await get('/v1/users;limit=7')).json().meta.limit, 7)
  t.equal((await get('/v1/users;nonsense')).statusCode, 400)
})

test('Location and Link under a prefix with parameters never leave the host', async (t) => {
  const routerOptions = { ignoreDuplicateSlashes: true, ignoreTrailingSlash: true, ...SEMICOLONS }
  const app = Fastify({ routerOptions })
  t.teardown(() => app.close())
  await app.register(users, { prefix: '/:tenant', storage: memory() })
  const { key } = await app.users.apiKeys.create({ name: 'x' })
  const headers = { authorization: `Bearer ${key}` }
  const payload = { name: 'A', email: 'a@b.co' }
  const created = await inject(app, 'POST', '//evil.example//users/', { headers, payload })
  t.match(created.headers.location, /^\/evil\.example\/users\/usr_\w{26}$/)
  const listed = await inject(app, 'GET', '//a/users/;limit=1', { headers })
  const [first, last] = ['first', 'last'].map((rel) => `</a/users?limit=1&page=1>; rel="${rel}"`)
  t.equal(listed.headers.link, `${first}, ${last}`)
  const body = '{"name":"B","email":"b@b.co"}'
  const head = [
    'POST /\\a>x="b/users HTTP/1.1',
    'Host: x',
    'Connection: close',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`
  ]
  const raw = await rawRequest(await listen(app), head, body)
  t.match(raw, /^location: \/%5Ca%3Ex=%22b\/users\/usr_\w{26}\r$/m, 'characters that no path may hold are escaped')
})

test('notFoundHandler: false leaves unknown paths to the host', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(async (scope) => {
    scope.setNotFoundHandler((_request, reply) => reply.code(404).send({ own: true }))
    await scope.register(users, { prefix: '/', storage: memory(), notFoundHandler: false })
  }, { prefix: '/a' })
  await app.register(async (scope) => {
    scope.setNotFoundHandler((_request, reply) => reply.code(404).send({ own: true }))
  }, { prefix: '/v1' })
  await app.register(users, { storage: memory(), notFoundHandler: false, decoratorName: 'customers' })
  for (const path of ['/a/nothing', '/v1/nothing']) {
    t.strictSame((await inject(app, 'GET', path)).json(), { own: true })
  }
})
