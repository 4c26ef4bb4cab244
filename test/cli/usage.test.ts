// Wrong command lines and other failures: the exit code, a message that says what is right, and no value in it.
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'tap'
import { failureOf } from '../../cli/failure.ts'
import { UsersError } from '../../lib/core/errors.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { migrated, run, runProgram } from '../helpers/cli.ts'
import { pgUrl, temporaryDirectory } from '../helpers/stores.ts'

test('refuses a wrong command line, and repeats none of its values', async (t) => {
  const directory = await temporaryDirectory(t)
  const { url: database } = await migrated(t)
  const create = (...more: string[]) => ['keys', 'create', '-d', database, ...more]
  const short = join(directory, 'short')
  await writeFile(short, 'secret')
  const wrong: Array<[args: string[], message: RegExp, env?: Record<string, string>]> = [
    [['check'], /^name the database: --database <url>, or the environment variable DATABASE_URL\n$/],
    [['check', '--databse=mysql://secret@host/x'], /^error: unknown option '--databse'\nAdd --help/],
    [['export', '--format', "secret's"],
      /^error: option '--format <format>' argument is invalid\. Allowed choices are ndjson, csv/],
    [['check', '-d', 'mysql://secret@host/x'], /^the database must be postgres:/],
    [['check', '-d', `sqlite:${directory}/other.db`], /^there is no file at this path/],
    [['check', '-d', database, '--schema', 'x'], /^--schema, --pooler and --profile are for PostgreSQL\n$/],
    [['check', '-d', 'postgres://localhost/x', '--profile', 'other'], /^--profile takes classic or portable\n$/],
    [create(), /required option '-n, --name <name>'/],
    [create('-n', ''), /^--name must not be empty\n$/],
    [create('-n', 'x', '-s', 'users:read,secret'), /^--scopes must be some of users:read, /],
    [create('-n', 'x', '--expires-in', 'soon'), /^--expires-in must be a whole number of seconds, minutes, /],
    [create('-n', 'x', '--expires-at', '2020-01-01T00:00:00Z'), /^--expires-at must be in the future\n$/],
    [create('-n', 'x', '--expires-in', '0'),
      /^--expires-in must be at least 1s, and end before the year 10000\n$/],
    [create('-n', 'x', '--rate-limit', '0/1m'), /^--rate-limit must be a whole number of requests from 1 to /],
    [create('-n', 'x', '--addresses', '10.0.0.0/8,secret'), /^item 2 of --addresses must be a network in CIDR form/],
    [create('-n', 'x', '--expires-in', '1d', '--no-expires'),
      /^give one of --expires-in, --expires-at and --no-expires\n$/],
    [create('-n', 'x', '--key-prefix', 'Secret'),
      /^--key-prefix must be 1 to 12 characters of a-z and 0-9\n$/],
    [['keys', 'rotate', '-d', database, 'key_x', '--overlap', '30d'], /^--overlap must be at most 7d\n$/],
    [['check', '-d', `sqlite:${directory}`], /^the path of the database is a directory: name a file in it, /],
    [['events', 'list', '-d', database, '--since', 'secret'],
      /^--since must be an RFC 3339 date and time, such as 2026-01-31T12:00:00Z\n$/],
    [['users', 'find', '-d', database, 'x'], /^the words must have at least 2 letters or digits/],
    [['users', 'suspend', '-d', database, 'x', '--reason', 'x'.repeat(201)],
      /^--reason must have at most 200 characters\n$/],
    [['check', '-d', database, '--table-prefix', 'a secret'],
      /^fastify-users: sqlite\(\): 1 wrong option:\n- --table-prefix must be /],
    [['keys', 'list', '-d', database],
      /^FASTIFY_USERS_PEPPER must be a string of at least 32 visible ASCII characters without commas, or a list of /,
      { FASTIFY_USERS_PEPPER: 'secret' }],
    [['keys', 'list', '-d', database], /^FASTIFY_USERS_PEPPER_FILE must be a string of at least 32 visible ASCII .*\n$/,
      { FASTIFY_USERS_PEPPER_FILE: short }],
    [['keys', 'list', '-d', database], /^FASTIFY_USERS_PEPPER_FILE must be the path of a file that is not empty\n$/,
      { FASTIFY_USERS_PEPPER_FILE: '/dev/null' }],
    [['keys', 'list'], /^DATABASE_URL_FILE must be the path of a file that is not empty\n$/,
      { DATABASE_URL_FILE: '/dev/null' }],
    [['keys', 'list'], /^DATABASE_URL_FILE must be the path of a file that can be read\n$/,
      { DATABASE_URL_FILE: join(directory, 'none') }],
    [['unheard-of'], /unknown command/]
  ]
  for (const [args, message, env] of wrong) {
    const { code, out, err } = await run(args, env)
    t.strictSame([code, out], [2, ''], err)
    t.match(err, message)
    t.notMatch(err, 'secret')
  }
  t.notOk(existsSync(join(directory, 'other.db')), 'a wrong path creates no file')
})

