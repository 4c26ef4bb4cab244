// The kit finds every mistake that is made for it, and every duty finds one: a duty without a mistake has not been
// shown to find anything.
import { test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { memory } from '../../adapters/memory/index.ts'
import { DUTIES, isOfTransactions, registered, transactionsOf } from '../helpers/kit.ts'
import { boundMistakes } from '../helpers/mistakes/bounds.ts'
import { commitMistakes } from '../helpers/mistakes/commit.ts'
import { groupMistakes } from '../helpers/mistakes/groups.ts'
import { logMistakes } from '../helpers/mistakes/log.ts'
import { rowMistakes } from '../helpers/mistakes/rows.ts'
import { transactionMistakes } from '../helpers/mistakes/transactions.ts'
import { usersFilters } from '../helpers/mistakes/users-filters.ts'
import { usersLists } from '../helpers/mistakes/users-lists.ts'
import { usersOrders } from '../helpers/mistakes/users-orders.ts'
import { usersSchema } from '../helpers/mistakes/users-schema.ts'
import { usersUnique } from '../helpers/mistakes/users-unique.ts'
import { usersValues } from '../helpers/mistakes/users-values.ts'
import { usersWalks } from '../helpers/mistakes/users-walks.ts'
import type { Mistake } from '../helpers/mistakes/wrappers.ts'
import { sqliteHost } from '../helpers/sqlite.ts'

// Much longer than any duty takes, since a duty that is ended finds whatever it meets.
const TIMEOUT_MS = 30_000

const mistakes = [
  ...commitMistakes, ...rowMistakes, ...logMistakes, ...groupMistakes, ...transactionMistakes, ...usersValues,
  ...usersLists,
  ...usersFilters, ...usersOrders, ...usersWalks, ...usersUnique, ...usersSchema, ...boundMistakes
]
const isHost = ({ failed }: Mistake): boolean => isOfTransactions(failed)

/** Why a duty has no mistake of its own. */
const WITHOUT = [
  // Each of the duties that they repeat has one; the first shows that they are run.
  /^join: inside a transaction the duties of/
]

function create (mistake: Mistake) {
  const reopen = () => mistake.make(memory())
  if (!isHost(mistake)) return { storage: reopen(), reopen }
  const host = sqliteHost(':memory:')
  return {
    storage: mistake.make(knexStorage(host)), begin: transactionsOf(host), destroy: () => host.destroy()
  }
}

for (const mistake of mistakes) {
  test(`finds a mistake: ${mistake.failed}: ${mistake.name}`, async (t) => {
    const { tests } = registered(() => create(mistake), { timeoutMs: TIMEOUT_MS, seed: 4 })
    const meant = tests.filter(({ name }) => name.startsWith(mistake.failed))
    t.equal(meant.length, 1, mistake.failed)
    for (const { name, run } of meant) await t.rejects(run(), name)
  })
}

test('every duty finds a mistake, and each mistake has a name of its own', (t) => {
  const left = DUTIES.filter((duty) => !WITHOUT.some((reason) => reason.test(duty)) &&
    !mistakes.some(({ failed }) => duty.startsWith(failed)))
  t.strictSame(left, [])
  const names = mistakes.map(({ name, failed }) => `${failed}: ${name}`)
  t.equal(new Set(names).size, names.length)
  t.end()
})
