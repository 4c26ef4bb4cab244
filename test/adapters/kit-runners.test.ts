// The conformance kit runs unchanged under three test runners, each in a process of its own.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { KIT_TESTS, passedReport, registered } from '../helpers/kit.ts'
import { plainNode } from '../helpers/plain-node.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const RUNNERS = join('test', 'runners')
const TOTAL = KIT_TESTS.length

/** How each is run, what it prints if every test passes, and what if so many fail. */
const runners: Record<string, { args: readonly string[], passed: string, failed: (count: number) => string }> = {
  tap: {
    args: [join(RUNNERS, 'tap.mjs')],
    passed: `\n1..${TOTAL}\n`,
    failed: (count) => `\n# { total: ${TOTAL}, pass: ${TOTAL - count}, fail: ${count} }\n`
  },
  'node:test': {
    args: ['--test', '--test-reporter=tap', join(RUNNERS, 'node-test.mjs')],
    passed: `\n# pass ${TOTAL}\n`,
    failed: (count) => `\n# pass ${TOTAL - count}\n# fail ${count}\n`
  },
  vitest: {
    args: [join('node_modules', 'vitest', 'vitest.mjs'), 'run', '--config', join(RUNNERS, 'vitest.config.mjs')],
    passed: `Tests  ${TOTAL} passed (${TOTAL})`,
    failed: (count) => `Tests  ${count} failed | ${TOTAL - count} passed (${TOTAL})`
  }
}

/** Runs a program without what this process's own runner left in the environment. */
function run (args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ code: unknown, output: string }> {
  const options = { cwd: ROOT, env: { PATH: process.env['PATH'], NO_COLOR: '1', TAP_TIMEOUT: '600', ...env } }
  return new Promise((resolve) => {
    execFile(...plainNode(...args), options, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, output: stdout + stderr })
    })
  })
}

/** How many tests fail on the broken store of test/runners/. */
async function countFailures (): Promise<number> {
  const { tests } = registered(() => ({ ...memory(), find: async (_name, keys) => keys.map(() => null) }))
  const results = await Promise.allSettled(tests.map(({ run }) => run()))
  return results.filter(({ status }) => status === 'rejected').length
}

const failuresOfBroken = countFailures()

for (const [name, { args, passed, failed }] of Object.entries(runners)) {
  test(`passes a right store and fails a broken one under ${name}`, async (t) => {
    const right = await run(args, {})
    t.equal(right.code, 0)
    t.match(right.output, passed)
    t.match(right.output, passedReport('memory', { transactions: false }))
    const count = await failuresOfBroken
    t.ok(count > 0)
    const broken = await run(args, { BROKEN: '1' })
    t.equal(broken.code, 1)
    t.match(broken.output, failed(count))
  })
}
