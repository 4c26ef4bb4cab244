// The command line as its users run it: the built program, a process for each call.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import Fastify from 'fastify'
import { postgres } from '../adapters/postgres.ts'
import { sqlite } from '../adapters/sqlite.ts'
import users from '../lib/index.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from './helpers/stores.ts'
import './helpers/watch-all.ts'
import { sqliteHost } from './helpers/sqlite.ts'
import { plainNode } from './helpers/plain-node.ts'

interface Ran { code: number | null, out: string, err: string }

const PEPPER = 'a pepper of more than 32 characters'

function run (args: string[], env: Record<string, string> = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(...plainNode(join(import.meta.dirname, '..', 'dist', 'cli', 'main.js'), ...args), { env: { PATH: String(process.env['PATH']), ...env } }, (_error, out, err) => {
      resolve({ code: child.exitCode, out, err })
    })
  })
}

const kinds = [
  {
    name: 'sqlite',
    async make (t: Test) {
      const filename = join(await temporaryDirectory(t), 'deep', 'users.db')
      const plain = sqliteHost(filename)
      t.teardown(() => plain.destroy())
      return { database: `sqlite:${filename}`, args: [], open: () => sqlite({ filename }), plain: async (statement: string) => { await plain.raw(statement.replaceAll('@', '')) } }
    }
  },
  {
    name: 'postgres',
    async make (t: Test) {
      const schema = temporarySchema(t)
      return { database: pgUrl(), args: ['--schema', schema], open: () => postgres({ connection: pgUrl(), schema }), plain: async (statement: string) => { await sql(statement.replaceAll('@', `"${schema}".`)) } }
    }
  }
]

