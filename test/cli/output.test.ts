// Standard output that is closed or cannot be written: the built program ends quietly, or says what is lost.
import { spawn } from 'node:child_process'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { endOf, migrated, programOf, serverOn } from '../helpers/cli.ts'
import { from } from '../helpers/level.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

interface Ended { code: number | null, err: string }

/** A database with tables, and the program on it with an output that refuses what is written. */
async function withDatabase (t: Test) {
  const database = await migrated(t)
  const env = { PATH: String(process.env['PATH']), DATABASE_URL: database.url }
  const file = join(await temporaryDirectory(t), 'user.ndjson')
  await writeFile(file, '{"name":"Ann","email":"ann@example.org"}\n')

  async function ended (stdout: 'pipe' | number, stderr: 'pipe' | number, args: readonly string[]): Promise<Ended> {
    const child = spawn(...programOf(args), { env, stdio: ['ignore', stdout, stderr] })
    child.stdout?.destroy()
    const { code, err } = await endOf(child)
    return { code, err }
  }
  // What is opened for reading alone cannot be written: EBADF.
  const unwritable = await open(file, 'r')
  t.teardown(() => unwritable.close())
  /** As a shell starts it with `>&-`. */
  async function absent (...args: string[]): Promise<Ended> {
    const [command, given] = programOf(args)
    const { code, err } = await endOf(spawn('sh', ['-c', 'exec "$@" >&-', 'sh', command, ...given], { env }))
    return { code, err }
  }

  return {
    ...database,
    file,
    absent,
    closed: (...args: string[]) => ended('pipe', 'pipe', args),
    full: (...args: string[]) => ended(unwritable.fd, 'pipe', args),
    silenced: (...args: string[]) => ended('pipe', unwritable.fd, args)
  }
}

const isNight = from('nightly') === false
// Each of the ways in which answers are written: texts that come in parts, tables, values, lines, and the help.
const ANSWERS = [
  ['export'], ['keys', 'list'],
  ...isNight ? [['keys', 'list', '--json'], ['check'], ['migrate', 'status'], ['--help']] : []
]

test('ends quietly if the reader of the answer has enough, such as head', async (t) => {
  const { closed, cli, file, open } = await withDatabase(t)
  const app = await serverOn(t, { open }, { eventLog: true })
  await app.users.create({ name: 'Bob', email: 'bob@example.org' })
  for (const args of [...ANSWERS, ['events', 'tail', '--follow'], ['import', file]]) {
    t.strictSame(await closed(...args), { code: 0, err: '' }, args.join(' '))
  }
  t.match((await cli('export')).out, /Ann/, 'an import goes on')
  t.match(await closed('check', '--filterable', 'plan', '--json'), { code: 1, err: /have no index/ })
})

test('says that standard output cannot be written', async (t) => {
  const { full, silenced, file } = await withDatabase(t)
  for (const args of [
    ['import', file], ['import', file, '--report', 'all'], ...ANSWERS, ['--version']
  ]) t.strictSame(await full(...args), { code: 1, err: 'standard output cannot be written (EBADF)\n' }, args.join(' '))
  t.match(await silenced('keys', 'revoke', 'key_x'), { code: 1 }, 'nobody can be told')
})

test('says which key or webhook was made if its secret could not be written, and what to do', async (t) => {
  const { full, closed, absent, cli } = await withDatabase(t)
  const idOf = ({ err }: Ended) => /(?:key|whk)_\w{26}/.exec(err)?.[0] ?? 'no id'
  const lost = (id: string) =>
    `${id} was created, but the key itself is lost: revoke it with fastify-users keys revoke ${id}\n`
  for (const more of isNight ? [[], ['--json']] : [['--json']]) {
    for (const [made, why] of [
      [await closed('keys', 'create', '--name', 'ci', ...more), ''],
      [await absent('keys', 'create', '--name', 'ci', ...more), ''],
      [await full('keys', 'create', '--name', 'ci', ...more), 'standard output cannot be written (EBADF)\n']
    ] as const) {
      t.equal(made.code, 1)
      const id = idOf(made)
      t.equal(made.err.slice(more.length === 0 ? made.err.indexOf('now:\n') + 5 : 0), why + lost(id))
      t.match(await cli('keys', 'revoke', id), { code: 0 })
    }
    const { id } = JSON.parse((await cli('keys', 'create', '--name', 'old', '--json')).out)
    const rotated = await closed('keys', 'rotate', id, ...more)
    t.match(rotated, { code: 1, err: `${idOf(rotated)} was created, but the key itself is lost` })
    t.not(idOf(rotated), id)
    const target = ['--url', 'http://127.0.0.1:1/', '--allow-http', '--allow-networks', '127.0.0.0/8']
    const webhook = await closed('webhooks', 'create', ...target, ...more)
    t.equal(webhook.code, 1)
    t.ok(webhook.err.endsWith(`${idOf(webhook)} was created, but its secret is lost: ` +
      `create another with POST /webhooks/${idOf(webhook)}/rotate-secret\n`), webhook.err)
  }
})
