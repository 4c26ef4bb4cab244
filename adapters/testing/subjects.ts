import type { SchemaRequirements, Storage } from '../../lib/storage/storage.ts'
import { afterCommitCases } from './after-commit.ts'
import type { Cases, Context, Subject } from './cases.ts'
import { commitSubject } from './commit.ts'
import { groupSubject } from './groups.ts'
import { historyTransactionCases } from './histories.ts'
import { HISTORY_NEEDS } from './history-steps.ts'
import type { Begin } from './host-transaction.ts'
import { listSubject } from './lists.ts'
import { logPruningSubject, logRaceSubject } from './log-ends.ts'
import { logSubject } from './log.ts'
import { meetingCases } from './meetings.ts'
import { openSubject } from './open.ts'
import { raceSubject } from './races.ts'
import { eventRecordSubject, recordSubject } from './records.ts'
import { countAll } from './rows.ts'
import { takenSubject } from './taken.ts'
import { inside, transactionCases, type TransactionCases } from './transactions.ts'
import { userSubjects, userSubjectsOutside } from './users/index.ts'

/** The duties in the order in which an author writes the methods. Those that hold in a transaction too. */
const inner: readonly Subject[] =
  [commitSubject, takenSubject, recordSubject, listSubject, ...userSubjects, groupSubject]
/** Those about several writers, the log, which is read after the commit, and the store itself. */
const outer: readonly Subject[] =
  [eventRecordSubject, raceSubject, logSubject, logPruningSubject, logRaceSubject, ...userSubjectsOutside, openSubject]
export const subjects: readonly Subject[] = [...inner, ...outer]

/** What all duties together need of a store. */
function collected (all: readonly SchemaRequirements[]): SchemaRequirements {
  const searchable = all.flatMap((needs) => needs.searchable ?? [])
  if (searchable.length > 1) throw new RangeError('a store can be opened for one list of searched fields')
  return {
    filterable: [...new Set(all.flatMap(({ filterable = [] }) => filterable))],
    unique: [...new Set(all.flatMap(({ unique = [] }) => unique))],
    ...searchable[0] !== undefined && { searchable: searchable[0] }
  }
}

export const NEEDS = collected([...subjects.map(({ needs }) => needs), HISTORY_NEEDS])

/** Runs a duty in a transaction that is rolled back. */
async function runInside (
  storage: Storage, begin: Begin, context: Context, [title, run]: [string, Cases[string]]
): Promise<void> {
  const host = await begin()
  try {
    await run(inside(storage, host), context)
  } catch (error) {
    if (error instanceof Error) error.message = `inside a transaction, "${title}": ${error.message}`
    throw error
  } finally {
    await host.rollback()
  }
}

/** The duties of each method once more, each inside a transaction of the host's. */
function insideCases (): TransactionCases {
  const byMethod = new Map<string, Array<[string, Cases[string]]>>()
  for (const entry of inner.flatMap(({ cases }) => Object.entries(cases))) {
    const method = entry[0].split(':')[0] ?? ''
    byMethod.set(method, [...byMethod.get(method) ?? [], entry])
  }
  return Object.fromEntries([...byMethod].map(([method, entries]) => [
    `join: inside a transaction the duties of ${method} hold, and a rollback undoes all`,
    async (storage: Storage, begin: Begin, context: Context) => {
      for (const entry of entries) {
        await runInside(storage, begin, context, entry)
        const counts = Object.values(await countAll(storage))
        if (counts.some((count) => count > 0)) throw new Error(`after the rollback of "${entry[0]}" something is there`)
      }
    }
  ]))
}

/** The duties about transactions of the host's. `quick`: without those that are repeated in one. */
export const joinCases = (quick: boolean): TransactionCases => ({
  ...transactionCases, ...afterCommitCases, ...meetingCases, ...historyTransactionCases, ...quick ? {} : insideCases()
})
