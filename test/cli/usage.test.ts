// Wrong command lines: exit code 2, a message that says what is right, and no value in it.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { run } from '../helpers/cli.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

test('refuses a wrong command line, and repeats none of its values', async (t) => {
  const directory = await temporaryDirectory(t)
  const database = `sqlite:${join(directory, 'users.db')}`
  await run(['migrate', '-d', database])
  const create = (...more: string[]) => ['keys', 'create', '-d', database, ...more]
  const wrong: Array<[args: string[], message: RegExp, env?: Record<string, string>]> = [
    [['check'], /^name the database: --database <url>, or the environment variable DATABASE_URL\n$/],
    [
      ['check', '--databse=mysql://secret@host/x'],
      /^error: unknown option '--databse'\nAdd --help/
    ],
    [
      ['export', '--format', "secret's"],
      /^error: option '--format <format>' argument is invalid\. Allowed choices are ndjson, csv/
    ],
    [['check', '-d', 'mysql://secret@host/x'], /^the database must be postgres:/],
    [['check', '-d', `sqlite:${directory}/other.db`], /^there is no file at this path/],
    [['check', '-d', database, '--schema', 'x'], /^--schema, --pooler and --profile are for PostgreSQL\n$/],
    [['check', '-d', 'postgres://localhost/x', '--profile', 'other'], /^--profile takes classic or portable\n$/],
    [create(), /required option '-n, --name <name>'/],
    [create('-n', ''), /^name must not be empty\n$/],
    [create('-n', 'x', '-s', 'users:read,secret'), /^--scopes must be some of users:read, /],
    [create('-n', 'x', '--expires-in', 'soon'), /^a time must be /],
    [create('-n', 'x', '--expires-at', '2020-01-01T00:00:00Z'), /^expiresAt must be in the future\n$/],
    [
      create('-n', 'x', '--expires-in', '1d', '--no-expires'),
      /^give one of --expires-in, --expires-at and --no-expires\n$/
    ],
    [
      create('-n', 'x', '--key-prefix', 'Secret'),
      /^fastify-users: keys: 1 wrong option:\n- prefix must be 1 to 12 of a-z and 0-9\n$/
    ],
    [
      ['check', '-d', database, '--table-prefix', 'a secret'],
      /^fastify-users: sqlite\(\): 1 wrong option:\n- tablePrefix must be /
    ],
    [
      ['keys', 'list', '-d', database],
      /- pepper must be a string of at least 32 visible ASCII characters without commas, or a list of .*\n$/,
      { FASTIFY_USERS_PEPPER: 'secret' }
    ]
  ]
  for (const [args, message, env] of wrong) {
    const { code, out, err } = await run(args, env)
    t.strictSame([code, out], [2, ''], err)
    t.match(err, message)
    t.notMatch(err, 'secret')
  }
  t.notOk(existsSync(join(directory, 'other.db')), 'a wrong path creates no file')
  t.match(await run(['unheard-of']), { code: 2, out: '', err: /unknown command/ })
})

test('a database that can not be reached is exit code 3, and its password is not shown', async (t) => {
  t.strictSame(await run(['check', '-d', 'postgres://user:secret@127.0.0.1:1/x']), {
    code: 3,
    out: '',
    err: 'the database cannot be reached or is busy (ECONNREFUSED)\n'
  })
})

test('revoking an unknown key is exit code 1', async (t) => {
  const database = `sqlite:${join(await temporaryDirectory(t), 'users.db')}`
  await run(['migrate', '-d', database])
  t.strictSame(await run(['keys', 'revoke', 'key_x', '-d', database]), {
    code: 1,
    out: '',
    err: 'There is no API key with this id.\n'
  })
})

test('--help names the commands and the exit codes, and --version the version', async (t) => {
  const help = await run(['--help'])
  t.match(help, { code: 0, err: '' })
  for (const word of ['keys', 'migrate', 'check', 'Exit codes']) t.match(help.out, word)
  t.match(await run(['--version']), { code: 0, out: /^\d+\.\d+\.\d+\n$/ })
})
