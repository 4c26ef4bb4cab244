import assert from 'node:assert/strict'
import type { KitStorage } from './kit-storage.ts'
import type { Cases, Context } from './cases.ts'
import { FILTERABLE } from './everywhere.ts'
import { historyCases } from './histories.ts'
import { firstPage } from './list-values.ts'
import type { HostTransaction } from './host-transaction.ts'
import type { TransactionCases } from './transactions.ts'
import { UNIQUE_FIELDS } from './unique-fields.ts'
import { everyone } from './values.ts'

/** Every field that a duty filters by. The schema is made ready before a transaction begins. */
const EVERY_FIELD = [...FILTERABLE, 'Plan', 'text', 'value']

/** The store in a transaction, for duties that make the schema ready themselves. */
function withSchema (inside: KitStorage): KitStorage {
  const ready = async () => {}
  return new Proxy(inside, {
    get (target, name) {
      return name === 'migrate' || name === 'check' ? ready : Reflect.get(target, name, target)
    }
  })
}

async function requireNothing (storage: KitStorage, title: string): Promise<void> {
  const { total: users } = await storage.listUsers(everyone, firstPage(1))
  const { total: keys } = await storage.listApiKeys(firstPage(1))
  const { total: deleted } = await storage.trash?.list({ offset: 0, limit: 1 }) ?? { total: 0 }
  assert.deepEqual({ users, keys, deleted }, { users: 0, keys: 0, deleted: 0 }, `after the rollback of "${title}"`)
}

/** The duties of each subject once more, each inside a transaction of the host's that is rolled back. */
export function insideTransactionCases (subjects: Record<string, Cases>): TransactionCases {
  return Object.fromEntries(Object.entries(subjects).map(([subject, cases]) => [
    `joinTransaction: inside a transaction the duties about ${subject} hold, and a rollback undoes all`,
    async (storage, begin, context) => {
      await storage.migrate({ filterable: EVERY_FIELD, unique: UNIQUE_FIELDS })
      // Histories make stores of their own: here each is a transaction, and none is around them.
      const isOwn = cases === historyCases
      for (const [title, run] of Object.entries(cases)) await runInside(storage, begin, context, { title, run, isOwn })
    }
  ]))
}

async function inTransaction<Result> (
  storage: KitStorage,
  begin: () => Promise<HostTransaction>,
  work: (inside: KitStorage) => Promise<Result>
): Promise<Result> {
  const { transaction, rollback } = await begin()
  try {
    return await work(withSchema(storage.joinTransaction(transaction)))
  } finally {
    await rollback()
  }
}

async function runInside (
  storage: KitStorage,
  begin: () => Promise<HostTransaction>,
  context: Context,
  { title, run, isOwn }: { title: string, run: Cases[string], isOwn: boolean }
): Promise<void> {
  const inside: Context = { ...context, withStore: (work) => inTransaction(storage, begin, work) }
  try {
    if (isOwn) await run(storage, inside)
    else await inTransaction(storage, begin, (own) => run(own, inside))
  } catch (error) {
    if (error instanceof Error) error.message = `inside a transaction, "${title}": ${error.message}`
    throw error
  }
  await requireNothing(storage, title)
}
