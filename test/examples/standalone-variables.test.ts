// What the standalone service says of variables with wrong values, and of names that look like its own.
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { buildApp } from '../../examples/standalone/app.ts'
import { ConfigError, ignoredVariables, readConfig, replicasOf } from '../../examples/standalone/config.ts'
import { withVariables } from '../../examples/standalone/origins.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { problemsOf } from '../helpers/service-config.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

const SECRET = 's'.repeat(32)

test('names every wrong value, and repeats none', async (t) => {
  const wrong = {
    PORT: '70000',
    DATABASE_URL: 'mysql://root:hunter2@db',
    API_KEYS: 'hunter2',
    AUTH_FAILURES: '-1',
    TRUST_PROXY: 'everybody',
    CORS_ORIGINS: 'app.example.org',
    FASTIFY_USERS_PEPPER: 'hunter2',
    RATE_LIMIT: '-1',
    KEY_CACHE: 'long',
    EVENT_DAYS: '0',
    ADMIN_PAGE: 'perhaps',
    LOG_LEVEL: 'loud',
    PATH_PREFIX: 'v1',
    FILTERABLE_FIELDS: 'a b;c'
  }
  const problems = problemsOf(wrong)
  t.strictSame(problems.map((problem) => problem.split(' ')[0]).sort(), Object.keys(wrong).sort())
  t.notMatch(problems.join(), /hunter2|mysql/)
  t.strictSame(problemsOf({ TLS_CERT_FILE: 'a' }), ['TLS_CERT_FILE and TLS_KEY_FILE must be set together'])
  const key = 'k'.repeat(32)
  t.strictSame(problemsOf({ API_KEYS: `${key},${key}` }), ['API_KEYS must not have a key twice'])
})

test('names what has the right form and is wrong', async (t) => {
  for (const [name, wrong, right] of [
    ['DATABASE_URL', ['postgres://u:hunter2@:bad/x', 'postgresql://u:hunter2@db:99999/x'], [
      'postgres://u:p w@db/x', 'postgres://u:p@/x', 'postgres:///x', 'postgres://db:5432/x?host=/run/postgresql'
    ]],
    ['DATABASE_REPLICAS', [
      'postgres://u:hunter2@db/x,db', 'postgres://u:hunter2@db/x, ', 'postgres://u:hunter2@db/x db', 'db',
      'postgres://u:hunter2@db/x,y,postgres://u:hunter2@db/x', 'postgres://u:hunter2@:bad/x'
    ], ['postgres://db/x', ' postgres://u:a,b@db/x, postgresql://db/x postgres://db/y,postgres://db/z ', '']],
    ['WEBHOOK_NETWORKS', ['10.0.0.0/33', '10.0.0', '::/129', '10.0.0.0/8/8', '10.1.2.3', 'fe80'], [
      '10.0.0.0/8', 'fd00::/8, 10.1.2.3/32', ''
    ]],
    ['SCIM_ATTRIBUTES', ['title', 'title=a b', '=a', 'title=a,,x=b'], ['']],
    ['TRUST_PROXY', ['10.0.0.0/33', '300.1.1.1', '1.2.3', '10.0.0.0/', '::1/129', 'fe80'], [
      '10.0.0.0/8, ::1,fd00::/8', ''
    ]]
  ] as const) {
    const others = {
      WEBHOOKS_ENABLED: 'true', ...(name === 'DATABASE_REPLICAS' && { DATABASE_URL: 'postgres://db/x' })
    }
    for (const value of wrong) {
      const [problem = '', ...more] = problemsOf({ ...others, [name]: value })
      t.match(problem, new RegExp(`^${name} must be `), value)
      t.notMatch(problem, /hunter2/)
      t.strictSame(more, [])
    }
    for (const value of right) t.strictSame(problemsOf({ ...others, [name]: value }), [], value)
  }
  t.strictSame(replicasOf(' postgres://u:a,b@db/x, postgresql://db/x postgres://db/y,postgres://db/z '), [
    'postgres://u:a,b@db/x', 'postgresql://db/x', 'postgres://db/y', 'postgres://db/z'
  ])
})

