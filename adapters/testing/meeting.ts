import assert from 'node:assert/strict'
import { isStorageError } from '../../lib/storage/storage-error.ts'
import type { Outcome, RowWrite, Storage } from '../../lib/storage/storage.ts'
import type { HostTransaction } from './host-transaction.ts'
import { awaitedLater } from './concurrency.ts'
import { commit } from './rows.ts'
import { inside } from './transactions.ts'
import { reasonOf } from './watch.ts'

export const ISOLATIONS = [undefined, 'repeatable read', 'serializable'] as const
const LATE_MS = 100
const DEADLINE_MS = 20_000

/** What became of a unit: its outcome, or the conflict that the store has thrown. */
type Ending = Outcome['code'] | 'conflict'

/** Returns `conflict` if the unit was refused because of another transaction. The caller may try again. */
export async function endingOf (unit: Promise<Outcome>): Promise<Ending> {
  try {
    return (await unit).code
  } catch (error) {
    const isConflict = isStorageError(error) && ['unavailable', 'idempotency_in_progress'].includes(error.code)
    assert.ok(isConflict, `a unit that meets another one ends, or is unavailable: ${reasonOf(error)}`)
    return 'conflict'
  }
}

/** The result, or null if it takes longer: a store may have to wait for the transaction. */
export async function unlessLate<Value> (result: Promise<Value>, ms = LATE_MS): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => { timer = setTimeout(resolve, ms, null) })
  return Promise.race([result, late]).finally(() => clearTimeout(timer))
}

export async function inTime<Value> (result: Promise<Value>, what: string): Promise<Value> {
  const ended = await unlessLate(result.then((value) => ({ value })), DEADLINE_MS)
  assert.ok(ended !== null, `${what} hangs, though the transaction has ended`)
  return ended.value
}

/** Ends a transaction. False: the database refuses to commit it, as after a conflict. */
export async function ended (host: HostTransaction, how: 'commit' | 'rollback'): Promise<boolean> {
  return host[how]().then(() => how === 'commit', async () => {
    await host.rollback().catch(() => {})
    return false
  })
}

interface Meeting {
  /** What the transaction reads before, so that it might go by it. */
  read: (within: Storage) => Promise<unknown>
  outside: readonly RowWrite[]
  within: readonly RowWrite[]
  /** How many of the two units may be made. */
  most: number
}

/** Requires that the transaction sees why its unit is refused. Otherwise the caller repeats it for ten seconds. */
async function requireChanged (within: Storage, writes: readonly RowWrite[]): Promise<void> {
  const seen = await Promise.all(writes.map(async ({ in: name, put, was }) => {
    const [row] = await within.find(name, [{ id: put?.record.id ?? was?.record.id ?? '' }])
    return row?.record.version !== was?.record.version
  }))
  assert.ok(seen.includes(true), 'changed, but the transaction still sees what its unit expects: throw a conflict')
}

/**
 * A transaction reads, somebody else writes and commits, and the transaction writes what it has decided. Gives which
 * of the two units were made: of the transaction, and of the other.
 */
export async function meet (
  storage: Storage, host: HostTransaction, meeting: Meeting
): Promise<[within: boolean, outside: boolean]> {
  const within = inside(storage, host)
  await meeting.read(within)
  // On a store with one writer it waits for the transaction.
  const outside = awaitedLater(endingOf(commit(storage, meeting.outside)))
  await unlessLate(outside)
  const own = await endingOf(commit(within, meeting.within))
  if (own === 'changed') await requireChanged(within, meeting.within)
  const isCommitted = await ended(host, own === 'ok' ? 'commit' : 'rollback')
  const other = await inTime(outside, 'the unit outside')
  const made: [boolean, boolean] = [own === 'ok' && isCommitted, other === 'ok']
  const what = `in the transaction ${own}${own === 'ok' && !isCommitted ? ', and not committed' : ''}, outside ${other}`
  assert.ok(made.filter((isMade) => isMade).length <= meeting.most, `both were made: ${what}`)
  assert.ok(made.includes(true) || other === 'conflict' || own === 'conflict', `neither was made: ${what}`)
  return made
}
