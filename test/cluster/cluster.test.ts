// npm run test:cluster on the suite's own PostgreSQL, where a few of its parts are enough: it says what it has run.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { test } from 'tap'
import { plainNode } from '../helpers/plain-node.ts'
import { pgUrl } from '../helpers/stores.ts'
import { suite } from './contract.mjs'

const ROOT = join(import.meta.dirname, '..', '..')

function run (...args: string[]): Promise<{ code: unknown, output: string }> {
  return new Promise((resolve) => {
    execFile(...plainNode(join('test', 'cluster', 'run.mjs'), ...args), { cwd: ROOT }, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, output: stdout + stderr })
    })
  })
}

test('runs on a server, and ends with a line for the docs', { timeout: 300_000 }, async (t) => {
  const { code, output } = await run(pgUrl(), '--only', 'processes,mounts')
  t.equal(code, 0, output)
  t.match(output, /^PostgreSQL 18\.[\w.]+: profile classic/)
  t.match(output, /^processes: (\d+) passed, 0 failed, \d+ s\nmounts: not run, since the server is no Citus/m)
  t.match(output, /\n\| PostgreSQL \| 18\.[\w.]+ \| \d{4}-\d\d-\d\d \| classic \| processes (\d+) of \1 \|\n$/)
})

test('counts every test, and fails where the process does', async (t) => {
  const directory = await mkdtemp(join(ROOT, '.build', 'cluster-'))
  t.teardown(() => rm(directory, { recursive: true }))
  const path = join(relative(ROOT, directory), 'some.test.ts')
  const server = { connection: pgUrl(), prefix: 't_' }
  const said: string[] = []
  const suiteOf = async (text: string) => {
    await writeFile(join(ROOT, path), `import { test } from 'tap'\n${text}`)
    return suite(server, [path], (line) => { said.push(line) })
  }
  const two = "test('reads', async (t) => { t.pass() })\ntest('reads on postgres', async (t) => { t.pass() })\n"
  t.strictSame(await suiteOf(two), { passed: 2, failed: 0 })
  t.strictSame(await suiteOf(`${two}test('fails', async (t) => { t.fail('wrong') })\n`), { passed: 2, failed: 1 })
  t.match(said.splice(0), ['failed: fails', /wrong/])
  t.strictSame(await suiteOf(`${two}process.on('exit', () => { process.exitCode = 3 })\n`), { passed: 2, failed: 1 })
  t.match(said, [/^failed: the process ended with [1-9]/])
})

test('says how it is called', async (t) => {
  for (const args of [[], [pgUrl(), '--only', 'kit,all'], [pgUrl(), '--kill-worker', 'true']]) {
    t.match(await run(...args), { code: 2, output: /^Usage: npm run test:cluster -- postgres:/ })
  }
})
