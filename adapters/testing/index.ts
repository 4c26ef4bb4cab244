import assert from 'node:assert/strict'
import { packageRequire } from '../../lib/core/optional-packages.ts'
import { batchRaceCases } from './batch-races.ts'
import { batchEventCases } from './batches.ts'
import type { Cases, Context } from './cases.ts'
import { eventTransactionCases } from './event-transactions.ts'
import { eventLogCases } from './event-log.ts'
import { eventFilterCases, tenantEventFilterCases } from './event-filters.ts'
import { eventPositionCases } from './event-positions.ts'
import { deliveryCases } from './deliveries.ts'
import { deliveryClaimCases } from './delivery-claims.ts'
import { eventCases } from './events.ts'
import { fieldNameCases } from './field-names.ts'
import { type Create, type WatchedSubject, withSubject } from './harness.ts'
import { endingTransactions } from './host-transaction.ts'
import { insideTenantCases } from './inside-tenants.ts'
import { insideTransactionCases } from './inside-transactions.ts'
import { keyRaceCases } from './key-races.ts'
import { keyUseCases, tenantKeyUseCases } from './key-uses.ts'
import { lifecycleCases } from './lifecycle.ts'
import { longLogCases } from './long-logs.ts'
import { DELAYS, FEW_DELAYS } from './races.ts'
import { readingBesideCases } from './read-users.ts'
import { recordedCases } from './recorded-cases.ts'
import { type Counts, type Lacking, lackingOf, reportOf } from './report.ts'
import { searchSchemaCases } from './search-users.ts'
import { batches, subjects, trashSubjects, writing } from './subjects.ts'
import { transactionEndCases } from './transaction-ends.ts'
import { tenantEventCases, tenantWebhookCases } from './tenant-events.ts'
import { tenantCases } from './tenants.ts'
import { type TransactionCases, transactionCases } from './transactions.ts'
import { uniqueSchemaCases } from './unique-fields.ts'
import { restorePurgeCases } from './restore-purge.ts'
import { expiryCases, trashCases } from './trash.ts'
import { trashEventCases } from './trash-events.ts'
import { trashRaceCases } from './trash-races.ts'
import { trashBatchCases, trashTenantCases, trashTransactionCases } from './trash-writes.ts'
import { statusEventCases } from './user-status.ts'
import { userRaceCases } from './user-races.ts'
import { visibleEventCases } from './visible-events.ts'
import { NotWritten } from './watched-storage.ts'
import { webhookEventCases } from './webhook-events.ts'
import { webhookCases } from './webhooks.ts'

export { testStorageInProcesses, type TestStorageInProcessesOptions } from './processes.ts'
export type { Subject } from './harness.ts'
export type { HostTransaction } from './host-transaction.ts'
export { serveStorages } from './storage-process.ts'

export interface TestStorageOptions {
  /** The test function of your runner: tap, node:test, vitest, or any that takes a name and an async function. */
  test: (name: string, run: () => Promise<void>) => unknown
  /**
   * Makes an empty store, apart from all others. Called once or more for each duty. The store is migrated and closed
   * for you. It may lack methods that you have not written yet: their duties are reported as not reached.
   */
  create: Create
  /** Gets the lines of the report. Default `console.log`. */
  report?: (line: string) => void
  /** Milliseconds that a duty may take, and each one in a duty that repeats others with events. Default 60,000. */
  timeoutMs?: number
  /** Seed of the random histories; the report has it. Default: another one each time. */
  seed?: number
  /** How many users and keys the longest lists have: 100 or more. Default 1,001; with `quick` 100. */
  records?: number
  /**
   * True for a first answer in a fraction of the time: without the duties that repeat others inside transactions and
   * with events, and with few interleavings of races. Default false.
   */
  quick?: boolean
  /**
   * How many ways two calls of a race are made to meet: `all` nine, or a `few`, which takes a third of the time.
   * Default `all`; with `quick` `few`.
   */
  interleavings?: 'few' | 'all'
  /** Gets a line after each tenth of the duties. Default `console.log`. */
  progress?: (line: string) => void
}

/** The fewest records whose lists have every kind of page. */
const RECORDS_MIN = 100

const { version }: { version: string } = packageRequire('fastify-users/package.json')

/**
 * Registers every duty of the storage interface as a named test, and a last test that prints a report. A name begins
 * with the methods that the duty is about. Failures are errors of `node:assert/strict`. Duties of what the store
 * declares unsupported (`supports`) are left out, those of webhooks if it has no `webhooks`, and those of methods that
 * it does not have: then the last test fails.
 */
