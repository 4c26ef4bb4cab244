// fastify-users export.
import { execFile, spawn } from 'node:child_process'
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'tap'
import { databases, endOf, migrated, newPostgres, programOf, start } from '../helpers/cli.ts'
import { fields } from '../helpers/fields.ts'
import { userOf } from '../helpers/records.ts'
import { temporaryDirectory } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'
import { addUser, addUsers } from '../helpers/writes.ts'

const own = [{ plan: 'pro', address: { city: 'Bonn' } }, { plan: 'free', old: [1] }, {}]
const suspended = { status: 'suspended', statusReason: 'spam' } as const
const users = own.map((fields, n) => userOf(n + 1, { fields, ...(n === 1 && suspended) }))
const lines = users.map(({ id, name, email, fields, status, statusReason, version, createdAt, updatedAt }) =>
  `${JSON.stringify({ id, name, email, ...fields, status, statusReason, version, createdAt, updatedAt })}\n`)

for (const { name, skip, create } of databases) {
  test(`exports the users of ${name}, to standard output or a file`, { skip }, async (t) => {
    const { cli, open } = await create(t)
    const directory = await temporaryDirectory(t)
    await cli('migrate')
    t.strictSame(await cli('export'), { code: 0, out: '', err: '' })
    const storage = open()
    for (const user of users) await addUser(storage, user)
    await storage.close()

    const stored = join(directory, 'stored.json')
    await writeFile(stored, '{"type":"object","properties":{"plan":{},"address":{},"old":{}}}')
    const csv = ['"name","email"', ...[1, 2, 3].map((n) => `"User ${n}","User${n}@Example.org"`), ''].join('\r\n')
    for (const [given, out] of [
      [[], lines.join('')],
      [['--sort', '-createdAt', '--q', 'user'], lines.toReversed().join('')],
      [['--email', 'user2@example.org'], lines[1]],
      [['--status', 'suspended'], lines[1]],
      [['-o', '-'], lines.join('')],
      [['--columns', 'plan,name', '--fields', stored],
        '{"plan":"pro","name":"User 1"}\n{"plan":"free","name":"User 2"}\n{"name":"User 3"}\n'],
      [['--format', 'csv', '--columns', 'name,email'], csv]
    ] as const) t.strictSame(await cli('export', ...given), { code: 0, out, err: '' }, given.join(' '))

    const schema = join(directory, 'fields.json')
    await writeFile(schema, JSON.stringify(fields))
    const declared = await cli('export', '--format', 'csv', '--columns', 'name,plan,address.city', '--fields', schema)
    t.equal(declared.out,
      '"name","plan","address.city"\r\n"User 1","pro","Bonn"\r\n"User 2","free",\r\n"User 3",,\r\n')
    t.match(declared.err, /does not match the option fields/)

    const file = join(directory, 'users.ndjson')
    t.strictSame(await cli('export', '-o', file), { code: 0, out: '', err: 'exported 3 users\n' })
    t.equal(await readFile(file, 'utf8'), lines.join(''))
    t.equal((await stat(file)).mode & 0o777, 0o600)
    t.equal((await cli('export', '-o', file, '--q', 'User 1')).err, 'exported 1 user\n')
    t.equal(await readFile(file, 'utf8'), lines[0])
    t.strictSame((await readdir(directory)).sort(), ['fields.json', 'stored.json', 'users.ndjson'])

    const unknownColumn = 'columns of your own need --fields <file>\n' +
      '--columns must be names of columns, separated by commas\n'
    for (const [given, err] of [
      [['--q', 'x'], /^--q must have at least 2 letters or digits, or 1 letter of Han, Hangul or kana\n$/],
      [['--email', 'x'], /^--email must be/],
      [['--columns', 'id,id'], /^--columns must not name a column twice\n$/],
      [['--columns', 'emial'], new RegExp(`^${unknownColumn}$`)],
      [['--columns', 'plan', '--format', 'csv'], new RegExp(`^${unknownColumn}$`)],
      [['--columns', 'emial', '--fields', schema], /^--columns must be names of columns/],
      [['--fields', file], /^--fields must be a file with the JSON Schema/],
      [['--fields', join(directory, 'none')], /^--fields must be a file with the JSON Schema/],
      [['-o', join(directory, 'none', 'x')], /^the directory of --output does not exist\n$/]
    ] as const) t.match(await cli('export', ...given), { code: 2, out: '', err }, given.join(' '))
  })
}

