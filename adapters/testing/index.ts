import assert from 'node:assert/strict'
import type { Storage } from '../../lib/storage.ts'
import { apiKeyCases } from './api-keys.ts'
import type { Cases } from './cases.ts'
import { idempotencyCases } from './idempotency.ts'
import { listCases } from './lists.ts'
import { type HostTransaction, transactionCases } from './transactions.ts'
import { userCases } from './users.ts'

export type { HostTransaction } from './transactions.ts'

/** A store to test, and, where it says that it supports transactions, how a host begins one on the same database. */
export interface Subject {
  storage: Storage
  begin: () => Promise<HostTransaction>
}

export interface TestStorageOptions {
  /** The test function of your runner: tap, node:test, vitest, or any that takes a name and an async function. */
  test: (name: string, run: () => Promise<void>) => unknown
  /** Makes a fresh store, empty and apart from all others. Called once for each case; the store is migrated and closed for you. */
  create: () => Storage | Subject | Promise<Storage | Subject>
  /** Where the report goes: what was run, and what the store declares it cannot do. Default `console.log`. */
  report?: (line: string) => void
}

const lifecycleCases: Cases = {
  'migrate: may run again, and at once with itself': async (storage) => {
    await Promise.all([storage.migrate(), storage.migrate(), storage.migrate()])
    await storage.check()
  },

  'close: may be called more than once': async (storage) => {
    await storage.close()
    await storage.close()
  }
}

function subjectOf (created: Storage | Subject): { storage: Storage, begin: Subject['begin'] | null } {
  return 'storage' in created ? created : { storage: created, begin: null }
}

/**
 * Every duty of the storage interface as a named test, asserted with `node:assert/strict` alone, and a last test that reports what was run and what the store
 * declares it cannot do (`supports`). A duty that is not declared away is tested.
 */
export function testStorage ({ test, create, report = console.log }: TestStorageOptions): void {
  const outcome = { name: '', passed: 0, begun: 0, unsupported: new Set<string>() }

  function add (name: string, run: (storage: Storage, begin: Subject['begin'] | null) => Promise<void>): void {
    test(name, async () => {
      const { storage, begin } = subjectOf(await create())
      outcome.name = storage.name
      outcome.begun++
      try {
        await storage.migrate()
        await storage.check()
        await run(storage, begin)
      } finally {
        await storage.close()
      }
      outcome.passed++
    })
  }

  for (const [name, run] of Object.entries({ ...lifecycleCases, ...userCases, ...idempotencyCases, ...listCases, ...apiKeyCases })) add(name, run)
  for (const [name, run] of Object.entries(transactionCases)) {
    add(name, async (storage, begin) => {
      if (!storage.supports.transactions) {
        outcome.unsupported.add('transactions')
        // What is declared is also what happens.
        assert.throws(() => storage.within({}), TypeError)
        return
      }
      assert.ok(begin !== null, 'the store supports transactions: create() must give { storage, begin }')
      await run(storage, begin)
    })
  }
  test('report', async () => {
    const unsupported = outcome.unsupported.size === 0 ? 'declares nothing unsupported' : `declares unsupported: ${[...outcome.unsupported].join(', ')}`
    report(`fastify-users/testing: ${outcome.name}: ${outcome.passed} duties passed, ${outcome.begun - outcome.passed} failed; the store ${unsupported}`)
  })
}
