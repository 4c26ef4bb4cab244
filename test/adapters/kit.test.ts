// The conformance kit passes stores that are right, and tells an author what to do about one that is not.
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { knexStorage } from '../../adapters/knex/index.ts'
import type { Created, TestStorageOptions } from '../../adapters/testing/index.ts'
import { add, make, nth } from '../../adapters/testing/rows.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { reportOf } from '../../adapters/testing/report.ts'
import { missingFrom } from '../../lib/storage/storage-rules.ts'
import { DUTIES, KIT_TESTS, passedReport, registered, REPORT_TEST, transactionsOf } from '../helpers/kit.ts'
import { sqliteHost } from '../helpers/sqlite.ts'

type Create = TestStorageOptions['create']

const FIND = 'find: rows come in the order of the keys, as often as they are asked for, and null for none'

/** Runs one duty, then the report. */
async function runOne (create: Create, duty = FIND, options: Partial<TestStorageOptions> = {}) {
  const { tests, lines } = registered(create, options)
  const runOf = (wanted: string) => tests.find(({ name }) => name === wanted)?.run()
  const error: unknown = await runOf(duty)?.then(() => null, (reason: unknown) => reason)
  const reportError: unknown = await runOf(REPORT_TEST)?.then(() => null, (reason: unknown) => reason)
  return { error, reportError, lines }
}

/** The memory store with other members. */
const withMembers = (members: object) => (): Storage => ({ ...memory(), ...members })
const failing = (message: string) => async () => { throw new Error(message) }

test('every method of the interface has a duty', async (t) => {
  const named = new Set(DUTIES.flatMap((duty) => (duty.split(': ')[0] ?? '').split(', ')))
  t.strictSame(missingFrom({ name: 'x' }).filter((method) => !named.has(method)), [])
  t.equal(new Set(KIT_TESTS).size, KIT_TESTS.length, 'no name is used twice')
})

test('passes a store that is right, in whatever order the duties run, and says so', async (t) => {
  const { tests, lines } = registered(memory, { records: 100, timeoutMs: 300_000 /* All run at the same time. */ })
  await Promise.all(tests.toReversed().map(({ run }) => run()))
  t.equal(lines.length, 2)
  t.match(lines[0], passedReport('memory', { transactions: false }))
  t.match(lines[1], /^For the README of the adapter: passes the conformance kit of fastify-users \d+\.\d+\.\d+: \d+ /)
  t.match(lines[1], ' duties, without transactions')
  const { lines: [one] } = await runOne(memory, FIND, { seed: 7 })
  t.match(one, /^fastify-users\/testing: memory: 1 duties passed, 0 failed, 0 not reached; \d+\.\d s, seed 7$/)
})