test('writes a file that nobody else can read, whatever is beside it', async (t) => {
  const { cli } = await migrated(t)
  const directory = await temporaryDirectory(t)
  const at = (name: string) => join(directory, name)
  await writeFile(at('mine'), 'mine')
  await writeFile(at('open.partial'), '')
  await chmod(at('open.partial'), 0o644)
  await symlink(at('mine'), at('linked.partial'))
  for (const file of [at('open'), at('linked')]) {
    t.strictSame(await cli('export', '-o', file), { code: 0, out: '', err: 'exported 0 users\n' })
    t.equal((await lstat(file)).mode & 0o777, 0o600)
  }
  t.equal(await readFile(at('mine'), 'utf8'), 'mine')
  t.strictSame((await readdir(directory)).sort(),
    ['linked', 'linked.partial', 'mine', 'open', 'open.partial'], 'leaves nothing of its own')
})

test('a signal that ends it leaves no part of the file', async (t) => {
  const { url, open } = await migrated(t)
  const storage = open()
  for (let n = 0; n < 20_000; n += 1000) {
    await addUsers(storage, Array.from({ length: 1000 }, (_, i) => userOf(n + i)))
  }
  await storage.close()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const directory = await temporaryDirectory(t)
    const child = start(['export', '-o', join(directory, 'users.ndjson')], { DATABASE_URL: url })
    const ended = endOf(child)
    await until('the file is begun', async () => (await readdir(directory)).length === 1)
    child.kill(signal)
    t.strictSame(await ended, { code: null, signal, out: '', err: '' })
    t.strictSame(await readdir(directory), [])
  }
})

test('replaces nothing but files', async (t) => {
  const { cli } = await migrated(t)
  const directory = await temporaryDirectory(t)
  const at = (name: string) => join(directory, name)
  // Stands for a device, which only root can make.
  await promisify(execFile)('mkfifo', [at('pipe')])
  await symlink(at('pipe'), at('linked pipe'))
  await writeFile(at('mine'), 'mine')
  await symlink(at('mine'), at('linked file'))
  await symlink(at('nothing'), at('linked nothing'))
  await mkdir(at('directory'))
  const before = (await readdir(directory)).sort()
  for (const name of before.filter((each) => each !== 'mine')) {
    t.strictSame(await cli('export', '-o', at(name)), {
      code: 2,
      out: '',
      err: '--output must be a regular file, or a new path: a link, a device, a pipe or a directory is ' +
        'not replaced; - is standard output\n'
    }, name)
  }
  t.strictSame((await readdir(directory)).sort(), before)
  t.ok((await lstat(at('pipe'))).isFIFO())
  t.ok((await lstat(at('linked pipe'))).isSymbolicLink())
  t.equal(await readFile(at('linked file'), 'utf8'), 'mine')
})

test('a file that cannot be written to its end is no wrong usage, and leaves nothing', async (t) => {
  // The files of SQLite would have the limit too.
  const { url, args, cli, open } = await newPostgres(t)
  await cli('migrate')
  const storage = open()
  await addUsers(storage, Array.from({ length: 20 }, (_, n) => userOf(n)))
  await storage.close()
  const directory = await temporaryDirectory(t)
  const [node, given] = programOf(['export', ...args, '-o', join(directory, 'users.ndjson')])
  // Files of this process have at most 512 bytes, as on a full disk.
  const limited = ['-c', 'ulimit -f 1; exec "$@"', 'sh', node, ...given]
  const child = spawn('sh', limited, { env: { PATH: String(process.env['PATH']), DATABASE_URL: url } })
  t.match(await endOf(child), { code: 1, err: /^the file of --output cannot be written \(EFBIG\)\n$/ })
  t.strictSame(await readdir(directory), [])
})
