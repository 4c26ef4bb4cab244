import assert from 'node:assert/strict'
import { packageRequire } from '../../lib/core/optional-packages.ts'
import type { Context } from './cases.ts'
import { type Create, type WatchedStore, withStores } from './harness.ts'
import { historyCases } from './histories.ts'
import { endingTransactions } from './host-transaction.ts'
import { schemaCases } from './open.ts'
import { reopenCases } from './reopen.ts'
import { type Counts, reportOf } from './report.ts'
import { joinCases, NEEDS, subjects } from './subjects.ts'
import { userSchemaCases } from './users/index.ts'
import { NotWritten } from './watch.ts'

export { testStorageInProcesses, type TestStorageInProcessesOptions } from './processes.ts'
export type { Created } from './harness.ts'
export type { HostTransaction, Isolation } from './host-transaction.ts'
export { serveStorages } from './storage-process.ts'

export interface TestStorageOptions {
  /** The test function of your runner: tap, node:test, vitest, or any that takes a name and an async function. */
  test: (name: string, run: () => Promise<void>) => unknown
  /**
   * Makes an empty store, apart from all others. Called once or more for each duty. The store is opened and closed for
   * you. It may lack methods that you have not written yet: their duties are reported as not reached.
   */
  create: Create
  /** Gets the lines of the report. Default `console.log`. */
  report?: (line: string) => void
  /** Milliseconds that a duty may take. Default 60,000. */
  timeoutMs?: number
  /** Seed of the random histories and lists; the report has it. Default: another one each time. */
  seed?: number
  /** How many rows the longest lists have: 100 or more. Default 1,001; with `quick` 100. */
  records?: number
  /** True for a first answer: without the duties that repeat others inside transactions. Default false. */
  quick?: boolean
  /** Gets a line after each tenth of the duties. Default `console.log`. */
  progress?: (line: string) => void
}

/** The fewest records whose lists have every kind of page. */
const RECORDS_MIN = 100

const { version }: { version: string } = packageRequire('fastify-users/package.json')

type Open = Parameters<Parameters<typeof withStores>[2]>[0]

/**
 * Registers every duty of the storage interface as a named test, and a last test that prints a report. A name begins
 * with the methods that the duty is about. Failures are errors of `node:assert/strict`, with the last calls and their
 * answers. A store without `join` skips the duties about transactions. A store that lacks a required method fails the
 * last test.
 */
export function testStorage (options: TestStorageOptions): void {
  const { test, create, report = console.log, progress = console.log, quick = false, timeoutMs = 60_000 } = options
  const { seed = Math.floor(Math.random() * 2 ** 31), records = quick ? RECORDS_MIN : 1001 } = options
  if (!Number.isInteger(records) || records < RECORDS_MIN) {
    throw new RangeError(`records must be a whole number of at least ${RECORDS_MIN}`)
  }
  const none = { registered: 0, started: 0, ended: 0, passed: 0, unsupported: 0, notReached: 0 }
  const counts: Counts = { ...none, missing: new Set() }
  const context: Context = { seed, records }
  let name = 'the store'
  let begun = 0
  let isReported = false

  function printReport (): void {
    isReported = true
    const seconds = (performance.now() - begun) / 1000
    for (const line of reportOf(counts, { name, version, seconds, seed, quick })) report(line)
  }

  /** Adds a duty. `run` returns false if the store does not support what it is about. */
  function add (title: string, run: (open: Open) => Promise<boolean>): void {
    counts.registered++
    test(title, async () => {
      if (counts.started++ === 0) begun = performance.now()
      try {
        const isSupported = await withStores(create, timeoutMs, async (open) => run(async (needs) => {
          const opened = await open(needs)
          name = opened.storage.name
          return opened
        }))
        counts[isSupported ? 'passed' : 'unsupported']++
      } catch (error) {
        if (!(error instanceof NotWritten)) throw error
        counts.notReached++
        for (const method of error.missing) counts.missing.add(method)
      } finally {
        // Runners may run many duties concurrently: the last one to end knows all results.
        const tenths = Math.floor(10 * counts.ended / counts.registered)
        if (Math.floor(10 * ++counts.ended / counts.registered) > tenths) {
          progress(`fastify-users/testing: ${name}: ${counts.ended} of ${counts.registered} duties`)
        }
        if (counts.ended === counts.registered) printReport()
      }
    })
  }

  for (const [title, run] of subjects.flatMap(({ cases }) => Object.entries(cases))) {
    add(title, async (open) => {
      await run((await open(NEEDS)).storage, context)
      return true
    })
  }
  for (const [title, run] of Object.entries({ ...schemaCases, ...userSchemaCases, ...historyCases(seed) })) {
    add(title, async (open) => {
      await run(async () => (await open(null)).storage)
      return true
    })
  }
  for (const [title, run] of Object.entries(reopenCases)) {
    add(title, async (open) => {
      const { storage, reopen } = await open(NEEDS)
      await run(storage, reopen)
      return true
    })
  }
  for (const [title, run] of Object.entries(joinCases(quick))) {
    add(title, async (open) => {
      const { storage, begin }: WatchedStore = await open(NEEDS)
      if (storage.join === undefined) return false
      assert.ok(begin !== undefined, 'the store has join: create() must give { storage, begin }')
      await endingTransactions(begin, (tracked) => run(storage, tracked, context))
      return true
    })
  }

  test('report', async () => {
    // Only some duties were selected: none is running any more, and none will end.
    if (!isReported && counts.started > 0 && counts.started === counts.ended) printReport()
    const missing = [...counts.missing]
    const what = `the store has no ${missing.join(', ')} yet: it must have every method but the optional ones`
    assert.deepEqual(missing, [], what)
  })
}
