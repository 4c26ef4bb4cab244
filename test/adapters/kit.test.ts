// The conformance kit is tested too: it passes a plain store that is right, and fails each store with one planted
// mistake, by the duty that is there to find it.
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import type { TestStorageOptions } from '../../adapters/testing/index.ts'
import { METHODS } from '../../lib/core/storage-rules.ts'
import { brokenStore } from '../helpers/broken-stores/index.ts'
import { MISTAKES_BY_DUTY } from '../helpers/broken-stores/mistakes.ts'
import { DUTIES, KIT_TESTS, passedReport, registered, REPORT_TEST } from '../helpers/kit.ts'

type Create = TestStorageOptions['create']

const FIND = 'findUser: an unknown id returns null, whatever its text'

/** Runs the whole kit, one test after the other: the names of those that failed, and the report. */
async function failuresOf (create: Create): Promise<{ failed: string[], report: string }> {
  const { tests, lines } = registered(create)
  const failed: string[] = []
  for (const { name, run } of tests) await run().catch(() => failed.push(name))
  return { failed, report: lines.join('\n') }
}

/** Runs one duty, then the report. */
async function runOne (create: Create, duty: string): Promise<{ error: unknown, lines: string[] }> {
  const { tests, lines } = registered(create)
  const runOf = (wanted: string) => tests.find(({ name }) => name === wanted)?.run()
  const error = await runOf(duty)?.then(() => null, (reason: unknown) => reason)
  await runOf(REPORT_TEST)
  return { error, lines }
}

test('every method of the interface has a duty, and no name is used twice', async (t) => {
  const methods = new Set(DUTIES.flatMap((duty) => {
    const [subject = ''] = duty.split(': ')
    return subject.split(', ').map((part) => part.split(' with ')[0])
  }))
  t.strictSame([...methods].sort(), [...METHODS].sort())
  t.equal(new Set(KIT_TESTS).size, KIT_TESTS.length)
  t.equal(KIT_TESTS.at(-1), REPORT_TEST)
})

test('passes a plain store that is right', async (t) => {
  const { failed, report } = await failuresOf(() => brokenStore(null))
  t.strictSame(failed, [])
  t.equal(report, passedReport('broken', { transactions: false }))
})

test('fails every broken store, by the duty that is meant for its mistake', async (t) => {
  for (const [duty, mistakes] of Object.entries(MISTAKES_BY_DUTY)) {
    t.ok(DUTIES.includes(duty), `${duty} is a duty`)
    for (const mistake of mistakes) {
      const { failed, report } = await failuresOf(() => brokenStore(mistake))
      t.ok(failed.includes(duty), `${mistake}: ${failed.length} duties failed`)
      t.match(report, `${failed.length} failed`)
    }
  }
})

test('the report is right in whatever order the duties run, and if only some of them run', async (t) => {
  const all = registered(memory)
  await Promise.all(all.tests.toReversed().map(({ run }) => run()))
  t.strictSame(all.lines, [passedReport('memory', { transactions: false })])
  const { error, lines } = await runOne(memory, FIND)
  t.equal(error, null)
  t.strictSame(lines, [
    'fastify-users/testing: memory: 1 duties passed, 0 failed; the store declares nothing unsupported'
  ])
})

test('reports the first error, and says why a store can only fail', async (t) => {
  const throwing = (message: string) => async () => { throw new Error(message) }
  const failsToClose = () => ({ ...memory(), close: throwing('could not close') })
  const failsTwice = () => ({ ...failsToClose(), findUser: throwing('the real cause') })
  const destroy = throwing('could not remove the store')
  const { findUser, ...incomplete } = memory()
  t.type(findUser, 'function')
  const used = memory()
  await used.createApiKey({
    id: 'key_1',
    name: 'x',
    scopes: [],
    start: 'x',
    digest: 'x',
    createdAt: '',
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    rotatedFrom: null,
    lifetime: null
  }, { onlyFirst: false })
  const rows: Array<[Create, RegExp]> = [
    [() => { throw new Error('could not make a store') }, /^could not make a store$/],
    [() => JSON.parse('{}', () => incomplete), /the store lacks these members of the interface/],
    [() => used, /create\(\) must give an empty store, apart from all others/],
    [failsTwice, /^the real cause$/],
    [failsToClose, /^could not close$/],
    [() => ({ storage: failsTwice(), destroy }), /^the real cause$/],
    [() => ({ storage: memory(), destroy }), /^could not remove the store$/]
  ]
  for (const [create, message] of rows) {
    const { error, lines } = await runOne(create, FIND)
    t.match(error, { message })
    t.match(lines, [/: 0 duties passed, 1 failed; /])
  }
})

test('closes and destroys a store after each duty, whether it passed or failed', async (t) => {
  for (const findUser of [memory().findUser, async () => { throw new Error('broken') }]) {
    const calls: string[] = []
    const storage = { ...memory(), findUser, close: async () => { calls.push('close') } }
    await runOne(() => ({ storage, destroy: async () => calls.push('destroy') }), FIND)
    t.strictSame(calls, ['close', 'destroy'])
  }
})