test('refuses what would have no effect', async (t) => {
  const postgres = { DATABASE_URL: 'postgres://db/x' }
  const mariadb = { DATABASE_URL: 'mariadb://db/x' }
  for (const [name, value, usual, what, ...enough] of [
    ['DATABASE_REPLICAS', 'postgres://db/x', '', 'a DATABASE_URL of PostgreSQL', postgres],
    ['DATABASE_POOLER', 'true', 'false', 'a DATABASE_URL of PostgreSQL', postgres],
    ['DATABASE_POOL_SIZE', '5', '0', 'a DATABASE_URL of PostgreSQL or MariaDB', postgres, mariadb],
    ['EVENT_DAYS', '90', '30', 'EVENT_LOG=true or WEBHOOKS_ENABLED=true', { EVENT_LOG: 'true' },
      { WEBHOOKS_ENABLED: 'true' }],
    ['WEBHOOK_NETWORKS', '10.0.0.0/8', '', 'WEBHOOKS_ENABLED=true', { WEBHOOKS_ENABLED: 'true' }],
    ['SCIM_RATE_LIMIT', '0', '6000', 'SCIM_ENABLED=true', { SCIM_ENABLED: 'true' }],
    ['SCIM_ATTRIBUTES', 'title=a', '', 'SCIM_ENABLED=true and FIELDS_FILE', { SCIM_ENABLED: 'true', FIELDS_FILE: 'x' }],
    ['FILTERABLE_FIELDS', 'plan', '', 'FIELDS_FILE', { FIELDS_FILE: 'x' }],
    ['UNIQUE_FIELDS', 'badge', '', 'FIELDS_FILE', { FIELDS_FILE: 'x' }]
  ] as const) {
    t.strictSame(problemsOf({ [name]: value }), [`${name} needs ${what}`])
    t.strictSame(problemsOf({ [name]: usual }), [], `${name} as it is without it`)
    for (const others of enough) t.strictSame(problemsOf({ [name]: value, ...others }), [], JSON.stringify(others))
  }
  for (const [name, value] of [['SQLITE_DRIVER', 'sqlite3'], ['SQLITE_CREATE', 'false']] as const) {
    t.strictSame(problemsOf({ [name]: value }), [])
    t.strictSame(problemsOf({ [name]: value, ...mariadb }), [`${name} needs a DATABASE_URL of SQLite`])
  }
})

test('names the variable from which a wrong option comes', async (t) => {
  const directory = await temporaryDirectory(t)
  const file = async (name: string, properties: object): Promise<string> => {
    const path = join(directory, name)
    await writeFile(path, JSON.stringify({ type: 'object', properties }))
    return path
  }
  const FIELDS_FILE = await file('fields.json', { plan: { type: 'string' }, seats: { type: 'number' } })
  const reserved = await file('reserved.json', { name: { type: 'string' } })
  const missing = 'DATABASE_URL must be a path in a directory that exists: create the directory first'
  for (const [env, ...problems] of [
    [{ FIELDS_FILE, FILTERABLE_FIELDS: 'plam' }, 'FILTERABLE_FIELDS names plam, which is not a field'],
    [{ FIELDS_FILE, FILTERABLE_FIELDS: 'plan', FOLDED_FIELDS: 'plan' },
      'FILTERABLE_FIELDS or FOLDED_FIELDS names a field more than once'],
    [{ FIELDS_FILE, FOLDED_FIELDS: 'plan,plan' }, 'FOLDED_FIELDS names a field more than once'],
    [{ FIELDS_FILE, FOLDED_FIELDS: 'seats' }, 'seats cannot be in FOLDED_FIELDS: its values are not strings'],
    [{ FIELDS_FILE, SEARCHABLE_FIELDS: 'plam', UNIQUE_FIELDS: 'badge' },
      'UNIQUE_FIELDS names badge, which is not a field', 'SEARCHABLE_FIELDS names plam, which is not a field'],
    [{ FIELDS_FILE: reserved }, 'FIELDS_FILE: name is a member that users have already'],
    [{ FIELDS_FILE, SCIM_ENABLED: 'true', SCIM_ATTRIBUTES: 'title=plam' },
      'SCIM_ATTRIBUTES has "title": there is no field plam'],
    [{ ADMIN_LOGO_FILE: FIELDS_FILE },
      'ADMIN_LOGO_FILE must be the path of an SVG, PNG, JPEG, WebP or GIF of at most 32 KiB'],
    [{ DATABASE_URL: `sqlite:${directory}/a.db`, SQLITE_CREATE: 'false' },
      `DATABASE_URL: there is no database in ${directory}/a.db, and SQLITE_CREATE is false`],
    [{ DATABASE_URL: `sqlite:${directory}/none/users.db` }, missing],
    [{ DATABASE_URL: `sqlite:${directory}/data/users.db` }, missing],
    [{ DATABASE_URL: `sqlite:${FIELDS_FILE}/users.db` }, missing],
    [{ DATABASE_URL: `lmdb:${directory}/none/users` }, missing]
  ] as const) {
    const config = readConfig({ DATABASE_URL: 'memory:', ...env })
    await t.rejects(buildApp(config, false), {
      message: `The configuration is wrong:\n${problems.map((each) => `  ${each}`).join('\n')}`
    })
  }
  t.strictSame(await readdir(directory), ['fields.json', 'reserved.json'], 'nothing was created')
  const config = readConfig({ DATABASE_URL: 'sqlite:x', SQLITE_DRIVER: 'node:sqlite' })
  const needs = new Error('fastify-users: sqlite(): node:sqlite needs Node.js 22.13 or later')
  t.strictSame(withVariables(needs, config),
    new ConfigError(['SQLITE_DRIVER: node:sqlite needs Node.js 22.13 or later']))
  const other = new Error('fastify-users: something else')
  t.equal(withVariables(other, config), other)
})

