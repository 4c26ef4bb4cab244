// fastify-users adopt and import: what a report shows of keys and text of others, and how an interruption ends them.
import { type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { endOf, migrated, start } from '../helpers/cli.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

test('names rows by keys of bytes in a form that --after takes', async (t) => {
  const { execute, cli } = await migrated(t)
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
  const { execute, cli } = await migrated(t)
  await execute('CREATE TABLE people (code TEXT PRIMARY KEY, mail TEXT)')
  await execute("INSERT INTO people VALUES ('\u001b]0;x\u0007\n9\u2028é\u{e0001}', 'none')")
  const adopt = ['adopt', '--table', 'people', '--key', 'code', '--map', 'name=mail,email=mail']
  const key = '\\u001b]0;x\\u0007\\u000a9\\u2028é\\U000e0001'
  t.strictSame(await cli(...adopt), {
    code: 1,
    out: 'created 0, updated 0, skipped 0, refused 1\n',
    err: `1 × email must be an e-mail address: ${key}\nthe last code: ${key}\n1 user was refused\n`
  })
  const named = await cli(...adopt, '--report', 'faults')
  t.match(named.out, `code ${key}: refused: email must be an e-mail address: it has no @\n`)
  const file = join(await temporaryDirectory(t), 'users.ndjson')
  await writeFile(file, `${JSON.stringify({ name: 'A', email: 'a@example.org', '\u001b[2J': 1 })}\n`)
  t.match((await cli('import', file, '--report', 'faults')).out, /^line 1: refused: \\u001b\[2J is /)
})

/** Interrupts the program when it writes. Its output is read only afterwards. */
async function interrupted (child: ChildProcessWithoutNullStreams, signal: 'SIGINT' | 'SIGTERM') {
  await once(child.stdout, 'readable')
  child.kill(signal)
  return endOf(child)
}

test('Ctrl+C ends an adoption behind the rows that were read, with its numbers and the last key', async (t) => {
  const { url, execute, cli } = await migrated(t)
  const count = 10_000
  await execute('CREATE TABLE people (id INTEGER PRIMARY KEY, mail TEXT)')
  await execute(`INSERT INTO people WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    SELECT i, i || 'p@example.org' FROM n`)
  const adopt = ['adopt', '--table', 'people', '--map', 'name=mail,email=mail']
  // It waits for its reader after some thousand lines.
  const ended = await interrupted(start([...adopt, '--report', 'all'], { DATABASE_URL: url }), 'SIGINT')
  const last = Number(/\ncreated (\d+), updated 0, skipped 0, refused 0\n$/.exec(ended.out)?.[1])
  t.ok(last > 0 && last < count, `ended behind ${last}`)
  t.strictSame({ ...ended, out: '' },
    {
      code: 1,
      signal: null,
      out: '',
      err: `the last id: ${last}\ninterrupted after id ${last}: the rest was not imported. ` +
        'To go on, run it again with --after and the last key.\n'
    })
  t.match(await cli(...adopt, '--after', String(last)),
    { code: 0, out: `created ${count - last}, updated 0, skipped 0, refused 0\n` })
})

test('Ctrl+C and SIGTERM end an import that waits for more input', async (t) => {
  const { url, cli } = await migrated(t)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const child = start(['import', '-', '--report', 'all'], { DATABASE_URL: url })
    // It stays open.
    child.stdin.write(`${JSON.stringify({ name: 'A', email: `${signal}@example.org` })}\n`)
    t.match(await interrupted(child, signal), {
      code: 1,
      out: /^line 1: created: usr_\w+\ncreated 1, updated 0, skipped 0, refused 0\n$/,
      err: 'interrupted after line 1: the rest was not imported. To go on, run it again with --on-conflict skip.\n'
    }, signal)
  }
  t.equal((await cli('export')).out.split('\n').length, 3)
})