test('methods that are not written yet fail no duty but the report, which names them', async (t) => {
  const create = () => {
    const { name, open, close, users: { find } } = memory()
    return { name, open, close, users: Object({ find }) }
  }
  const { tests, lines } = registered(create)
  const failed: string[] = []
  for (const { name, run } of tests) await run().catch(() => failed.push(name))
  t.strictSame(failed, [REPORT_TEST])
  t.match(lines[0], / duties passed, 0 failed, [1-9]\d+ not reached \(no .*commit/)
  const { error, reportError, lines: one } = await runOne(() => ({ name: 'begun' }))
  t.equal(error, null)
  t.match(one[0], /begun: 0 duties passed, 0 failed, 1 not reached \(no commit, /)
  t.match(reportError, { message: /^the store has no .*commit.* yet: it must have every method/ })
})

test('says what to do about a store that can only fail', async (t) => {
  const used = memory()
  await make(used, [add('users', nth.users(1))])
  const rows: Array<[Create, RegExp]> = [
    [() => { throw new Error('could not make a store') }, /^could not make a store/],
    [() => Object({}).nothing, /^create\(\) gave undefined: return the store, or \{ storage, begin, destroy \}/],
    [withMembers({ name: undefined }), /^the store needs a `name`/],
    [() => used, /^create\(\) must give an empty store, apart from all others/],
    [withMembers({ close: failing('could not close') }), /^close threw Error: could not close/],
    [withMembers({ find: failing('the cause'), close: failing('could not close') }), /^find threw Error: the cause/],
    [() => ({ storage: memory(), destroy: failing('could not remove the store') }), /^could not remove the store/]
  ]
  for (const [create, message] of rows) {
    const { error, lines } = await runOne(create)
    t.match(error, { message })
    t.match(lines, [/: 0 duties passed, 1 failed, /])
  }
})

test('says which rule of every method is broken', async (t) => {
  const rows: Array<[object, RegExp]> = [
    [{ find: failing('E11000') }, /^find threw Error: E11000[^]*StorageError[^]*Translate/],
    [{ find () { throw new StorageError('fault', 'x') } }, /^find threw synchronously: it must return/],
    [{ find: () => null }, /^find returned null: it must return a promise/],
    [{ find: async () => [new Date(0)] }, /^the result of find\.0 is an object of Date, no plain one/],
    [{ find: async () => [{ id: undefined }] }, /^the result of find\.0\.id is undefined/],
    [{ close: async () => true }, /^close resolved to true/],
    [{ find: async (_of: string, [{ id }]: [{ id: string }]) => { throw new StorageError('fault', `no ${id}`) } },
      /has a value that was given/],
    [{ find: async () => { throw new StorageError('fault', 'SELECT * FROM users') } }, /has SQL in its message/],
    [{ commit: async () => { throw new StorageError('email_taken', 'x') } }, /^commit threw email_taken: what refuses/],
    [{ commit: async (units: unknown[]) => { units.pop(); return [] } }, /^commit threw TypeError/]
  ]
  for (const [members, message] of rows) t.match((await runOne(withMembers(members))).error, { message })
})

test('names the order of calls, the reason of a rejection and the code of the driver', async (t) => {
  const find = async () => { throw new StorageError('unavailable', 'busy', { driverCode: '40001' }) }
  const { error } = await runOne(withMembers({ find }))
  t.match(String(Object(error).message), new RegExp('^busy\nthe last calls \\(>\\) and their answers \\(<\\):\n' +
    '[^]* {2}> \\d+ commit \\[users …000003: none → 1 user3@example\\.org, [^]*' +
    ' {2}< \\d+ find threw unavailable \\(40001\\): busy$'))
})

test('a duty that does not end is ended, and says what it waits for', async (t) => {
  const never = async () => new Promise<never>(() => {})
  const { error } = await runOne(withMembers({ find: never }), FIND, { timeoutMs: 50 })
  t.match(error, { message: /^the duty did not end within 50 ms: it still waits for \d+ find\('users', / })
})

test('a random history that fails is shortened to operations, with its seed', async (t) => {
  const create = () => {
    const store = memory()
    // Forgets the address of a user that was changed.
    const commit: Storage['commit'] = (units) => store.commit(units.map((unit) => ({
      ...unit,
      writes: unit.writes.map((write) => write.in === 'users' && write.put !== null && write.was !== null
        ? { ...write, put: { ...write.put, record: { ...write.put.record, email: 'gone' } } }
        : write)
    })))
    return { ...store, commit }
  }
  const { error } = await runOne(create, DUTIES.find((duty) => duty.startsWith('histories')), { seed: 3 })
  const message = String(Object(error).message)
  t.match(message, /^with the seed 3, after these operations what .* is not what memory\(\) has/)
  t.match(message, /\nawait repository\.users\.write[^]*type: 'update'[^]*expected: [^]*got: {6}/)
  t.ok(message.split('await repository.').length <= 4, 'two operations are enough')
})

test('closes and destroys a store after each duty, whether it passed or failed', async (t) => {
  for (const find of [memory().find, failing('broken')]) {
    const calls: string[] = []
    const storage = { ...memory(), find, close: async () => { calls.push('close') } }
    await runOne(() => ({ storage, destroy: async () => calls.push('destroy') }))
    t.strictSame(calls, ['close', 'destroy'])
  }
})

test('a transaction that a failed duty has left open is rolled back', async (t) => {
  let rollbacks = 0
  const create = (): Created => {
    const host = sqliteHost(':memory:')
    const begin = async () => {
      const begun = await transactionsOf(host)()
      return { ...begun, rollback: async () => begun.rollback().finally(() => { rollbacks++ }) }
    }
    const storage = knexStorage(host)
    const join: Storage['join'] = (transaction) =>
      ({ ...storage.join(transaction), commit: async () => { throw new StorageError('fault', 'no unit') } })
    return { storage: { ...storage, join }, begin, destroy: () => host.destroy() }
  }
  const { error } = await runOne(create, 'join: gives a whole store, which closes nothing')
  t.match(error, { code: 'fault' })
  t.equal(rollbacks, 1)
})

test('a read that fails while a duty writes fails that duty, and nothing else of the process', async (t) => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => { unhandled.push(reason) }
  process.prependListener('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const create = () => {
    const store = memory()
    const read = async () => { throw new StorageError('unavailable', 'no log') }
    return { ...store, log: Object({ ...store.log, read }) }
  }
  const duty = DUTIES.find((name) => name.startsWith('log.read: whoever reads on'))
  const run = registered(create).tests.find(({ name }) => name === duty)?.run
  const error = await run?.().then(() => null, (reason: unknown) => reason)
  t.match(error, { code: 'unavailable' })
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(unhandled, [])
})

test('the quick kit has every duty once, says how many have ended, and is no proof for a README', async (t) => {
  const progress: string[] = []
  // Without its methods, so that every duty ends immediately.
  const create = () => ({ name: 'memory' })
  const { tests, lines } = registered(create, { quick: true, progress: (line) => progress.push(line) })
  const once = KIT_TESTS.filter((name) => !name.startsWith('join: inside a transaction'))
  t.strictSame(tests.map(({ name }) => name), once)
  for (const { run } of tests.slice(0, -1)) await run()
  const duties = tests.length - 1
  const ends = Array.from({ length: 10 }, (_, i) => Math.ceil(duties * (i + 1) / 10))
  t.strictSame(progress, ends.map((ended) => `fastify-users/testing: memory: ${ended} of ${duties} duties`))
  t.match(lines[0], /, seed 1, quick$/)
  const all = {
    registered: 1, started: 1, ended: 1, passed: 1, unsupported: 0, notReached: 0, missing: new Set<string>()
  }
  t.equal(reportOf(all, { name: 'memory', version: '1.0.0', seconds: 1, seed: 1, quick: true }).length, 1)
})

test('takes no fewer records than lists need, and passes right stores with any number', async (t) => {
  const long = DUTIES.filter((duty) => /\blong\b|many units of one call|as many rows/.test(duty))
  for (const { name, run } of registered(memory, { records: 599 }).tests) {
    if (long.includes(name)) await t.resolves(run(), name)
  }
  for (const records of [0, 99, 100.5, NaN]) {
    t.throws(() => registered(memory, { records }), { message: 'records must be a whole number of at least 100' })
  }
})
