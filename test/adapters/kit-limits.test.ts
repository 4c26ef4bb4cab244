// The limits of the conformance kit's duties, and what becomes of calls that fail while a duty does something else.
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import type { TestStorageOptions } from '../../adapters/testing/index.ts'
import { reportOf } from '../../adapters/testing/report.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { override } from '../helpers/method-store.ts'
import { DUTIES, registered } from '../helpers/kit.ts'
import { until } from '../helpers/until.ts'

/** The error of a duty; null: it passes. */
async function errorOf (
  create: TestStorageOptions['create'],
  duty = '',
  options: Partial<TestStorageOptions> = { timeoutMs: 10_000 }
): Promise<unknown> {
  const run = registered(create, options).tests.find(({ name }) => name === duty)?.run
  if (run === undefined) throw new RangeError(`there is no duty "${duty}"`)
  return run().then(() => null, (reason: unknown) => reason)
}

const never = async () => new Promise<never>(() => {})

async function someTurns (): Promise<void> {
  for (let count = 0; count < 20; count++) await turn()
}

test('each duty that is repeated with events has the whole time, and one that does not end is named', async (t) => {
  const changes = DUTIES.find((duty) => duty.startsWith('eventLog: with') && duty.includes('changes of users'))
  const limit = 1500
  let stores = 0
  const slow = () => {
    const store = memory()
    stores++
    return { ...store, check: async () => { await wait(150) } }
  }
  const begun = performance.now()
  t.equal(await errorOf(slow, changes, { timeoutMs: limit }), null)
  t.ok(stores > 10, 'each has a store of its own')
  t.ok(performance.now() - begun > limit, 'together they take longer than each may')
  const late = await errorOf(() => ({ ...memory(), findUser: never }), changes, { timeoutMs: 200 })
  t.match(late, { message: /^with events, "update: .*": the duty did not end within 200 ms: .* for findUser$/ })
  const unready = await errorOf(() => ({ ...memory(), check: never }), changes, { timeoutMs: 50 })
  t.match(unready, { message: /^the duty did not end within 50 ms: it still waits for check$/ })
})

test('a read that fails while a duty writes fails that duty, and nothing else of the process', async (t) => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => { unhandled.push(reason) }
  process.prependListener('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const create = () => {
    const store = memory()
    const read = async () => { throw new StorageError('unavailable', 'no log') }
    return override({ ...store, eventLog: { ...Object(store.eventLog), read } }, ({ updateUser }) => ({
      async updateUser (...given) {
        await someTurns()
        return updateUser(...given)
      }
    }))
  }
  const error = await errorOf(create, DUTIES.find((duty) => duty.startsWith('eventLog.read: whoever reads on')))
  t.match(error, { code: 'unavailable' })
  await someTurns()
  t.strictSame(unhandled, [])
})

test('a slow store may let each writer make thousands of changes while its log is read', async (t) => {
  const create = () => {
    const store = memory()
    let changes = 0
    // As slow as it takes for more than 1,000 changes of each of three writers.
    const read: NonNullable<Storage['eventLog']>['read'] = async (request) => {
      await until('more than 1,000 changes of each writer', () => changes >= 4000, 30_000)
      return Object(store.eventLog).read(request)
    }
    return override({ ...store, eventLog: { ...Object(store.eventLog), read } }, ({ updateUser }) => ({
      updateUser (...given) {
        changes++
        return updateUser(...given)
      }
    }))
  }
  const duty = DUTIES.find((duty) => duty.startsWith('eventLog.read, findUser: a change and its event'))
  t.equal(await errorOf(create, duty, { timeoutMs: 60_000 }), null)
})

test('the quick kit has every duty once, says how many have ended, and is no proof for a README', async (t) => {
  const names = (quick: boolean) => registered(memory, { quick }).tests.map(({ name }) => name)
  const repeated = /^eventLog: with|inside a transaction|for a tenant beside others/
  t.strictSame(names(true), names(false).filter((name) => !repeated.test(name)))
  const progress: string[] = []
  // Without its methods, so that every duty ends immediately.
  const create = () => {
    const { name, check, migrate, close } = memory()
    return { name, check, migrate, close }
  }
  const { tests, lines } = registered(create, { quick: true, progress: (line) => progress.push(line) })
  for (const { run } of tests.slice(0, -1)) await run()
  const duties = tests.length - 1
  const ends = Array.from({ length: 10 }, (_, i) => Math.ceil(duties * (i + 1) / 10))
  t.strictSame(progress, ends.map((ended) => `fastify-users/testing: memory: ${ended} of ${duties} duties`))
  t.match(lines[0], /, seed 1, quick$/)
  const counts = { registered: 1, started: 1, ended: 1, passed: 1, notReached: 0 }
  const run = { name: 'memory', version: '1.0.0', seconds: 1, seed: 1 }
  const all = { ...counts, unsupported: new Map(), missing: new Set<string>() }
  t.equal(reportOf(all, { ...run, quick: true }).length, 1)
  t.equal(reportOf(all, { ...run, quick: false }).length, 2)
})

test('passes stores that are right with the fewest records and with any more, and refuses less', async (t) => {
  const long = DUTIES.filter((duty) => /^list\w+: (?:lists with more|totals)|^eventLog\.read, .*long lists/.test(duty))
  t.equal(long.length, 4)
  for (const records of [100, 599]) {
    for (const duty of long) t.equal(await errorOf(memory, duty, { records }), null, `${records}: ${duty}`)
  }
  for (const records of [0, 1, 99, 100.5, NaN]) {
    t.throws(() => registered(memory, { records }), { message: 'records must be a whole number of at least 100' })
  }
})
