// Descriptions that cannot have our routes: they are left out, and the log says why.
import swagger from '@fastify/swagger'
import Fastify from 'fastify'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import users from '../../lib/index.ts'
import { describe } from '../helpers/description.ts'
import { captureLog } from '../helpers/log.ts'

const OMITTED = 'the description of @fastify/swagger omits the routes of fastify-users'

test('another version leaves the routes out, and the log says once that it is not OpenAPI 3.1', async (t) => {
  for (const openapi of [{ openapi: '3.0.3' }, null]) {
    const { description, log } = await describe(t, { openapi, mounts: [{ apiKeys: { routes: true } }] })
    t.strictSame(description.paths, {})
    t.strictSame(Object.keys(Object(description.components).schemas ?? {}), [])
    t.notMatch(JSON.stringify(description), /usersApiKey/)
    const warnings = log.split(OMITTED).slice(1)
    t.equal(warnings.length, 1, 'once, though it has twelve routes')
    t.match(warnings[0], ": it is not OpenAPI 3.1; register it with { openapi: { openapi: '3.1.0' } }")
  }
})

test('the log says at the start what is wrong with the description, though nobody has asked for it', async (t) => {
  const { stream, text } = captureLog()
  const app = Fastify({ logger: { stream } })
  t.teardown(() => app.close())
  const failing = () => { throw new Error('of a host') }
  await app.register(swagger, { openapi: { openapi: '3.1.0' }, transform: failing })
  app.get('/own', async () => 'own')
  await app.register(users, { storage: memory() })
  await app.ready()
  t.match(text(), 'the description of @fastify/swagger cannot be made')
})

test('the log says that @fastify/swagger was registered too late', async (t) => {
  const { description, log } = await describe(t, { last: true })
  t.strictSame(description.paths, {})
  t.match(log, `${OMITTED}: register @fastify/swagger first`)
})

test('the log says nothing if the routes are described, or hidden by openapi: false', async (t) => {
  t.notMatch((await describe(t)).log, OMITTED)
  t.notMatch((await describe(t, { last: true, mounts: [{ openapi: false }] })).log, OMITTED)
  t.notMatch((await describe(t, { openapi: null, mounts: [{ openapi: false }] })).log, OMITTED)
})
