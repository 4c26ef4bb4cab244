// Settings of the standalone service that only show when they are used.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { buildApp } from '../../examples/standalone/app.ts'
import { readConfig } from '../../examples/standalone/config.ts'
import { createFirstKey } from '../../examples/standalone/first-key.ts'
import { generateKey } from '../../lib/api-keys/key-text.ts'
import { lint } from '../helpers/description.ts'
import { startService } from '../helpers/service.ts'
import { problemsOf } from '../helpers/service-config.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

const SECRET = 's'.repeat(32)

test('requests have as much time as REQUEST_TIMEOUT says, and their heads no more than that', async (t) => {
  for (const [given, requests, heads] of [['', 30_000, 15_000], ['0', 0, 15_000], ['5', 5000, 5000]] as const) {
    const env = { DATABASE_URL: 'memory:', ...(given !== '' && { REQUEST_TIMEOUT: given }) }
    const app = await buildApp(readConfig(env), false)
    t.teardown(() => app.close())
    t.strictSame([app.server.requestTimeout, Object(app.server).headersTimeout], [requests, heads])
  }
})

test('everything that can be offered is described without a problem', async (t) => {
  const file = join(await temporaryDirectory(t), 'fields.json')
  await writeFile(file, JSON.stringify({
    type: 'object', properties: { plan: { enum: ['free', 'pro'] }, badge: { type: 'string' } }, required: ['plan']
  }))
  const app = await buildApp(readConfig({
    DATABASE_URL: 'memory:',
    API_KEY_ROUTES: 'true',
    WEBHOOKS_ENABLED: 'true',
    GROUPS_ENABLED: 'true',
    SCIM_ENABLED: 'true',
    SCIM_ATTRIBUTES: 'title=badge, name.givenName=plan',
    METRICS_ENABLED: 'true',
    REQUIRE_IF_MATCH: 'true',
    FIELDS_FILE: file,
    FILTERABLE_FIELDS: 'plan',
    UNIQUE_FIELDS: 'badge',
    DELETES_PER_HOUR: '5',
    PATH_PREFIX: '/api/v1'
  }), false)
  t.teardown(() => app.close())
  const { payload } = await app.inject('/openapi.json')
  t.strictSame(await lint(payload), [])
  const { paths } = JSON.parse(payload)
  t.ok(paths['/api/v1/webhooks'] && paths['/api/v1/groups'] && paths['/scim/v2/Groups'])
})

test('BASE_PATH moves everything, and the pages with what they load; its root leads on', async (t) => {
  for (const [BASE_PATH, base, PATH_PREFIX, api] of [
    ['/people/', '/people', '/v1', '/people/v1'], ['/a/b', '/a/b', '/', '/a/b'], ['/', '', '/v1/', '/v1']
  ] as const) {
    const app = await buildApp(readConfig({
      DATABASE_URL: 'memory:', METRICS_ENABLED: 'true', BASE_PATH, PATH_PREFIX
    }), false)
    t.teardown(() => app.close())
    for (const path of ['health', 'ready', 'metrics', 'openapi.json', 'admin/', 'docs/']) {
      t.equal((await app.inject(`${base}/${path}`)).statusCode, 200, `${base}/${path}`)
      if (base !== '') t.equal((await app.inject(`/${path}`)).statusCode, 404, `/${path}`)
    }
    t.match(await app.inject(`${base}/`), { statusCode: 302, headers: { location: `${base}/admin/` } })
    t.equal((await app.inject(`${api}/users`)).statusCode, 401)
    t.ok(JSON.parse((await app.inject(`${base}/openapi.json`)).payload).paths[`${api}/users`])
    t.match((await app.inject(`${base}/docs/json`)).json(), { info: { title: 'Users' } })
    for (const page of ['admin/', 'docs/']) {
      const { payload } = await app.inject(`${base}/${page}`)
      const loaded = [...payload.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, path]) => path ?? '')
      t.ok(loaded.length > 0, page)
      for (const path of loaded.filter((each) => !each.startsWith('data:'))) {
        const { pathname } = new URL(path, `http://localhost${base}/${page}`)
        t.equal((await app.inject(pathname)).statusCode, 200, pathname)
      }
    }
  }
  const without = await buildApp(readConfig({
    DATABASE_URL: 'memory:', BASE_PATH: '/people/', ADMIN_PAGE: 'false'
  }), false)
  t.teardown(() => without.close())
  t.strictSame((await without.inject('/people/')).json(), {
    api: '/people/v1', docs: '/people/docs', openapi: '/people/openapi.json', health: '/people/health'
  }, 'without the page it says what is where')
})