for (const { name, make } of kinds) {
  test(`${name}: keys that the command line makes are good, until it ends them`, async (t) => {
    const { database, args, open } = await make(t)
    const cli = (...given: string[]) => run([...given, ...args], { DATABASE_URL: database, FASTIFY_USERS_PEPPER: PEPPER })
    t.match(await cli('keys', 'list'), { code: name === 'sqlite' ? 2 : 1, out: '' })
    t.match(await cli('migrate'), { code: 0, err: '' })

    const made = await cli('keys', 'create', '--name', 'ci', '--scopes', 'users:read', '--expires-in', '90d')
    t.equal(made.code, 0)
    t.match(made.out, /^uk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}\n$/, 'the key alone on standard output')
    t.match(made.err, /^key_\w{26} {2}users:read {2}expires \d{4}-.*\nThe key, shown only now:\n$/)

    const app = Fastify()
    t.teardown(() => app.close())
    await app.register(users, { prefix: '/v1', storage: open(), pepper: PEPPER, keyCache: 0 })
    const statusOf = async (key: string) => (await app.inject({ url: '/v1/users', headers: { authorization: `Bearer ${key.trim()}` } })).statusCode
    t.equal(await statusOf(made.out), 200)

    const listed = await cli('keys', 'list', '--json')
    const [record, ...others] = JSON.parse(listed.out)
    t.match(record, { name: 'ci', scopes: ['users:read'], start: made.out.slice(0, 15) })
    t.strictSame([others, listed.err, Object.keys(record).sort()], [[], '', ['createdAt', 'expiresAt', 'id', 'lastUsedAt', 'name', 'scopes', 'start']])

    const rotated = await cli('keys', 'rotate', record.id, '--overlap', '1h', '--json')
    const successor = JSON.parse(rotated.out)
    t.match(successor, { name: 'ci', scopes: ['users:read'], rotatedFrom: record.id })
    t.strictSame(await Promise.all([made.out, successor.key].map(statusOf)), [200, 200])
    t.match(await cli('keys', 'revoke', successor.id), { code: 0, out: `${successor.id} is revoked. Servers that cached it refuse it within keyCache, 5 seconds by default.\n`, err: '' })
    t.equal(await statusOf(successor.key), 401)

    const forever = JSON.parse((await cli('keys', 'create', '-n', 'for ever', '--no-expires', '--json', '--key-prefix', 'acme')).out)
    t.strictSame([forever.expiresAt, forever.key.slice(0, 5)], [undefined, 'acme_'])
    const table = await cli('keys', 'list')
    t.match(table.out, new RegExp(`^ID +NAME +STATE +SCOPES +START +CREATED +EXPIRES +LAST USED\n${record.id}  ci        active   users:read .*\n${successor.id}  ci        revoked  .*\n${forever.id}  for ever  active   .*never +-\n$`))
    for (const text of [table.out, table.err, listed.out]) for (const key of [made.out.trim(), successor.key, forever.key]) t.notMatch(text, key)
  })

  test(`${name}: check finds what is wrong with the tables, and says what to do`, async (t) => {
    const { database, args, open, plain } = await make(t)
    const cli = (...given: string[]) => run([...given, ...args], { DATABASE_URL: database })
    const storage = open()
    t.teardown(() => storage.close())
    t.strictSame(await storage.inspect(), { version: 0, latest: 1, pending: ['initial schema'], missing: [], unindexed: [] })
    await cli('migrate')
    t.match(await cli('migrate'), { code: 0, out: 'The schema is at version 1 already.\n', err: '' })
    t.match(await cli('check'), { code: 0, out: 'No problems: schema version 1, 0 users, every number right.\n', err: '' })

    t.match(await cli('check', '--filterable', 'plan,seats'), { code: 1, out: '', err: 'lists filtered by plan, seats have no index: run fastify-users migrate --filterable plan,seats\n' })
    t.match(await cli('migrate', '--filterable', 'plan'), { code: 0, out: 'applied: index of plan\nThe schema is at version 1 now.\n', err: '' })
    t.match(await cli('check', '--filterable', 'plan, seats', '--json'), { code: 1, out: /"unindexed":\["seats"\]/ })
    t.match(await cli('migrate', '--filterable', 'plan,seats', '--json'), { code: 0, out: '{"version":1,"applied":["index of seats"]}\n', err: '' })
    t.match(await cli('check', '--filterable', 'plan,seats'), { code: 0, err: '' })
    for (const wrong of ['', 'a-b', 'plan,,seats', "x'y"]) t.match(await cli('migrate', '--filterable', wrong), { code: 2, out: '', err: /^error: --filterable takes names of fields|--filterable takes names of fields/ })

    await plain('DROP INDEX @fastify_users_users_name_key')
    t.strictSame((await storage.inspect()).missing, ['fastify_users_users_name_key'])
    await plain(name === 'sqlite' ? 'DROP TRIGGER fastify_users_counting_insert' : 'ALTER TABLE @fastify_users_users DISABLE TRIGGER fastify_users_counting_insert')
    await plain("INSERT INTO @fastify_users_users (id, name, name_key, email, email_key, version, created_at, updated_at) VALUES ('', 'n', 'n', 'e', 'e', 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')")
    await storage.rebuildCounts()
    await plain("DELETE FROM @fastify_users_users WHERE id = ''")
    const found = await cli('check', '--json')
    t.match(JSON.parse(found.out), { version: 1, latest: 1, pending: [], missing: ['fastify_users_users_name_key', 'fastify_users_counting_insert'], counts: { users: 0 } })
    t.equal(found.code, 1)
    t.equal(found.err, [
      'fastify_users_users_name_key is missing or not in force: create it again with the statement that migrationsSql() prints for it, then check again',
      'fastify_users_counting_insert is missing or not in force: create it again with the statement that migrationsSql() prints for it, then check again',
      ''
    ].join('\n'))
    await plain("INSERT INTO @fastify_users_counting_blocks (first_id, users) VALUES ('a', 5)")
    t.match(await cli('check'), { code: 1, err: /there are 0 users, and lists count 0 \([1-9] wrong numbers\): run fastify-users check --fix\n$/ })
    const fixed = await cli('check', '--fix')
    t.match(fixed, { code: 1, out: '' })
    t.notMatch(fixed.err, 'wrong numbers')

    await storage.rollback(0)
    t.match(await cli('check'), { code: 1, out: '', err: 'the tables are at version 0 of 1: run fastify-users migrate\n' })
    t.match(await cli('migrate', 'status'), {
      code: 1,
      out: 'version 0 of 1\npending: initial schema\n',
      err: 'Apply them: fastify-users migrate\n'
    })
    t.match(await cli('migrate', 'status', '--json'), { code: 1, out: '{"version":0,"latest":1,"pending":["initial schema"]}\n' })
    t.match(await cli('keys', 'list'), { code: 1, out: '', err: 'the tables are behind this code: run fastify-users migrate\n' })
    t.match(await cli('migrate', '--json'), { code: 0, out: '{"version":1,"applied":["initial schema"]}\n', err: '' })
    await plain("INSERT INTO @fastify_users_migrations (version, name, applied_at) VALUES (99, 'later', '2026-01-01T00:00:00.000Z')")
    t.match(await cli('migrate', 'status'), { code: 1, err: 'The tables are newer than this code: install a newer fastify-users.\n' })
    t.match(await cli('check'), { code: 1, err: 'the tables are at version 99, this code knows 1: install a newer fastify-users\n' })
  })
}

