import assert from 'node:assert/strict'
import type { Storage } from '../../lib/core/storage.ts'
import { missingFrom } from '../../lib/core/storage-rules.ts'
import { apiKeyCases } from './api-keys.ts'
import { userCreationCases } from './create-user.ts'
import { userDeletionCases } from './delete-user.ts'
import { fieldCases } from './fields.ts'
import { filterCases } from './filter-users.ts'
import { idempotencyCases } from './idempotency.ts'
import { lifecycleCases } from './lifecycle.ts'
import { listCases } from './list-users.ts'
import { firstPage } from './list-values.ts'
import { apiKeyEndCases } from './rotate-revoke-api-keys.ts'
import { type HostTransaction, transactionCases } from './transactions.ts'
import { userUpdateCases } from './update-user.ts'
import { everyone } from './values.ts'

export type { HostTransaction } from './transactions.ts'

/** A store to test, with what its tests need beside it. */
export interface Subject {
  storage: Storage
  /** Required if the store supports transactions: begins one on the same database, as a host does. */
  begin?: () => Promise<HostTransaction>
  /** Removes what `create` made. Called after each duty, when the store is closed. */
  destroy?: () => Promise<unknown>
}

export interface TestStorageOptions {
  /** The test function of your runner: tap, node:test, vitest, or any that takes a name and an async function. */
  test: (name: string, run: () => Promise<void>) => unknown
  /**
   * Makes an empty store, apart from all others. Called once for each duty. The store is migrated and closed for you.
   */
  create: () => Storage | Subject | Promise<Storage | Subject>
  /** Gets the report: how many duties passed, and what the store declares unsupported. Default `console.log`. */
  report?: (line: string) => void
}

type Outcome = 'passed' | 'unsupported'

const storeCases = [
  lifecycleCases, userCreationCases, userUpdateCases, userDeletionCases, idempotencyCases, listCases, filterCases,
  fieldCases, apiKeyCases, apiKeyEndCases
].flatMap(Object.entries<(storage: Storage) => Promise<void>>)

function subjectOf (created: Storage | Subject): Subject {
  return 'storage' in created ? created : { storage: created }
}

/** Refuses a store that would fail every duty, and says why. */
async function requireEmpty (storage: Storage): Promise<void> {
  const { items: users } = await storage.listUsers(everyone, firstPage(10))
  const { items: keys } = await storage.listApiKeys(firstPage(10))
  assert.equal(users.length + keys.length, 0, 'create() must give an empty store, apart from all others')
}

/** Runs a duty, then closes and destroys its store. */
async function runDuty (subject: Subject, run: (subject: Subject) => Promise<Outcome>): Promise<Outcome> {
  const { storage, destroy = async () => {} } = subject
  let outcome: Outcome
  try {
    assert.deepEqual(missingFrom(storage), [], 'the store lacks these members of the interface')
    await storage.migrate()
    await storage.check()
    await requireEmpty(storage)
    outcome = await run(subject)
    await storage.close()
  } catch (error) {
    // The first error is reported. Closing and destroying may fail as a consequence of it.
    await Promise.resolve().then(() => storage.close()).catch(() => {})
    await Promise.resolve().then(destroy).catch(() => {})
    throw error
  }
  await destroy()
  return outcome
}

/**
 * Registers every duty of the storage interface as a named test, and a last test that prints a report. A name begins
 * with the methods that the duty is about. Failures are errors of `node:assert/strict`. Only duties of what the store
 * declares unsupported (`supports`) are left out.
 */
export function testStorage ({ test, create, report = console.log }: TestStorageOptions): void {
  const counts = { registered: 0, started: 0, ended: 0, passed: 0, unsupported: 0 }
  let name = 'the store'
  let isReported = false

  function printReport (): void {
    isReported = true
    const { started, passed, unsupported } = counts
    const declared = unsupported === 0 ? 'nothing unsupported' : `unsupported: transactions (${unsupported} duties)`
    const failed = started - passed - unsupported
    report(`fastify-users/testing: ${name}: ${passed} duties passed, ${failed} failed; the store declares ${declared}`)
  }

  function add (title: string, run: (subject: Subject) => Promise<Outcome>): void {
    counts.registered++
    test(title, async () => {
      counts.started++
      try {
        const subject = subjectOf(await create())
        name = subject.storage.name ?? name
        counts[await runDuty(subject, run)]++
      } finally {
        // Runners may run many duties concurrently: the last one to end knows all results.
        if (++counts.ended === counts.registered) printReport()
      }
    })
  }

  for (const [title, run] of storeCases) {
    add(title, async ({ storage }) => {
      await run(storage)
      return 'passed'
    })
  }
  for (const [title, run] of Object.entries(transactionCases)) {
    add(title, async ({ storage, begin }) => {
      if (!storage.supports.transactions) {
        // The store must do what it declares.
        assert.throws(() => storage.joinTransaction({}), TypeError)
        return 'unsupported'
      }
      assert.ok(begin !== undefined, 'the store supports transactions: create() must give { storage, begin }')
      await run(storage, begin)
      return 'passed'
    })
  }
  test('report', async () => {
    // Only some duties were selected: none is running any more, and none will end.
    if (!isReported && counts.started > 0 && counts.started === counts.ended) printReport()
  })
}
