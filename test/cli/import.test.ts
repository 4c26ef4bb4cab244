// fastify-users import: the built program.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { progressText } from '../../cli/progress.ts'
import { databases, PROGRAM, run } from '../helpers/cli.ts'
import { fields as common } from '../helpers/fields.ts'
import { ndjsonOf } from '../helpers/import-rows.ts'
import { plainNode } from '../helpers/plain-node.ts'
import { apiKeyOf, everyone, timeOf } from '../helpers/records.ts'
import { temporaryDirectory } from '../helpers/stores.ts'
import { addKey } from '../helpers/writes.ts'
import '../helpers/watch-all.ts'

const fields = { type: 'object', properties: { ...common.properties, legacyId: { type: 'integer' } } }
const rows = [
  { name: 'Ann', email: 'ann@example.org', legacyId: 1, createdAt: '2020-01-01T00:00:00Z' },
  { name: '', email: 'x', legacyId: 2 },
  { name: 'Bob', email: 'ANN@example.org', legacyId: 3 },
  { name: 'Cid', email: 'cid@example.org', legacyId: 4, plan: 'pro' }
]

for (const { name, skip, create } of databases) {
  test(`imports users into ${name}, from a file`, { skip }, async (t) => {
    const { url, args } = await create(t)
    const directory = await temporaryDirectory(t)
    const path = (file: string) => join(directory, file)
    const cli = (...given: string[]) => run([...given, ...args], { DATABASE_URL: url })
    await writeFile(path('fields.json'), JSON.stringify(fields))
    await writeFile(path('users.ndjson'), ndjsonOf(rows))
    await writeFile(path('users.csv'), 'name,email,legacyId\nZoe,zoe@example.org,1\nAnna,ann@example.org,9\n')
    const own = ['--fields', path('fields.json'), '--unique', 'legacyId']
    t.match(await cli('migrate'), { code: 0 })
    t.match(await cli('import', path('users.ndjson'), ...own), { code: 1, err: /run fastify-users migrate/ })
    t.match(await cli('migrate', '--unique', 'legacyId'), { code: 0 })

    const refused = 'line 2: refused: name must not be empty, email must be an e-mail address: it has no @\n' +
      'line 3: refused: email must be unique\n'
    const groups = '1 × name must not be empty: line 2\n1 × email must be an e-mail address: line 2\n' +
      '1 × email must be unique: line 3\n'
    const numbers = 'created 2, updated 0, skipped 0, refused 2\n'
    t.strictSame(await cli('import', path('users.ndjson'), ...own, '--dry-run'),
      { code: 1, out: `dry run: ${numbers}`, err: `${groups}2 users were refused\n` })
    t.strictSame(await cli('import', path('users.ndjson'), ...own, '--dry-run', '--report', 'faults'),
      { code: 1, out: `${refused}dry run: ${numbers}`, err: '2 users were refused\n' })
    t.strictSame(await cli('import', path('users.ndjson'), ...own, '--dry-run', '--max-refused', '1'),
      { code: 1, out: `${refused.split('\n')[0]}\ndry run: ${numbers}`, err: '2 users were refused\n' })
    t.strictSame(await cli('import', path('users.ndjson'), ...own, '--dry-run', '--report', 'none'),
      { code: 1, out: `dry run: ${numbers}`, err: '2 users were refused\n' })
    t.match(await cli('import', path('users.ndjson'), ...own, '--max-refused', '-1'),
      { code: 2, out: '', err: /--max-refused takes a whole number/ })
    t.equal((await cli('export')).out, '')
    const first = await cli('import', path('users.ndjson'), ...own, '--report', 'all')
    t.strictSame({ ...first, out: first.out.replace(/usr_\w{26}/g, 'ID') }, {
      code: 1, out: `line 1: created: ID\n${refused}line 4: created: ID\n${numbers}`, err: '2 users were refused\n'
    })
    t.match((await cli('export')).out, /^{"id":"usr_01dxf6dt00\w{16}","name":"Ann".*"plan":"free".*\n.*"Cid".*\n$/)

    t.strictSame(await cli('import', path('users.csv'), ...own, '--on-conflict', 'update', '--by', 'legacyId'), {
      code: 0, out: 'created 1, updated 1, skipped 0, refused 0\n', err: ''
    }, 'the address that the first line frees is free for the second')
    t.strictSame(await cli('import', path('users.csv'), ...own, '--on-conflict', 'skip', '--json'), {
      code: 0, out: '{"summary":{"created":0,"updated":0,"skipped":2,"refused":0,"dryRun":false}}\n', err: ''
    })
    await writeFile(path('others.ndjson'), ndjsonOf([
      { name: 'Eve', email: 'eve@example.org', legacyId: 4 }, { name: 'Fay', email: 'fay@example.org', legacyId: 5 }
    ]))
    t.strictSame(await cli('import', path('others.ndjson'), '--fields', path('fields.json')), {
      code: 1,
      out: 'created 1, updated 0, skipped 0, refused 1\n',
      err: '1 × legacyId must be unique: line 1\n1 user was refused\n'
    }, 'the index refuses it without --unique')
    const failed = await cli('import', path('users.ndjson'), ...own, '--fail-fast', '--json')
    t.match(failed.out, /^{"line":1,"status":"refused","problem":{.*}}\n{"summary":{"created":0,.*"refused":1,.*}}\n$/)
    t.equal(failed.code, 1)
    const hint = /^the users have unknown members: pass the schema of the host’s fields with --fields <file>\n/
    t.match(await cli('import', path('users.ndjson')), { code: 1, err: hint })
    t.match(await cli('import', path('users.csv')), { code: 2, err: hint })

    for (const [given, err] of [
      [[path('none')], /^there is no file at this path; - is standard input\n$/],
      [[directory], /^there is no file at this path/],
      [[path('users.csv'), '--by', 'legacyId'], /^by must be email or id\n$/],
      [[path('users.csv'), '--unique', 'legacyId'], /^--unique needs --fields <file>\n$/],
      [[path('users.csv'), ...own, '--unique', 'a b'], /^--unique takes names of fields/],
      [[path('users.csv'), '--on-conflict', 'merge'], /Allowed choices are fail, skip, update/],
      [[path('users.ndjson'), ...own, '--format', 'csv'], /^must have its quotation marks/],
      [[], /missing required argument 'file'/]
    ] as const) t.match(await cli('import', ...given), { code: 2, out: '', err }, given.join(' '))
  })
}

test('imports from standard input, and records events if a server does', async (t) => {
  const [database] = databases
  if (database === undefined) throw new Error('there is no database')
  const { url, open } = await database.create(t)
  const env = { PATH: String(process.env['PATH']), DATABASE_URL: url }
  await run(['migrate'], env)
  const storage = open()
  const event = { id: 'evt_01jzzzzzzzezzr000000000001', timestamp: timeOf(0), actor: null, requestId: null }
  await addKey(storage, apiKeyOf(1), { ...event, type: 'api_key.created' })
  const [node, given] = plainNode(PROGRAM, 'import', '-')
  const child = spawn(node, given, { env })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text) => { out += text })
  for (const { legacyId, plan, ...row } of rows.map((row) => ({ plan: '', ...row }))) {
    child.stdin.write(`${JSON.stringify(row)}\n`)
  }
  child.stdin.end()
  t.strictSame(await once(child, 'exit'), [1, null])
  t.equal(out, 'created 2, updated 0, skipped 0, refused 2\n')
  const events = await storage.log.read({ after: null, limit: 9, types: ['user.created'] })
  t.equal(events?.events.length, 2)
  await storage.close()
})