test('what is asked wrongly is refused, and repeats no value', async (t) => {
  const directory = await temporaryDirectory(t)
  const database = `sqlite:${join(directory, 'users.db')}`
  await run(['migrate', '-d', database])
  const create = (...more: string[]) => run(['keys', 'create', '-d', database, ...more])
  const wrong: Array<[Promise<Ran>, RegExp]> = [
    [run(['check']), /^name the database: --database <url>, or the environment variable DATABASE_URL\n$/],
    [run(['check', '-d', 'mysql://secret@host/x']), /^the database must be postgres:/],
    [run(['check', '-d', `sqlite:${directory}/other.db`]), /^there is no file at this path/],
    [run(['check', '-d', database, '--schema', 'x']), /^--schema and --pooler are for PostgreSQL\n$/],
    [create(), /required option '-n, --name <name>'/],
    [create('-n', ''), /^name must not be empty\n$/],
    [create('-n', 'x', '-s', 'users:read,secret'), /^--scopes must be some of users:read, /],
    [create('-n', 'x', '--expires-in', 'soon'), /^a time must be /],
    [create('-n', 'x', '--expires-at', '2020-01-01T00:00:00Z'), /^expiresAt must be in the future\n$/],
    [create('-n', 'x', '--expires-in', '1d', '--no-expires'), /^give one of --expires-in, --expires-at and --no-expires\n$/],
    [create('-n', 'x', '--key-prefix', 'Secret'), /^fastify-users: keys: 1 wrong option:\n- keyPrefix must be 1 to 12 of a-z and 0-9\n$/],
    [run(['check', '-d', database, '--table-prefix', 'a secret']), /^fastify-users: sqlite\(\): 1 wrong option:\n- tablePrefix must be /],
    [run(['keys', 'list', '-d', database], { FASTIFY_USERS_PEPPER: 'secret' }), /- pepper must be a string of at least 32 characters, or a list of 1 to 8 of them\n$/],
    [run(['secret']), /unknown command/]
  ]
  for (const [ran, message] of wrong) {
    const { code, out, err } = await ran
    t.strictSame([code, out], [2, ''], err)
    t.match(err, message)
    if (!/unknown command/.test(err)) t.notMatch(err, 'secret')
  }
  t.notOk(existsSync(join(directory, 'other.db')))
  t.match(await run(['check', '-d', 'postgres://user:secret@127.0.0.1:1/x']), { code: 3, out: '', err: 'the database can not be reached, or is busy (ECONNREFUSED)\n' })
  for (const [id, message] of [['key_x', 'There is no API key with this id.\n']] as const) t.match(await run(['keys', 'revoke', id, '-d', database]), { code: 1, out: '', err: message })
  const help = await run(['--help'])
  t.match(help, { code: 0, err: '' })
  for (const word of ['keys', 'migrate', 'check', 'Exit codes']) t.match(help.out, word)
  t.match(await run(['--version']), { code: 0, out: /^\d+\.\d+\.\d+\n$/ })
})
