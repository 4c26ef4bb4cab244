// The administration page as its server sends it.
import { gunzipSync, gzipSync } from 'node:zlib'
import helmet from '@fastify/helmet'
import Fastify from 'fastify'
import { test } from 'tap'
import * as page from '#admin-page'
import { memory } from '../../adapters/memory/index.ts'
import { relativePath } from '../../lib/admin/relative-path.ts'
import { admin, english } from '../../lib/admin-plugin.ts'
import users from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { untyped } from '../helpers/untyped.ts'
import '../helpers/watch-all.ts'

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; " +
  "trusted-types 'none'"
const FILES = ['/admin/', '/admin/admin.js', '/admin/admin.css', '/admin/settings.json']

test('serves each file with its type and the strict policy', async (t) => {
  const { app } = await testApp(t)
  await app.register(admin)
  const types = ['text/html', 'text/javascript', 'text/css', 'application/json']
  for (const [i, url] of FILES.entries()) {
    const { statusCode, headers } = await app.inject(url)
    t.equal(statusCode, 200, url)
    t.equal(headers['content-type'], `${types[i]}; charset=utf-8`)
    t.equal(headers['content-security-policy'], POLICY)
    t.equal(headers['x-content-type-options'], 'nosniff')
    t.equal(headers['x-frame-options'], 'DENY')
    t.equal(headers['referrer-policy'], 'no-referrer')
    t.equal(headers['cross-origin-opener-policy'], 'same-origin')
    t.equal(headers['cache-control'], 'no-cache')
  }
  const { payload } = await app.inject('/admin/')
  t.notMatch(payload, /<style|<script>|style=|\son\w+=/, 'nothing inline')
  t.notMatch(payload, /(?:src|href)="(?:\/|https?:)/, 'relative addresses only')
})

test('the page is at most 79 KiB, compressed', async (t) => {
  const contents = [...Object.values(page), JSON.stringify(english)]
  const sizes = contents.map((content) => gzipSync(content).length)
  t.ok(sizes.reduce((a, b) => a + b) <= 79 * 1024, `${sizes.reduce((a, b) => a + b)} bytes`)
})

test('sends gzip to whoever takes it, and 304 to whoever has it', async (t) => {
  const { app } = await testApp(t)
  await app.register(admin)
  const url = '/admin/admin.js'
  const plain = await app.inject(url)
  t.equal(plain.headers['content-encoding'], undefined)
  t.equal(plain.headers.vary, 'Accept-Encoding')
  for (const [accepted, isZipped] of [
    ['br, gzip;q=0.5', true], ['GZIP', true], ['gzip;q=0', false], ['gzip; q=0.0', false], ['br', false],
    ['gzipped', false], ['x-gzip, br', true]
  ] as const) {
    const { headers, rawPayload } = await app.inject({ url, headers: { 'accept-encoding': accepted } })
    t.equal(headers['content-encoding'], isZipped ? 'gzip' : undefined, accepted)
    t.equal((isZipped ? gunzipSync(rawPayload) : rawPayload).toString(), plain.payload)
    t.equal(headers.etag === plain.headers.etag, !isZipped, 'each representation has its tag')
  }
  const etag = String(plain.headers.etag)
  for (const [condition, status] of [
    [etag, 304], [`W/${etag}`, 304], [`"other", ${etag}`, 304], ['*', 304], ['"other"', 200]
  ] as const) {
    const { statusCode, payload } = await app.inject({ url, headers: { 'if-none-match': condition } })
    t.equal(statusCode, status, condition)
    t.equal(payload === '', status === 304)
    const head = await app.inject({ method: 'HEAD', url, headers: { 'if-none-match': condition } })
    const length = status === 304 ? undefined : plain.headers['content-length']
    t.strictSame([head.statusCode, head.headers['content-length']], [status, length], condition)
  }
})

test('the path without a slash leads to the page, relative to wherever a proxy has it', async (t) => {
  const { app } = await testApp(t)
  await app.register(admin, { prefix: '/staff/admin' })
  await app.register(async (scope) => { await scope.register(admin, { prefix: '' }) }, { prefix: '/:tenant' })
  for (const [url, location] of [
    ['/staff/admin', './admin/'], ['/staff/admin?x=1/2', './admin/'],
    ['/https:evil.example', './https:evil.example/']
  ] as const) {
    const { statusCode, headers } = await app.inject(url)
    t.equal(statusCode, 308)
    t.equal(headers.location, location)
  }
  t.equal((await app.inject('/staff/admin/')).statusCode, 200)
})

test('a prefix may end with a slash, and a router may ignore such slashes', async (t) => {
  for (const [prefix, ignoreTrailingSlash] of [['/staff/admin/', false], ['/', false], ['/admin', true]] as const) {
    const { app } = await testApp(t, { server: { routerOptions: { ignoreTrailingSlash } } })
    await app.register(admin, { prefix })
    const path = prefix.replace(/\/$/, '')
    t.equal((await app.inject(`${path}/`)).statusCode, 200)
    t.equal((await app.inject(`${path}/admin.js`)).statusCode, 200)
    t.equal((await app.inject(`${path}/settings.json`)).json().api, relativePath(path, '/v1'))
    if (path !== '') t.equal((await app.inject(path)).headers.location, './admin/')
  }
})

test('finds the API by a relative reference under any prefix', async (t) => {
  for (const [from, to, expected] of [
    ['/admin', '/v1', '../v1'], ['/a/b/admin', '/v1', '../../../v1'], ['/v1/admin', '/v1', '..'], ['', '/v1', 'v1'],
    ['/admin', '', '..'], ['/v1', '/v1', '.'], ['/host/admin', '/host/v1', '../v1'],
    ['/:tenant/admin', '/:tenant/v1', '../v1']
  ] as const) t.equal(relativePath(from, to), expected, `${from} ${to}`)

  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(async (scope) => {
    await scope.register(users, { prefix: '/v1', storage: memory() })
    await scope.register(admin, { prefix: '/people/admin' })
  }, { prefix: '/host' })
  const settings = (await app.inject('/host/people/admin/settings.json')).json()
  t.equal(settings.api, '../../v1')
  t.equal((await app.inject('/host/v1/capabilities')).statusCode, 401)
})

test('two pages for two mounts, and two for one', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(users, { prefix: '/v1', storage: memory(), apiKeys: { routes: true } })
  await app.register(users, { prefix: '/customers/v1', storage: memory(), decoratorName: 'customers' })
  await app.register(admin)
  await app.register(admin, { prefix: '/customers/admin', users: 'customers' })
  await app.register(admin, { prefix: '/second', language: 'de' })
  const api = async (path: string) => (await app.inject(`${path}/settings.json`)).json().api
  t.equal(await api('/admin'), '../v1')
  t.equal(await api('/customers/admin'), '../v1')
  t.equal(await api('/second'), '../v1')
  t.equal((await app.inject('/second/settings.json')).json().language, 'de')
  t.equal((await app.inject('/customers/v1/capabilities')).statusCode, 401)
})