test('an import that ends early does not wait for the rest of its input', async (t) => {
  const [database] = databases
  if (database === undefined) throw new Error('there is no database')
  const { url } = await database.create(t)
  await run(['migrate'], { DATABASE_URL: url })
  const [node, given] = plainNode(PROGRAM, 'import', '-', '--fail-fast')
  const child = spawn(node, given, { env: { PATH: String(process.env['PATH']), DATABASE_URL: url } })
  child.stdin.on('error', () => {})
  child.stdin.write('{}\n')
  t.strictSame(await once(child, 'exit'), [1, null])
})

const UNREADABLE = '/proc/self/mem'
const skip = !existsSync(UNREADABLE) && 'this machine has no file that can be opened and not be read'

test('a file that can be opened and not be read is no wrong usage', { skip }, async (t) => {
  const [database] = databases
  if (database === undefined) throw new Error('there is no database')
  const { url } = await database.create(t)
  await run(['migrate'], { DATABASE_URL: url })
  t.strictSame(await run(['import', UNREADABLE], { DATABASE_URL: url }),
    { code: 1, out: '', err: 'the file can not be read (EIO)\n' })
})

test('a reader that has enough, such as head, does not end the import', async (t) => {
  const [database] = databases
  if (database === undefined) throw new Error('there is no database')
  const { url, open } = await database.create(t)
  await run(['migrate'], { DATABASE_URL: url })
  const file = join(await temporaryDirectory(t), 'users.ndjson')
  await writeFile(file, ndjsonOf(Array.from({ length: 5000 }, (_, n) => ({ name: 'U', email: `u${n}@example.org` }))))
  const [node, given] = plainNode(PROGRAM, 'import', file, '--report', 'all')
  const child = spawn(node, given, { env: { PATH: String(process.env['PATH']), DATABASE_URL: url } })
  child.stdout.once('data', () => child.stdout.destroy())
  t.strictSame(await once(child, 'exit'), [0, null])
  const storage = open()
  t.equal((await storage.users.list(everyone, { order: 'asc', limit: 1, from: { offset: 0 } })).total, 5000)
  await storage.close()
})

test('how far it is, in words', (t) => {
  t.equal(progressText(0, null, 0), '0 users  0/s')
  t.equal(progressText(1200, 0.33, 2), '########----------------  33 %  1,200 users  600/s  0:05 left')
  t.equal(progressText(10, 0.001, 10), '------------------------  0 %  10 users  1/s  2:46:30 left')
  t.equal(progressText(10, 0, 1), '------------------------  0 %  10 users  10/s')
  t.equal(progressText(5000, 1, 0.5), '########################  100 %  5,000 users  10,000/s  0:00 left')
  t.end()
})
