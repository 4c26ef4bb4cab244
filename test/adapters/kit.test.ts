// The conformance kit is tested too: it passes a plain store that is right, and fails each of many with one mistake, by the duty that is there to find it.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { testStorage } from '../../adapters/testing/index.ts'
import { brokenStore, MISTAKES, type Mistake } from '../helpers/broken-store.ts'

/** Runs the whole kit on a store, and gives the names of the duties that failed, and the report. */
async function failuresOf (mistake: Mistake | null): Promise<{ failed: string[], report: string }> {
  const cases: Array<{ name: string, run: () => Promise<void> }> = []
  let report = ''
  testStorage({ test: (name, run) => cases.push({ name, run }), create: () => brokenStore(mistake), report: (line) => { report += line } })
  const failed: string[] = []
  for (const { name, run } of cases) await run().catch(() => failed.push(name))
  return { failed, report }
}

test('a plain store that is right passes', async (t) => {
  const { failed, report } = await failuresOf(null)
  t.strictSame(failed, [])
  t.equal(report, 'fastify-users/testing: broken: 71 duties passed, 0 failed; the store declares unsupported: transactions')
})

test('every broken store fails, by the duty meant for it', async (t) => {
  const rows = Object.entries(MISTAKES)
  t.ok(rows.length >= 25)
  for (const mistake of Object.keys(MISTAKES).filter((name): name is Mistake => name in MISTAKES)) {
    const { failed, report } = await failuresOf(mistake)
    t.ok(failed.includes(MISTAKES[mistake]), `${mistake}: ${failed.length} duties failed`)
    t.match(report, `${failed.length} failed`)
  }
})

const ROOT = join(import.meta.dirname, '..', '..')
const RUNNERS = {
  tap: { file: 'tap.mjs', args: [join('test', 'runners', 'tap.mjs')], passed: /^1\.\.72$/m, failed: /^# \{ total: 72, pass: 56, fail: 16 \}$/m },
  'node:test': { file: 'node-test.mjs', args: ['--test', join('test', 'runners', 'node-test.mjs')], passed: /^# pass 72$/m, failed: /^# pass 56\n# fail 16$/m },
  vitest: {
    file: 'vitest.mjs',
    args: [join('node_modules', 'vitest', 'vitest.mjs'), 'run', '--config', join('test', 'runners', 'vitest.config.mjs')],
    passed: /Tests {2}72 passed \(72\)/,
    failed: /Tests {2}16 failed \| 56 passed \(72\)/
  }
}

test('it runs unchanged under tap, node:test and vitest', async (t) => {
  const texts = await Promise.all(Object.entries(RUNNERS).map(async ([name, { file }]) => (await readFile(join(ROOT, 'test', 'runners', file), 'utf8')).replace(`'${name}'`, 'RUNNER')))
  t.equal(new Set(texts).size, 1, 'the three files differ in the name of the runner alone')
  // What this process's own runner left in the environment is not the child's.
  const run = (args: readonly string[], env: NodeJS.ProcessEnv) => new Promise<{ code: unknown, output: string }>((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT, env: { PATH: process.env['PATH'], NO_COLOR: '1', ...env } }, (error, stdout, stderr) => resolve({ code: error?.code ?? 0, output: stdout + stderr }))
  })
  for (const [name, { args, passed, failed }] of Object.entries(RUNNERS)) {
    const good = await run(args, {})
    t.equal(good.code, 0, name)
    t.match(good.output, passed)
    t.match(good.output, 'fastify-users/testing: memory: 71 duties passed, 0 failed; the store declares unsupported: transactions')
    const bad = await run(args, { BROKEN: '1' })
    t.equal(bad.code, 1, `${name} fails a store that is wrong`)
    t.match(bad.output, failed)
  }
})
