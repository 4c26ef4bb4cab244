// What we rely on beyond the documented interface of Fastify and its packages: where one of these fails, lib/http/fastify-internals.ts is to be read again with the new version.
import Fastify from 'fastify'
import * as rateLimit from '@fastify/rate-limit'
import { test } from 'tap'
import { type RateLimitPackage, SERIALIZERS } from '../lib/http/fastify-internals.ts'
import { captureLog } from './helpers/log.ts'

test('pino keeps its serialisers under a symbol, on the logger of a request too', async (t) => {
  const req = () => ({ shown: true })
  const app = Fastify({ logger: { stream: captureLog().stream, serializers: { req } } })
  t.teardown(() => app.close())
  t.equal(Object(app.log)[SERIALIZERS].req, req, 'else queries and credentials are logged by a host with serialisers of its own: find where pino keeps them now')
  app.get('/', async ({ log }) => ({ known: SERIALIZERS in log }))
  t.strictSame((await app.inject('/')).json(), { known: true }, 'else loggers of requests get stand-ins, though they know serialisers')
})

test('@fastify/rate-limit exports how it counts addresses', async (t) => {
  const { normalizeIP }: RateLimitPackage = Object(rateLimit)
  t.equal(normalizeIP('192.0.2.1'), '192.0.2.1', 'else authFailures must make an IPv6 address its network itself')
  t.equal(normalizeIP('2001:db8::1'), normalizeIP('2001:db8::2'), 'one network is one caller')
})

test('Fastify takes the plugin in the versions that the manifest names', async (t) => {
  const { default: users } = await import('../lib/index.ts')
  const { memory } = await import('../adapters/memory/index.ts')
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(users, { storage: memory() })
  t.match(app.version, /^[56]\./, 'else the range in lib/plugin.ts and peerDependencies.fastify is to be looked at together')
})