test('names the host of the database, and nothing of a password', async (t) => {
  for (const [url, where] of [
    ['postgres://u:hunter2@db:5432/x', 'DATABASE_URL, which leads to db:5432'],
    ['mariadb://u:hunter2@db/x', 'DATABASE_URL, which leads to db'],
    ['postgres://u:12/hunter2@db/x', 'DATABASE_URL'], ['postgres://u:12#hunter2@db/x', 'DATABASE_URL'],
    ['postgres:///x?host=/run/postgresql', 'DATABASE_URL'], ['sqlite:x', 'DATABASE_URL']
  ] as const) {
    const config = readConfig({ DATABASE_URL: url })
    const cause = new StorageError('unavailable', 'the database cannot be reached or is busy (ECONNREFUSED)')
    for (const error of [cause, new Error('internal', { cause })]) {
      t.match(withVariables(error, config), { message: `${where}: ${cause.message}` })
    }
  }
})

test('reads secrets from files', async (t) => {
  const directory = await temporaryDirectory(t)
  const file = join(directory, 'pepper')
  await writeFile(file, `${SECRET}\n`)
  t.equal(readConfig({ FASTIFY_USERS_PEPPER_FILE: file }).FASTIFY_USERS_PEPPER, SECRET)
  t.equal(readConfig({ API_KEYS_FILE: file }).API_KEYS, SECRET)
  t.strictSame(
    problemsOf({ FASTIFY_USERS_PEPPER_FILE: file, FASTIFY_USERS_PEPPER: SECRET }),
    ['FASTIFY_USERS_PEPPER and FASTIFY_USERS_PEPPER_FILE cannot both be set']
  )
  t.strictSame(
    problemsOf({ DATABASE_URL_FILE: join(directory, 'none') }),
    ['DATABASE_URL_FILE must be the path of a file that can be read']
  )
  const empty = join(directory, 'empty')
  await writeFile(empty, '\n')
  for (const name of ['DATABASE_URL_FILE', 'API_KEYS_FILE', 'FASTIFY_USERS_PEPPER_FILE']) {
    t.strictSame(problemsOf({ [name]: empty }), [`${name} must be the path of a file that is not empty`])
  }
})

const saidOf = (name: string, ours: string) => [`${name} is not a variable of this service: did you mean ${ours}?`]