test('a host with helmet keeps its own policy, and the page has the page’s', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(helmet)
  await app.register(users, { prefix: '/v1', storage: memory() })
  await app.register(admin)
  app.get('/', async () => 'host')
  t.equal((await app.inject('/admin/')).headers['content-security-policy'], POLICY)
  t.notSame((await app.inject('/')).headers['content-security-policy'], POLICY)
})

test('refuses wrong options, and a host without users', async (t) => {
  const refused = async (options: object, message: string | RegExp, hasUsers = true) => {
    const app = Fastify()
    t.teardown(() => app.close())
    if (hasUsers) await app.register(users, { prefix: '/v1', storage: memory() })
    await t.rejects(Promise.resolve(app.register(admin, untyped(options))), { message })
  }
  await refused({}, 'fastify-users/admin: register fastify-users first: there is no app.users', false)
  await refused({ users: 'people' }, 'fastify-users/admin: register fastify-users first: there is no app.people')
  // Of another copy of the package, or the host's own: this copy knows neither.
  const app = Fastify()
  t.teardown(() => app.close())
  app.decorate('users', untyped({}))
  await t.rejects(Promise.resolve(app.register(admin)), {
    message: 'fastify-users/admin: app.users is your own, or from another copy of fastify-users (npm ls ' +
      'fastify-users shows them): import both plugins from the same copy, and name its decorator in the option users'
  })
  await refused({ prefix: 'admin' }, /prefix must be a path that begins with \//)
  for (const name of ['users.title', 'users.titel']) {
    await refused({ texts: { [name]: 5 } }, /texts must be an object of texts/)
  }
  await refused({ direction: 'up' }, /direction must be ltr or rtl/)
  await refused({ language: 'not a language' }, /language must be a language tag/)
  await refused({ session: true }, /session must be an object/)
  await refused({ colour: 'red' }, /colour is not a known option/)
})

test('texts of the host take the place of the English ones; those that the page lacks are not sent', async (t) => {
  const lines: string[] = []
  const app = Fastify({ logger: { stream: { write: (line) => lines.push(line) } } })
  t.teardown(() => app.close())
  await app.register(users, { prefix: '/v1', storage: memory() })
  const texts = {
    'users.titel': 'Nutzer',
    toString: 'Nutzer',
    'users.title': 'Nutzer',
    'users.total': { one: '{count} Nutzer', other: '{count} Nutzer' }
  }
  await app.register(admin, { texts, language: 'de', session: { signIn: '/login' } })
  const settings = (await app.inject('/admin/settings.json')).json()
  t.strictSame(settings.session, { signIn: '/login' })
  t.strictSame(settings.texts, { ...english, 'users.title': texts['users.title'], 'users.total': texts['users.total'] })
  const warnings = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg.startsWith('fastify-users/admin'))
  t.strictSame(warnings.map(({ level, msg }) => [level, msg]), [
    [40, 'fastify-users/admin: texts has users.titel, toString, which this version of the page does not have']
  ])
})
