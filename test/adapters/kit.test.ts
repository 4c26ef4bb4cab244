// The conformance kit is tested too: it passes a plain store that is right, and fails each of many with one mistake, by the duty that is there to find it.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { testStorage, type TestStorageOptions } from '../../adapters/testing/index.ts'
import { memory } from '../../adapters/memory/index.ts'
import { brokenStore, MISTAKES, type Mistake } from '../helpers/broken-store.ts'
import { plainNode } from '../helpers/plain-node.ts'

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
  t.equal(report, 'fastify-users/testing: broken: 80 duties passed, 0 failed; the store declares unsupported: transactions (6 duties)')
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

/** The cases of a kit on stores that are made so, by their names, and what it reports. */
function casesOn (create: TestStorageOptions['create']): { cases: Map<string, () => Promise<void>>, lines: string[] } {
  const cases = new Map<string, () => Promise<void>>()
  const lines: string[] = []
  testStorage({ test: (name, run) => cases.set(name, run), create, report: (line) => lines.push(line) })
  return { cases, lines }
}

const FIND = 'findUser: any text that is no user’s id finds nobody'

test('its report is right whatever order the cases run in, and of those that were chosen', async (t) => {
  const all = casesOn(() => memory())
  await Promise.all([...all.cases.values()].reverse().map((run) => run()))
  t.strictSame(all.lines, ['fastify-users/testing: memory: 80 duties passed, 0 failed; the store declares unsupported: transactions (6 duties)'])
  const some = casesOn(() => memory())
  for (const name of [FIND, 'report']) await some.cases.get(name)?.()
  t.strictSame(some.lines, ['fastify-users/testing: memory: 1 duties passed, 0 failed; the store declares nothing unsupported'])
})

test('what can only fail everywhere says why, and what went wrong first is what is told', async (t) => {
  const { findUser, ...incomplete } = memory()
  const closing = { close: async () => { throw new Error('could not close') } }
  const used = memory()
  await used.createApiKey({ id: 'key_1', name: 'x', scopes: [], start: 'x', digest: 'x', createdAt: '', expiresAt: null, revokedAt: null, lastUsedAt: null, rotatedFrom: null, lifetime: null }, { onlyFirst: false })
  const rows: Array<[TestStorageOptions['create'], RegExp]> = [
    [() => { throw new Error('no place for a store') }, /^no place for a store$/],
    [() => JSON.parse('{}', () => incomplete), /the store lacks these members of the interface/],
    [() => used, /create\(\) must give an empty store, apart from all others/],
    [() => ({ ...memory(), ...closing, findUser: async () => { throw new Error('the real cause') } }), /^the real cause$/],
    [() => ({ ...memory(), ...closing }), /^could not close$/],
    [() => ({ storage: { ...memory(), ...closing, findUser: async () => { throw new Error('the real cause') } }, destroy: async () => { throw new Error('could not clear') } }), /^the real cause$/],
    [() => ({ storage: memory(), destroy: async () => { throw new Error('could not clear') } }), /^could not clear$/]
  ]
  t.type(findUser, 'function')
  for (const [create, message] of rows) {
    const { cases, lines } = casesOn(create)
    await t.rejects(cases.get(FIND)?.() ?? Promise.resolve(), { message })
    await cases.get('report')?.()
    t.match(lines, [/: 0 duties passed, 1 failed; /])
  }
})

test('what was made for a case is cleared away after it, passed or not', async (t) => {
  for (const findUser of [memory().findUser, async () => { throw new Error('broken') }]) {
    const seen: string[] = []
    const { cases } = casesOn(() => ({ storage: { ...memory(), findUser, close: async () => { seen.push('close') } }, destroy: async () => seen.push('destroy') }))
    await cases.get(FIND)?.().catch(() => {})
    t.strictSame(seen, ['close', 'destroy'])
  }
})

const ROOT = join(import.meta.dirname, '..', '..')
const RUNNERS = {
  tap: { file: 'tap.mjs', args: [join('test', 'runners', 'tap.mjs')], passed: /^1\.\.87$/m, failed: /^# \{ total: 87, pass: 66, fail: 21 \}$/m },
  'node:test': { file: 'node-test.mjs', args: ['--test', '--test-reporter=tap', join('test', 'runners', 'node-test.mjs')], passed: /^# pass 87$/m, failed: /^# pass 66\n# fail 21$/m },
  vitest: {
    file: 'vitest.mjs',
    args: [join('node_modules', 'vitest', 'vitest.mjs'), 'run', '--config', join('test', 'runners', 'vitest.config.mjs')],
    passed: /Tests {2}87 passed \(87\)/,
    failed: /Tests {2}21 failed \| 66 passed \(87\)/
  }
}

test('it runs unchanged under tap, node:test and vitest', async (t) => {
  const texts = await Promise.all(Object.entries(RUNNERS).map(async ([name, { file }]) => (await readFile(join(ROOT, 'test', 'runners', file), 'utf8')).replace(`'${name}'`, 'RUNNER')))
  t.equal(new Set(texts).size, 1, 'the three files differ in the name of the runner alone')
  // What this process's own runner left in the environment is not the child's.
  const run = (args: readonly string[], env: NodeJS.ProcessEnv) => new Promise<{ code: unknown, output: string }>((resolve) => {
    execFile(...plainNode(...args), { cwd: ROOT, env: { PATH: process.env['PATH'], NO_COLOR: '1', ...env } }, (error, stdout, stderr) => resolve({ code: error?.code ?? 0, output: stdout + stderr }))
  })
  for (const [name, { args, passed, failed }] of Object.entries(RUNNERS)) {
    const good = await run(args, {})
    t.equal(good.code, 0, name)
    t.match(good.output, passed)
    t.match(good.output, 'fastify-users/testing: memory: 80 duties passed, 0 failed; the store declares unsupported: transactions (6 duties)')
    const bad = await run(args, { BROKEN: '1' })
    t.equal(bad.code, 1, `${name} fails a store that is wrong`)
    t.match(bad.output, failed)
  }
})
