// Settings of the standalone service that only show when they are used.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { buildApp } from '../../examples/standalone/app.ts'
import { readConfig } from '../../examples/standalone/config.ts'
import { createFirstKey } from '../../examples/standalone/first-key.ts'
import { lint } from '../helpers/description.ts'
import { startService } from '../helpers/service.ts'
import { temporaryDirectory } from '../helpers/stores.ts'
import '../helpers/watch-fetch.ts'

test('what only shows when it is used names its variable too', async (t) => {
  const app = await buildApp(
    readConfig({ DATABASE_URL: 'memory:', TRUST_PROXY: '10.0.0.0/8, ::1, fd00::/8', REQUEST_TIMEOUT: '0' }), false
  )
  t.teardown(() => app.close())
  t.strictSame([app.server.requestTimeout, Object(app.server).headersTimeout], [0, 15_000])
  const quick = await buildApp(readConfig({ DATABASE_URL: 'memory:', REQUEST_TIMEOUT: '5' }), false)
  t.teardown(() => quick.close())
  t.strictSame([quick.server.requestTimeout, Object(quick.server).headersTimeout], [5000, 5000])
  const nowhere = readConfig({
    DATABASE_URL: 'memory:', FIRST_KEY_FILE: join(await temporaryDirectory(t), 'none', 'key')
  })
  await t.rejects(createFirstKey(app, nowhere),
    { message: /FIRST_KEY_FILE must be a path in a directory that can be written to \(ENOENT\)/ })
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
  t.ok(JSON.parse(payload).paths['/api/v1/webhooks'])
})

test('BASE_PATH moves everything, and the pages with what they load', async (t) => {
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
  const missing = startService(t, cwd, {
    DATABASE_URL: 'memory:', TLS_CERT_FILE: 'none.pem', TLS_KEY_FILE: 'key.pem'
  })
  t.equal(await missing.exitCode(), 1)
  t.match(missing.stderr(), /\n {2}TLS_CERT_FILE must be the path of a file that can be read\n/)
  const swapped = startService(t, cwd, {
    DATABASE_URL: 'memory:', TLS_CERT_FILE: 'key.pem', TLS_KEY_FILE: 'cert.pem'
  })
  t.equal(await swapped.exitCode(), 1)
  t.match(swapped.stderr(), /TLS_CERT_FILE and TLS_KEY_FILE must be a certificate and its private key, in PEM/)
})
