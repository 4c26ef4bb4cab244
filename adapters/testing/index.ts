import assert from 'node:assert/strict'
import type { PageRequest, Storage } from '../../lib/core/storage.ts'
import { missingFrom } from '../../lib/core/storage-rules.ts'
import { apiKeyCases } from './api-keys.ts'
import type { Cases } from './cases.ts'
import { fieldCases } from './fields.ts'
import { idempotencyCases } from './idempotency.ts'
import { listCases } from './lists.ts'
import { type HostTransaction, transactionCases } from './transactions.ts'
import { userChangeCases } from './user-changes.ts'
import { userCases } from './users.ts'
import { addUsers, apiKeyOf, everyone, idOf } from './values.ts'

export type { HostTransaction } from './transactions.ts'

/** A store to test, with what else its test takes. */
export interface Subject {
  storage: Storage
  /** Needed where the store says that it supports transactions: begins one on the same database, as a host does. */
  begin?: () => Promise<HostTransaction>
  /** Clears away what `create` made, once the case is over and the store is closed. */
  destroy?: () => Promise<unknown>
}

export interface TestStorageOptions {
  /** The test function of your runner: tap, node:test, vitest, or any that takes a name and an async function. */
  test: (name: string, run: () => Promise<void>) => unknown
  /**
   * Makes a fresh store, empty and apart from all others. Called once for each case; the store is migrated and closed
   * for you.
   */
  create: () => Storage | Subject | Promise<Storage | Subject>
  /** Where the report goes: what was run, and what the store declares it cannot do. Default `console.log`. */
  report?: (line: string) => void
}

const page: PageRequest = { order: 'asc', limit: 10, from: { offset: 0 } }

const lifecycleCases: Cases = {
  'migrate: may run again, and at once with itself, and loses nothing': async (storage) => {
    const [user] = await addUsers(storage, 1)
    await storage.createApiKey(apiKeyOf(1), { onlyFirst: false })
    await Promise.all([storage.migrate(), storage.migrate(), storage.migrate()])
    await storage.check()
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), user)
    assert.deepEqual(await storage.findApiKey(idOf('key', 1)), apiKeyOf(1))
  },

  'close: may be called more than once, and a call after it is answered or unavailable': async (storage) => {
    await storage.close()
    await storage.close()
    for (const call of [() => storage.findUser(idOf('usr', 1)), () => storage.listUsers(everyone, page), () => storage.createApiKey(apiKeyOf(1), { onlyFirst: true })]) {
      await call().catch((error) => assert.equal(Object(error).code, 'unavailable'))
    }
  }
}

function subjectOf (created: Storage | Subject): Subject {
  return 'storage' in created ? created : { storage: created }
}

/** Refuses a store that could only fail everywhere, in words that say why. */
async function requireFresh (storage: Storage): Promise<void> {
  const [users, keys] = [await storage.listUsers(everyone, page), await storage.listApiKeys(page)]
  assert.equal(users.items.length + keys.items.length, 0, 'create() must give an empty store, apart from all others')
}

/**
 * Every duty of the storage interface as a named test, asserted with `node:assert/strict` alone, and a report of what
 * was run and what the store declares it cannot do (`supports`). A duty that is not declared away is tested.
 */
export function testStorage ({ test, create, report = console.log }: TestStorageOptions): void {
  const counts = { cases: 0, begun: 0, ended: 0, passed: 0, unsupported: 0 }
  let name = 'the store'
  let reported = false

  function tell (): void {
    reported = true
    const { begun, passed, unsupported } = counts
    const declared = unsupported === 0 ? 'declares nothing unsupported' : `declares unsupported: transactions (${unsupported} duties)`
    report(`fastify-users/testing: ${name}: ${passed} duties passed, ${begun - passed - unsupported} failed; the store ${declared}`)
  }

  async function attempt (run: (subject: Subject) => Promise<'passed' | 'unsupported'>): Promise<void> {
    const { destroy = async () => {}, ...subject } = subjectOf(await create())
    const { storage } = subject
    let outcome: 'passed' | 'unsupported'
    try {
      assert.deepEqual(missingFrom(storage), [], 'the store lacks these members of the interface')
      name = storage.name
      await storage.migrate()
      await storage.check()
      await requireFresh(storage)
      outcome = await run(subject)
      await storage.close()
    } catch (error) {
      // What went wrong first is what counts: clearing up may fail in its wake.
      await Promise.resolve().then(() => storage.close()).catch(() => {})
      await Promise.resolve().then(destroy).catch(() => {})
      throw error
    }
    await destroy()
    counts[outcome]++
  }

  function add (title: string, run: (subject: Subject) => Promise<'passed' | 'unsupported'>): void {
    counts.cases++
    test(title, async () => {
      counts.begun++
      try {
        await attempt(run)
      } finally {
        // Runners may have many cases under way at once: the last one to end has the whole to tell.
        if (++counts.ended === counts.cases) tell()
      }
    })
  }

  for (const [title, run] of Object.entries({ ...lifecycleCases, ...userCases, ...userChangeCases, ...idempotencyCases, ...listCases, ...fieldCases, ...apiKeyCases })) {
    add(title, async ({ storage }) => {
      await run(storage)
      return 'passed'
    })
  }
  for (const [title, run] of Object.entries(transactionCases)) {
    add(title, async ({ storage, begin }) => {
      if (!storage.supports.transactions) {
        // What is declared is also what happens.
        assert.throws(() => storage.joinTransaction({}), TypeError)
        return 'unsupported'
      }
      assert.ok(begin !== undefined, 'the store supports transactions: create() must give { storage, begin }')
      await run(storage, begin)
      return 'passed'
    })
  }
  test('report', async () => {
    // Only some cases were chosen: none is under way any more, and none will end.
    if (!reported && counts.begun > 0 && counts.begun === counts.ended) tell()
  })
}