export function testStorage (options: TestStorageOptions): void {
  const { test, create, report = console.log, progress = console.log, quick = false } = options
  const { timeoutMs: timeout = 60_000, interleavings = quick ? 'few' : 'all' } = options
  const { seed = Math.floor(Math.random() * 2 ** 31), records = quick ? RECORDS_MIN : 1001 } = options
  if (!Number.isInteger(records) || records < RECORDS_MIN) {
    throw new RangeError(`records must be a whole number of at least ${RECORDS_MIN}`)
  }
  const none = { registered: 0, started: 0, ended: 0, passed: 0, notReached: 0 }
  const counts: Counts = { ...none, unsupported: new Map(), missing: new Set() }
  let name = 'the store'
  let begun = 0
  let isReported = false

  function printReport (): void {
    isReported = true
    const seconds = (performance.now() - begun) / 1000
    for (const line of reportOf(counts, { name, version, seconds, seed, quick })) report(line)
  }

  const context: Context = {
    seed,
    records,
    withStore: (run) => withSubject(create, ({ storage }) => run(storage), { timeout }),
    withoutSchema: (run) => withSubject(create, ({ storage }) => run(storage), { timeout, migrate: false })
  }

  /** Adds a duty. `run` returns what it needs and the store lacks; null: nothing. */
  function add (title: string, run: (subject: WatchedSubject) => Promise<Lacking | null>, hasParts = false): void {
    counts.registered++
    test(title, async () => {
      if (counts.started++ === 0) begun = performance.now()
      try {
        const lacking = await withSubject(create, async (subject) => {
          name = subject.storage.name
          return run(subject)
        }, { timeout, hasParts })
        if (lacking === null) counts.passed++
        else counts.unsupported.set(lacking, (counts.unsupported.get(lacking) ?? 0) + 1)
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

  function addCases (cases: Cases, needs: readonly Lacking[] = [], hasParts = false): void {
    for (const [title, run] of Object.entries(cases)) {
      add(title, async ({ storage }) => {
        const lacking = lackingOf(storage, needs)
        if (lacking === null) await run(storage, context)
        return lacking
      }, hasParts)
    }
  }

  function addTransactionCases (cases: TransactionCases, ...needs: Lacking[]): void {
    for (const [title, run] of Object.entries(cases)) {
      add(title, async ({ storage, begin }) => {
        if (!storage.supports.transactions) return 'transactions'
        const lacking = lackingOf(storage, needs)
        if (lacking !== null) return lacking
        assert.ok(begin !== undefined, 'the store supports transactions: create() must give { storage, begin }')
        await endingTransactions(begin, (tracked) => run(storage, tracked, context))
        return null
      })
    }
  }

  const delays = interleavings === 'few' ? FEW_DELAYS : DELAYS
  const outside = [
    ...Object.values(subjects), readingBesideCases, fieldNameCases, uniqueSchemaCases, searchSchemaCases,
    userRaceCases(delays), keyRaceCases(delays), lifecycleCases
  ]
  for (const cases of outside) addCases(cases)
  const again = quick ? {} : insideTransactionCases(subjects)
  const inside = { ...transactionCases, ...transactionEndCases, ...again }
  const reading = {
    ...eventLogCases, ...eventFilterCases, ...eventPositionCases, ...longLogCases, ...visibleEventCases
  }
  addCases({ ...eventCases, ...reading, ...statusEventCases }, ['event log'])
  if (!quick) addCases(recordedCases(writing), ['event log'], true)
  addCases({ ...batches, ...batchRaceCases }, ['batches'])
  addCases(batchEventCases, ['event log', 'batches'])
  addCases({ ...webhookCases, ...deliveryCases, ...deliveryClaimCases }, ['webhooks'])
  addCases(webhookEventCases, ['webhooks', 'event log'])
  addCases(keyUseCases, ['uses of keys'])
  addCases(tenantCases, ['tenants'])
  addCases({ ...tenantEventCases, ...tenantEventFilterCases }, ['tenants', 'event log'])
  addCases(tenantWebhookCases, ['tenants', 'webhooks'])
  addCases(tenantKeyUseCases, ['tenants', 'uses of keys'])
  addCases({ ...trashCases, ...expiryCases, ...restorePurgeCases, ...trashRaceCases(delays) }, ['trash'])
  addCases(trashBatchCases, ['trash', 'batches'])
  addCases(trashEventCases, ['trash', 'event log'])
  addCases(trashTenantCases, ['tenants', 'trash'])
  if (!quick) {
    addCases(recordedCases(trashSubjects), ['trash', 'event log'], true)
    addCases(insideTenantCases(trashSubjects), ['tenants', 'trash'], true)
    addCases(insideTenantCases({ ...subjects, batches }), ['tenants', 'batches'], true)
    addCases(insideTenantCases({ events: eventCases }), ['tenants', 'event log'], true)
    addCases(insideTenantCases({ webhooks: webhookCases, deliveries: deliveryCases }), ['tenants', 'webhooks'], true)
    addCases(insideTenantCases({ 'uses of API keys': keyUseCases }), ['tenants', 'uses of keys'], true)
  }
  addTransactionCases(inside)
  if (!quick) addTransactionCases(insideTransactionCases({ batches }), 'batches')
  addTransactionCases(eventTransactionCases, 'event log')
  addTransactionCases({ ...trashTransactionCases, ...quick ? {} : insideTransactionCases(trashSubjects) }, 'trash')

  test('report', async () => {
    // Only some duties were selected: none is running any more, and none will end.
    if (!isReported && counts.started > 0 && counts.started === counts.ended) printReport()
    const missing = [...counts.missing]
    const what = `the store has no ${missing.join(', ')} yet: it must have every method but the optional ones`
    assert.deepEqual(missing, [], what)
  })
}
