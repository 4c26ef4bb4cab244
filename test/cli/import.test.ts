// fastify-users import.
import { existsSync } from 'node:fs'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { progressText } from '../../cli/progress.ts'
import { databases, endOf, migrated, start } from '../helpers/cli.ts'
import { fields as common } from '../helpers/fields.ts'
import { ndjsonOf } from '../helpers/import-rows.ts'
import { apiKeyOf, everyone, timeOf } from '../helpers/records.ts'
import { temporaryDirectory } from '../helpers/stores.ts'
import { addKey } from '../helpers/writes.ts'

const fields = { type: 'object', properties: { ...common.properties, legacyId: { type: 'integer' } } }
const rows = [
  { name: 'Ann', email: 'ann@example.org', legacyId: 1, createdAt: '2020-01-01T00:00:00Z' },
  { name: '', email: 'x', legacyId: 2 },
  { name: 'Bob', email: 'ANN@example.org', legacyId: 3 },
  { name: 'Cid', email: 'cid@example.org', legacyId: 4, plan: 'pro' }
]

for (const { name, skip, create } of databases) {
  test(`imports users into ${name}, from a file`, { skip }, async (t) => {
    const { cli } = await create(t)
    const directory = await temporaryDirectory(t)
    const path = (file: string) => join(directory, file)
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
    for (const [given, named, err] of [
      [[], '', groups],
      [['--report', 'faults'], refused, ''],
      [['--max-refused', '1'], `${refused.split('\n')[0]}\n`, ''],
      [['--report', 'none'], '', '']
    ] as const) {
      t.strictSame(await cli('import', path('users.ndjson'), ...own, '--dry-run', ...given),
        { code: 1, out: `${named}dry run: ${numbers}`, err: `${err}2 users were refused\n` }, given.join(' '))
    }
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
      [[directory], /^this is a directory: name a file; - is standard input\n$/],
      [[path('users.csv'), '--by', 'legacyId'], /^--by must be email or id\n$/],
      [[path('users.csv'), '--unique', 'legacyId'], /^--unique needs --fields <file>\n$/],
      [[path('users.csv'), ...own, '--unique', 'a b'], /^--unique takes names of fields/],
      [[path('users.csv'), '--on-conflict', 'merge'], /Allowed choices are fail, skip, update/],
      [[path('users.ndjson'), ...own, '--format', 'csv'], /^must use quotation marks/],
      [[], /missing required argument 'file'/]
    ] as const) t.match(await cli('import', ...given), { code: 2, out: '', err }, given.join(' '))
  })
}

test('imports from standard input, and records events if a server does', async (t) => {
  const { url, open } = await migrated(t)
  const storage = open()
  const event = { id: 'evt_01jzzzzzzzezzr000000000001', timestamp: timeOf(0), actor: null, requestId: null }
  await addKey(storage, apiKeyOf(1), { ...event, type: 'api_key.created' })
  const child = start(['import', '-'], { DATABASE_URL: url })
  for (const { legacyId, plan, ...row } of rows.map((row) => ({ plan: '', ...row }))) {
    child.stdin.write(`${JSON.stringify(row)}\n`)
  }
  child.stdin.end()
  t.match(await endOf(child), { code: 1, signal: null, out: /^created 2, updated 0, skipped 0, refused 2\n$/ })
  const events = await storage.log.read({ after: null, limit: 9, types: ['user.created'] })
  t.equal(events?.events.length, 2)
  await storage.close()
})

test('an import that fails says how many users it has imported, and how to go on', async (t) => {
  const { url } = await migrated(t)
  const child = start(['import', '-', '--report', 'all'], { DATABASE_URL: url })
  const ended = endOf(child)
  child.stdin.on('error', () => {})
  child.stdin.write(ndjsonOf([{ name: 'Ann', email: 'ann@example.org' }]))
  await once(child.stdout, 'data')
  await rm(url.slice('sqlite:'.length))
  child.stdin.end(ndjsonOf([{ name: 'Bob', email: 'bob@example.org' }]))
  t.match(await ended, {
    code: 3,
    out: /^line 1: created: usr_\w{26}\n$/,
    err: 'Stopped after line 1: created 1, updated 0, skipped 0, refused 0. ' +
      'To go on, run it again with --on-conflict skip.\n' +
      'the database file was deleted or replaced: to open one that is in its place, stop the process, delete the ' +
      '-wal and -shm of the old one, and start it again\n'
  })
})

test('asks for the format of a table from standard input', async (t) => {
  const { url } = await migrated(t)
  const child = start(['import', '-'], { DATABASE_URL: url })
  child.stdin.end('name,email\nAnn,ann@example.org\n')
  t.strictSame(await endOf(child), {
    code: 1,
    signal: null,
    out: 'created 0, updated 0, skipped 0, refused 2\n',
    err: '2 × The line is not well-formed JSON.: line 1, line 2\n' +
      'If these are the lines of a table, pass --format csv.\n2 users were refused\n'
  })
})

test('an import that ends early does not wait for the rest of its input', async (t) => {
  const { url } = await migrated(t)
  const child = start(['import', '-', '--fail-fast'], { DATABASE_URL: url })
  child.stdin.on('error', () => {})
  child.stdin.write('{}\n')
  t.match(await endOf(child), { code: 1, signal: null })
})

const UNREADABLE = '/proc/self/mem'
const skip = !existsSync(UNREADABLE) && 'this machine has no file that can be opened and not be read'

test('a file that can be opened and not be read is no wrong usage', { skip }, async (t) => {
  const { cli } = await migrated(t)
  t.strictSame(await cli('import', UNREADABLE), { code: 1, out: '', err: 'the file cannot be read (EIO)\n' })
})

test('a reader that has enough, such as head, does not end the import', async (t) => {
  const { url, open } = await migrated(t)
  const file = join(await temporaryDirectory(t), 'users.ndjson')
  await writeFile(file, ndjsonOf(Array.from({ length: 5000 }, (_, n) => ({ name: 'U', email: `u${n}@example.org` }))))
  const child = start(['import', file, '--report', 'all'], { DATABASE_URL: url })
  child.stdout.once('readable', () => child.stdout.destroy())
  t.match(await endOf(child), { code: 0, signal: null })
  const storage = open()
  t.equal((await storage.users.list(everyone, { order: 'asc', limit: 1, from: { offset: 0 } })).total, 5000)
  await storage.close()
})

test('how far it is, in words', async (t) => {
  for (const [done, part, seconds, text] of [
    [0, null, 0, '0 users  0/s'],
    [1200, 0.33, 2, '########----------------  33 %  1,200 users  600/s  0:05 left'],
    [10, 0.001, 10, '------------------------  0 %  10 users  1/s  2:46:30 left'],
    [10, 0, 1, '------------------------  0 %  10 users  10/s'],
    [5000, 1, 0.5, '########################  100 %  5,000 users  10,000/s  0:00 left']
  ] as const) t.equal(progressText(done, part, seconds), text)
})
