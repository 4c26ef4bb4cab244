import type { WriteOutcome, WritesResult } from '../../../lib/storage/storage.ts'
import { BatchStore, plantBatch, plantBatchJoinable, type SynchronousWrites } from './batch-store.ts'
import type { BatchWrite, ChangesOf } from '../method-store.ts'
import type { Mistake } from './plant.ts'
import type { State } from './state.ts'

type Batch = Parameters<BatchStore['writeBatch']>
type Run = [users: SynchronousWrites, write: BatchWrite, index: number, changesOf: ChangesOf]

/** A mistake in how one write of a batch is made. */
function writes (title: string, change: (run: Run, outcome: (run: Run) => WriteOutcome) => WriteOutcome): Mistake {
  return plantBatch(title, class extends BatchStore {
    override runWrite (...run: Run): WriteOutcome {
      return change(run, (changed) => super.runWrite(...changed))
    }
  })
}

/** A mistake in what becomes of the writes. */
function results (title: string, change: (outcome: WriteOutcome) => WriteOutcome): Mistake {
  return writes(title, (run, outcome) => change(outcome(run)))
}

/** A batch that is made in several steps. */
function inSteps (title: string, isKept: (outcome: WriteOutcome) => boolean): Mistake {
  return plantBatch(title, class extends BatchStore {
    override async writeBatch (...[all, options, changesOf]: Batch): Promise<WritesResult> {
      if (options.idempotency !== null) return await super.writeBatch(all, options, changesOf)
      const outcomes: WriteOutcome[] = []
      for (const [index, write] of all.entries()) {
        const single = { atomic: false, idempotency: null }
        const result = await super.writeBatch([write], single, (_, user) => changesOf(index, user))
        outcomes.push(...result.outcomes)
        if (options.atomic && !result.outcomes.every(isKept)) break
      }
      return { outcomes, note: null, replayed: false }
    }
  })
}

const withoutEvent = (write: BatchWrite): BatchWrite => ({ ...write, event: null })

const making: Mistake[] = [
  inSteps('each write of a batch is a step of its own', ({ code }) => code === 'done'),
  plantBatch('an atomic batch is not undone', class extends BatchStore {
    override undo () {}
  }),
  plantBatch('an atomic batch goes on after a write that is refused', class extends BatchStore {
    override endsBatch () { return false }
  }),
  plantBatch('an atomic batch goes on if a user is not found', class extends BatchStore {
    override endsBatch ({ code }: WriteOutcome) { return code !== 'done' && code !== 'not_found' }
  }),
  plantBatch('an atomic batch is undone by a write without a change', class extends BatchStore {
    override endsBatch (outcome: WriteOutcome) { return outcome.code !== 'done' || !outcome.changed }
  }),
  plantBatch('every batch ends with the first refusal', class extends BatchStore {
    override runWrites (...[state, all, , changesOf]: Parameters<BatchStore['runWrites']>) {
      return super.runWrites(state, all, true, changesOf)
    }
  }),
  plantBatch('undoing a batch leaves its events', class extends BatchStore {
    override undo (state: State, before: State) {
      super.undo(state, Object.assign(before, { events: state.events }))
    }
  }),
  plantBatch('undoing a batch does not bring back idempotency keys', class extends BatchStore {
    override undo (state: State, before: State) {
      super.undo(state, Object.assign(before, { idempotency: state.idempotency }))
    }
  }),
  plantBatch('a batch is made in the order of its kinds', class extends BatchStore {
    override runWrites (...[state, all, atomic, changesOf]: Parameters<BatchStore['runWrites']>) {
      const sorted = all.toSorted((a, b) => a.type < b.type ? -1 : a.type > b.type ? 1 : 0)
      return super.runWrites(state, sorted, atomic, changesOf)
    }
  }),
  plantBatch('a batch has at most a hundred writes', class extends BatchStore {
    override runWrites (...[state, all, ...rest]: Parameters<BatchStore['runWrites']>) {
      return super.runWrites(state, all.slice(0, 100), ...rest)
    }
  }),
  writes('the writes of a batch record no events', ([users, write, ...rest], outcome) =>
    outcome([users, withoutEvent(write), ...rest])),
  writes('only creations of a batch record events', ([users, write, ...rest], outcome) =>
    outcome([users, write.type === 'create' ? write : withoutEvent(write), ...rest])),
  writes('a batch ignores guards', ([users, write, ...rest], outcome) => {
    const guard = { ifVersion: null, unlessVersion: [] }
    return outcome([users, write.type === 'create' ? write : { ...write, guard }, ...rest])
  }),
  writes('changes are asked for before the guard is judged', ([users, write, index, changesOf], outcome) => {
    const user = write.type === 'update' && write.changes === null ? users.findUser(write.id) : null
    if (user !== null) changesOf(index, user)
    return outcome([users, write, index, changesOf])
  }),
  writes('changes are asked for with another index', ([users, write, index, changesOf], outcome) =>
    outcome([users, write, index, (n, user) => changesOf(n + 1, user)])),
  writes('changes are never asked for', ([users, write, index], outcome) => outcome([users, write, index, () => ({})])),
  writes('changes that are refused are none', ([users, write, index, changesOf], outcome) =>
    outcome([users, write, index, (n, user) => {
      const changes = changesOf(n, user)
      return 'refused' in changes ? {} : changes
    }])),
  writes('a user with the id of another is refused alone', (run, outcome) => {
    try {
      return outcome(run)
    } catch {
      return { code: 'email_taken' }
    }
  }),
  results('the outcome of a deletion has no user', (outcome) => outcome.code === 'done' && outcome.changed &&
    outcome.user?.version === 1
    ? { ...outcome, user: null }
    : outcome),
  results('an outcome does not say whether anything changed', (outcome) =>
    outcome.code === 'done' ? { ...outcome, changed: true } : outcome),
  results('a value that is taken does not name its field', (outcome) =>
    outcome.code === 'field_taken' ? { ...outcome, field: '' } : outcome),
  results('a guard that does not hold is as good as nobody', (outcome) =>
    outcome.code === 'version_mismatch' ? { code: 'not_found' } : outcome)
]

/** The user that changes are asked with is that before the batch. */
const asked = plantBatch('changes are asked for with the user before the batch', class extends BatchStore {
  override runWrites (...[state, all, atomic, changesOf]: Parameters<BatchStore['runWrites']>) {
    const before = new Map([...state.users].map(([id, { user }]) => [id, structuredClone(user)]))
    return super.runWrites(state, all, atomic, (index, user) => changesOf(index, before.get(user.id) ?? user))
  }
})

/** A mistake in the step of a batch: others come between its reads and its writes. */
const gap = plantBatch('a batch reads the users some turns before it writes', class extends BatchStore {
  override async writeBatch (...[all, options, changesOf]: Batch): Promise<WritesResult> {
    const users = await this.read((state) => new Map(structuredClone(state.users)))
    await this.turn()
    return await super.writeBatch(all, options, (index, user) => changesOf(index, users.get(user.id)?.user ?? user))
  }
})

const outside = plantBatchJoinable('a batch is written outside of its transaction', class extends BatchStore {
  override runBatch (...[, ...given]: Parameters<BatchStore['runBatch']>) {
    return super.runBatch(this.database.state, ...given)
  }
})

export const batches: Mistake[] = [...making, asked, gap, outside]
