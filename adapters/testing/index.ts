import assert from 'node:assert/strict'
import type { Storage } from '../../lib/storage.ts'
import { apiKeyCases } from './api-keys.ts'
import type { Cases } from './cases.ts'
import { listCases } from './lists.ts'
import { userCases } from './users.ts'

export interface TestStorageOptions {
  /** The test function of your runner: tap, node:test, vitest, or any that takes a name and an async function. */
  test: (name: string, run: () => Promise<void>) => unknown
  /** Makes a fresh store, empty and apart from all others. Called once for each case; the store is migrated and closed for you. */
  create: () => Storage | Promise<Storage>
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

/** Every duty of the storage interface as a named test. Asserts with `node:assert/strict` alone. */
export function testStorage ({ test, create }: TestStorageOptions): void {
  for (const [name, run] of Object.entries({ ...lifecycleCases, ...userCases, ...listCases, ...apiKeyCases })) {
    test(name, async () => {
      const storage = await create()
      assert.equal(typeof storage.name, 'string')
      try {
        await storage.migrate()
        await storage.check()
        await run(storage)
      } finally {
        await storage.close()
      }
    })
  }
}
