// fastify-users adopt and import: what a report shows of keys and text of others.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { databases, PROGRAM, run } from '../helpers/cli.ts'
import { plainNode } from '../helpers/plain-node.ts'
import { temporaryDirectory } from '../helpers/stores.ts'
import '../helpers/watch-all.ts'

/** A new SQLite file with the tables of the package. */
async function database (t: Test) {
  const [sqlite] = databases
  if (sqlite === undefined) throw new Error('there is no database')
  const made = await sqlite.create(t)
  const env = { DATABASE_URL: made.url }
  await run(['migrate'], env)
  return { ...made, cli: (...args: string[]) => run(args, env) }
}

test('names rows by keys of bytes in a form that --after takes', async (t) => {
  const { execute, cli } = await database(t)
  await execute('CREATE TABLE people (id BLOB PRIMARY KEY, mail TEXT)')
  await execute("INSERT INTO people VALUES (x'00', 'a@example.org'), (x'00ff', 'b'), (x'fe01', 'c@example.org')")
  const adopt = (...args: string[]) => cli('adopt', '--table', 'people', '--map', 'name=mail,email=mail', ...args)
  t.strictSame(await adopt('--dry-run'), {
    code: 1,
    out: 'dry run: created 2, updated 0, skipped 0, refused 1\n',
    err: '1 × email must be an e-mail address: \\x00ff\nthe last id: \\xfe01\n1 user was refused\n'
  })
  t.match(await adopt('--after', '\\x00ff'), { code: 0, out: /^created 1, / })
})

test('a terminal gets no control characters of keys or names of members', async (t) => {
  const { execute, cli } = await database(t)
  await execute('CREATE TABLE people (code TEXT PRIMARY KEY, mail TEXT)')
  await execute("INSERT INTO people VALUES ('\u001b]0;x\u0007\n9\u2028é\u{e0001}', 'none')")
  const adopt = ['adopt', '--table', 'people', '--key', 'code', '--map', 'name=mail,email=mail']
  const key = '\\u001b]0;x\\u0007\\u000a9\\u2028é\\U000e0001'
  const err = '1 user was refused\n'
  t.strictSame(await cli(...adopt), {
    code: 1,
    out: 'created 0, updated 0, skipped 0, refused 1\n',
    err: `1 × email must be an e-mail address: ${key}\nthe last code: ${key}\n${err}`
  })
  const named = await cli(...adopt, '--report', 'faults')
  t.match(named.out, `code ${key}: refused: email must be an e-mail address: it has no @\n`)
  const file = join(await temporaryDirectory(t), 'users.ndjson')
  await writeFile(file, `${JSON.stringify({ name: 'A', email: 'a@example.org', '\u001b[2J': 1 })}\n`)
  t.match((await cli('import', file, '--report', 'faults')).out, /^line 1: refused: \\u001b\[2J is /)
})

/** Runs the program until it writes; `interrupt` is called then. Its output is read only afterwards. */
async function interrupted (
  url: string,
  args: string[],
  interrupt: (child: ChildProcessWithoutNullStreams) => void,
  input = ''
) {
  const [node, given] = plainNode(PROGRAM, ...args)
  const child = spawn(node, given, { env: { PATH: String(process.env['PATH']), DATABASE_URL: url } })
  let [out, err] = ['', '']
  child.stderr.setEncoding('utf8').on('data', (text) => { err += text })
  // It stays open.
  child.stdin.write(input)
  await once(child.stdout, 'readable')
  interrupt(child)
  child.stdout.setEncoding('utf8').on('data', (text) => { out += text })
  const [code, signal] = await once(child, 'close')
  return { code, signal, out, err }
}

test('Ctrl+C ends an adoption behind the rows that were read, with its numbers and the last key', async (t) => {
  const { url, execute, cli } = await database(t)
  const count = 10_000
  await execute('CREATE TABLE people (id INTEGER PRIMARY KEY, mail TEXT)')
  await execute(`INSERT INTO people WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    SELECT i, i || 'p@example.org' FROM n`)
  const adopt = ['adopt', '--table', 'people', '--map', 'name=mail,email=mail']
  // It waits for its reader after some thousand lines.
  const ended = await interrupted(url, [...adopt, '--report', 'all'], (child) => child.kill('SIGINT'))
  const last = Number(/\ncreated (\d+), updated 0, skipped 0, refused 0\n$/.exec(ended.out)?.[1])
  t.ok(last > 0 && last < count, `ended behind ${last}`)
  t.strictSame({ ...ended, out: '' },
    { code: 1, signal: null, out: '', err: `the last id: ${last}\ninterrupted: the rest was not imported\n` })
  t.match(await cli(...adopt, '--after', String(last)),
    { code: 0, out: `created ${count - last}, updated 0, skipped 0, refused 0\n` })
})

test('Ctrl+C and SIGTERM end an import that waits for more input', async (t) => {
  const { url, cli } = await database(t)
  for (const [n, signal] of (['SIGINT', 'SIGTERM'] as const).entries()) {
    const input = `${JSON.stringify({ name: 'A', email: `a${n}@example.org` })}\n`
    const child = interrupted(url, ['import', '-', '--report', 'all'], (child) => child.kill(signal), input)
    t.match(await child, {
      code: 1,
      out: /^line 1: created: usr_\w+\ncreated 1, updated 0, skipped 0, refused 0\n$/,
      err: 'interrupted: the rest was not imported\n'
    }, `${signal} ${n}`)
  }
  t.equal((await cli('export')).out.split('\n').length, 3)
})
