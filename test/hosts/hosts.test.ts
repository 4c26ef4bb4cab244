// The plugin inside somebody else's server. Settings and plugins together: test/hosts/combinations.test.ts.
import Fastify from 'fastify'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import users from '../../lib/index.ts'
import { inject } from '../helpers/app.ts'
import { plainHost } from '../helpers/hosts.ts'

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