test('the program has the exit code and the streams of its command', async (t) => {
  const { url } = await migrated(t)
  t.match(await runProgram(['check', '--databse=mysql://secret@host/x']),
    { code: 2, out: '', err: /^error: unknown option '--databse'\nAdd --help/ })
  t.strictSame(await runProgram(['check', '-d', 'postgres://user:secret@127.0.0.1:1/x']),
    { code: 3, out: '', err: 'the database cannot be reached or is busy (ECONNREFUSED)\n' })
  t.strictSame(await runProgram(['--json', 'keys', 'revoke', 'key_x'], { DATABASE_URL: url }),
    { code: 1, out: '', err: 'There is no API key with this id.\n' })
  t.match(await runProgram(['--json', 'keys', 'list'], { DATABASE_URL: url }), { code: 0, out: '[]\n', err: '' })
  const help = await runProgram(['--help'])
  t.match(help, { code: 0, err: '' })
  for (const word of ['keys', 'migrate', 'check', 'Exit codes']) t.match(help.out, word)
  t.match(await runProgram(['--version']), { code: 0, out: /^\d+\.\d+\.\d+\n$/ })
})

test('a command says what is wrong with the database or the file system', async (t) => {
  const directory = await temporaryDirectory(t)
  const text = join(directory, 'text')
  await writeFile(text, '{"name":"Ann","email":"ann@example.org"}\n'.repeat(1000))
  const elsewhere = new URL(pgUrl())
  elsewhere.pathname = '/nowhere'
  const { url } = await migrated(t)
  const silent = createServer(() => {})
  t.teardown(() => silent.close())
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  for (const [args, code, message, env] of [
    [['check', '-d', `postgres://127.0.0.1:${Object(silent.address()).port}/x`], 3,
      'the database cannot be reached or is busy (no answer in time)'],
    [['check', '-d', elsewhere.href], 3, 'the database does not exist (3D000)'],
    [['check', '-d', `sqlite:${text}`], 1, 'the file is not an SQLite database (SQLITE_NOTADB)'],
    [['migrate', '-d', `sqlite:${text}/deep/users.db`], 1,
      `fastify-users: sqlite(): the database file ${text}/deep/users.db can't be made (ENOTDIR)`],
    [['import', text, '--dry-run', '-d', url], 1, 'fastify-users: the temporary file of a dry run cannot be used ' +
      '(ENOENT): set TMPDIR to a writable directory with enough space', { TMPDIR: join(directory, 'none') }]
  ] as const) t.strictSame(await run(args, env), { code, out: '', err: `${message}\n` }, args.join(' '))
})

const internal = (cause: unknown) => new UsersError('internal', { cause })

test('says what a storage or the operating system says, with the code of its driver once, without paths', async (t) => {
  const missing = await stat(join(await temporaryDirectory(t), 'secret')).catch((error: unknown) => error)
  for (const [error, message, exitCode] of [
    [new StorageError('fault', 'the storage threw an unexpected Error', { driverCode: 'E1' }),
      'the storage threw an unexpected Error (E1)', 1],
    [new StorageError('fault', 'the batch is undone'), 'the batch is undone', 1],
    [missing, 'stat failed: no such file or directory (ENOENT)', 1]
  ] as const) {
    t.strictSame(failureOf(error), { message, exitCode })
    t.strictSame(failureOf(internal(error)), { message, exitCode })
  }
})

test('shows no message of an error that nobody has written for operators', async (t) => {
  for (const error of [new Error('secret'), { syscall: 'secret' }, undefined, 'secret']) {
    t.strictSame(failureOf(error), { message: 'an unexpected error occurred', exitCode: 1 })
    t.strictSame(failureOf(internal(error)), { message: new UsersError('internal').message, exitCode: 1 })
  }
})