test('refuses what looks like a variable of its own', async (t) => {
  for (const [name, ours] of [
    ['DATABSE_URL', 'DATABASE_URL'], ['DATABASE_UR', 'DATABASE_URL'], ['RATE_LIMTI', 'RATE_LIMIT'],
    ['WEBHOOKS_NETWORKS', 'WEBHOOK_NETWORKS'], ['FASTIFY_USER_PEPPER', 'FASTIFY_USERS_PEPPER'],
    ['DATABASE_URL_FIL', 'DATABASE_URL_FILE'], ['database_url', 'DATABASE_URL'], ['TLS_CERT', 'TLS_CERT_FILE'],
    ['DATABASE', 'DATABASE_URL'], ['DATABASE_HOST', 'DATABASE_URL'], ['PEPPER', 'FASTIFY_USERS_PEPPER'],
    ['API_KEYS_PATH', 'API_KEYS'], ['KEY_CACHE_DIR', 'KEY_CACHE'], ['EVENT_LOG_PORT', 'EVENT_LOG'],
    ['TENANT', 'TENANTS'], ['TLS_PRIVATE_KEY', 'TLS_KEY_FILE'], ['TLS_KEY_PATH', 'TLS_KEY_FILE'],
    ['TLS_ENABLED', 'TLS_CERT_FILE'], ['tls_crt', 'TLS_CERT_FILE'], ['USERS_PEPPER', 'FASTIFY_USERS_PEPPER'],
    ['FIRST_KEY', 'FIRST_KEY_FILE'], ['FIRST_KEY_PATH', 'FIRST_KEY_FILE'], ['TRUST_PROXIES', 'TRUST_PROXY'],
    ['TENANTS_ENABLED', 'TENANTS']
  ] as const) {
    t.strictSame(problemsOf({ [name]: 'postgres://secret@host/db' }), saidOf(name, ours))
    t.strictSame(ignoredVariables({ [name]: 'postgres://secret@host/db' }), [])
  }
})

test('takes variables of other programs for what they are', async (t) => {
  for (const [name, value, ours, right] of [
    ['API_KEY', SECRET, 'API_KEYS', SECRET], ['PORT2', '5', 'PORT', '3000'], ['PORT_NUMBER', '80', 'PORT', '3000'],
    ['TENANTS_TABLE', 'tenants', 'TENANTS', 'true'], ['METRICS', 'true', 'METRICS_ENABLED', 'true'],
    ['WEBHOOKS', 'true', 'WEBHOOKS_ENABLED', 'true'], ['SCIM', '1', 'SCIM_ENABLED', 'true'],
    ['GROUPS', 'on', 'GROUPS_ENABLED', 'true']
  ] as const) {
    t.strictSame(problemsOf({ [name]: value }), [], name)
    t.strictSame(ignoredVariables({ [name]: value }), saidOf(name, ours))
    t.strictSame(ignoredVariables({ [name]: value, [ours]: right }), [], `${name} beside ${ours}`)
  }
  for (const [name, ours, right] of [
    ['DATABASE_HOST', 'DATABASE_URL', 'memory:'], ['PEPPER', 'FASTIFY_USERS_PEPPER', SECRET],
    ['KEY_CACHE_DIR', 'KEY_CACHE', '5']
  ] as const) {
    const env = { [name]: 'secret', [ours]: right }
    t.strictSame([problemsOf(env), ignoredVariables(env)], [[], saidOf(name, ours)], `${name} beside ${ours}`)
  }
  const services = ['EVENT_LOG', 'DATABASE', 'API_KEY', 'PEPPER', 'TLS', 'USERS', 'PORT']
  const kubernetes = services.flatMap((service) => [
    [`${service}_PORT`, 'tcp://10.0.0.11:80'], [`${service}_SERVICE_HOST`, '10.0.0.11'],
    [`${service}_SERVICE_PORT`, '80'], [`${service}_SERVICE_PORT_HTTP`, '80'],
    [`${service}_PORT_80_TCP`, 'tcp://10.0.0.11:80'],
    [`${service}_PORT_80_TCP_PROTO`, 'tcp'], [`${service}_PORT_80_TCP_PORT`, '80'],
    [`${service}_PORT_80_TCP_ADDR`, '10.0.0.11']
  ])
  const others = [
    'PORTS', 'PATH', 'USERS_PORT', 'SUFFIX', 'host', 'FASTIFY_USERS_PORT', 'SSL_CERT_FILE', 'METRICS',
    'SHOP_PEPPER', 'HOST_IP', 'LOG', 'KEY', 'NODE_TLS_REJECT_UNAUTHORIZED'
  ].map((name) => [name, '/usr/local'])
  for (const [name = '', value = ''] of [...kubernetes, ...others]) {
    t.strictSame([problemsOf({ [name]: value }), ignoredVariables({ [name]: value })], [[], []], name)
  }
})
