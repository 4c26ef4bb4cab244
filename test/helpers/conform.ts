// The storages of this package pass the conformance kit, each on a real database.
import { test } from 'tap'
import { runKit, withoutTransactions } from './kit.ts'
import { from } from './level.ts'
import type { StoreKind } from './stores.ts'

/** The levels from which on stores are tested, and tested whole instead of `quick`, as the kit says it. */
interface Levels {
  from?: Parameters<typeof from>[0]
  wholeFrom: Parameters<typeof from>[0]
}

/** Runs the kit on each store. Transactions are tested in conformance-host.test.ts, on a Knex of the host. */
export function conform (
  kinds: ReadonlyArray<StoreKind & { skip?: string | false }>,
  levels: Levels = { wholeFrom: 'ci' }
): void {
  for (const { name, create, skip = false } of kinds) {
    test(name, { skip: (levels.from !== undefined && from(levels.from)) || skip }, async (t) => {
      const quick = from(levels.wholeFrom) !== false
      runKit(t, async () => withoutTransactions(await create(t)), { transactions: false }, { quick })
    })
  }
}