test('tenants, searched and folded fields, uses of keys and the brand of the page are set by variables', async (t) => {
  const directory = await temporaryDirectory(t)
  const [fields, logo] = [join(directory, 'fields.json'), join(directory, 'logo.svg')]
  await writeFile(fields, JSON.stringify({
    type: 'object', properties: { city: { type: 'string' }, plan: { type: 'string' }, notes: { type: 'string' } }
  }))
  await writeFile(logo, '<svg xmlns="http://www.w3.org/2000/svg"/>')
  const config = readConfig({
    DATABASE_URL: 'memory:',
    API_KEY_ROUTES: 'true',
    API_KEYS: '',
    COUNT_KEY_USES: 'true',
    TENANTS: 'true',
    FIELDS_FILE: fields,
    FILTERABLE_FIELDS: 'plan',
    FOLDED_FIELDS: 'city',
    SEARCHABLE_FIELDS: 'notes',
    ADMIN_TITLE: 'People of Acme',
    ADMIN_LOGO_FILE: logo
  })
  const app = await buildApp(config, false)
  t.teardown(() => app.close())
  const headers = { authorization: `Bearer ${(await createFirstKey(app, config))?.key}` }
  const get = async (path: string) => (await app.inject({ url: `/v1/${path}`, headers })).json()
  for (const [tenant, city] of [['acme', 'München'], ['shop', 'Wien']]) {
    const payload = { name: 'Ann', email: 'ann@example.org', tenant, city, plan: 'pro', notes: 'likes alpine tea' }
    t.equal((await app.inject({ method: 'POST', url: '/v1/users', headers, payload })).statusCode, 201)
  }
  t.strictSame((await get('tenants')).data, [{ id: 'acme', users: 1 }, { id: 'shop', users: 1 }])
  t.equal((await get('users?city=munchen')).meta.total, 1, 'folded')
  t.equal((await get('users?q=alpine')).meta.total, 2, 'searched')
  t.equal((await get('users?plan=PRO')).meta.total, 0, 'exact')
  const { data: [key] } = await get('api-keys')
  t.ok(Array.isArray((await get(`api-keys/${key.id}/uses`)).data), 'counted')
  t.match((await app.inject('/admin/settings.json')).json(), {
    title: 'People of Acme', logo: /^data:image\/svg\+xml/
  })

  // API_KEYS are the platform's.
  const withStatic = await buildApp(readConfig({ DATABASE_URL: 'memory:', TENANTS: 'true', API_KEYS: SECRET }), false)
  t.teardown(() => withStatic.close())
  const { statusCode } = await withStatic.inject({ url: '/v1/users', headers: { authorization: `Bearer ${SECRET}` } })
  t.equal(statusCode, 200)
  t.strictSame(problemsOf({ SEARCHABLE_FIELDS: 'notes' }), ['SEARCHABLE_FIELDS needs FIELDS_FILE'])
  t.strictSame(problemsOf({ FOLDED_FIELDS: 'city' }), ['FOLDED_FIELDS needs FIELDS_FILE'])
  t.strictSame(problemsOf({ ADMIN_TITLE: ' a' }).length, 1)
  t.strictSame(problemsOf({ ADMIN_TITLE: 'a', ADMIN_PAGE: 'false' }),
    ['ADMIN_TITLE needs ADMIN_PAGE=true'])
  await t.rejects(buildApp(readConfig({ DATABASE_URL: 'memory:', ADMIN_LOGO_FILE: join(directory, 'none') }), false),
    { message: /ADMIN_LOGO_FILE must be the path of a file that can be read/ })
})

test('serves over TLS', async (t) => {
  const cwd = await temporaryDirectory(t)
  execFileSync('openssl', [
    'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'key.pem', '-out', 'cert.pem', '-days', '1',
    '-subj', '/CN=localhost'
  ], { cwd, stdio: 'ignore' })
  const service = startService(t, cwd, {
    DATABASE_URL: 'memory:', TLS_CERT_FILE: 'cert.pem', TLS_KEY_FILE: 'key.pem'
  })
  const address = await service.printed(/curl .* (\S+)\n/)
  t.match(address, /^https:\/\//)
  // The image asks itself, whether or not it speaks TLS.
  const dockerfile = await readFile(join(import.meta.dirname, '..', '..', 'deploy', 'Dockerfile'), 'utf8')
  const [, command = ''] = /^HEALTHCHECK .*CMD \["node", "-e", (".*")\]$/m.exec(dockerfile) ?? []
  const isHealthy = (env: Record<string, string>): boolean => spawnSync(
    process.execPath, ['-e', JSON.parse(command)], { env: { PORT: new URL(address).port, ...env } }
  ).status === 0
  t.ok(isHealthy({ TLS_CERT_FILE: 'cert.pem' }))
  t.notOk(isHealthy({}))
  t.notOk(isHealthy({ TLS_CERT_FILE: 'cert.pem', BASE_PATH: '/users' }), 'its service has another path')
  const [cert, key] = [join(cwd, 'cert.pem'), join(cwd, 'key.pem')]
  for (const [TLS_CERT_FILE, TLS_KEY_FILE, message] of [
    [join(cwd, 'none.pem'), key, /^ {2}TLS_CERT_FILE must be the path of a file that can be read$/m],
    [key, cert, /TLS_CERT_FILE and TLS_KEY_FILE must be a certificate and its private key, in PEM/]
  ] as const) {
    await t.rejects(buildApp(readConfig({ DATABASE_URL: 'memory:', TLS_CERT_FILE, TLS_KEY_FILE }), false), { message })
  }
})

test('refused keys are limited, those of each client by themselves, and keys at work go on', async (t) => {
  const [one, other] = ['192.0.2.1', '192.0.2.2']
  for (const [env, clients, expected] of [
    [{}, Array(110).fill(one), [...Array(100).fill(401), ...Array(10).fill(429)]],
    [{ AUTH_FAILURES: '0' }, Array(120).fill(one), Array(120).fill(401)],
    [{ AUTH_FAILURES: '2', TRUST_PROXY: '127.0.0.1, ::1' }, [one, one, one, other], [401, 401, 429, 401]]
  ] as const) {
    const app = await buildApp(readConfig({ DATABASE_URL: 'memory:', ...env }), false)
    t.teardown(() => app.close())
    const { key } = await app.users.apiKeys.create({ name: 'at work', scopes: ['users:read'] })
    const status = async (text: string, client = other) => (await app.inject({
      url: '/v1/users', headers: { authorization: `Bearer ${text}`, 'x-forwarded-for': client }
    })).statusCode
    t.equal(await status(key), 200)
    const statuses: number[] = []
    for (const client of clients) statuses.push(await status(generateKey('uk').text, client))
    t.strictSame(statuses, expected)
    t.equal(await status(key), 200)
  }
})
