import type { WritesResult, Idempotency, UserRecord } from '../../../lib/storage/storage.ts'
import { BatchStore, plantBatch } from './batch-store.ts'
import type { Mistake } from './plant.ts'
import type { BatchRow, State } from './state.ts'

type Batch = Parameters<BatchStore['writeBatch']>

/** Mistakes in what idempotency keys keep of batches. */
export const batchesKeys: Mistake[] = [
  plantBatch('a batch keeps no key', class extends BatchStore {
    override keepBatch () {}
  }),
  plantBatch('a batch of which every write is refused keeps no key', class extends BatchStore {
    override keepBatch (...given: Parameters<BatchStore['keepBatch']>) {
      if (given[2].some(({ code }) => code === 'done')) super.keepBatch(...given)
    }
  }),
  plantBatch('a batch that changes nothing keeps no key', class extends BatchStore {
    override keepBatch (...given: Parameters<BatchStore['keepBatch']>) {
      const isChange = given[2].some((outcome) => outcome.code === 'done' && outcome.changed)
      if (isChange || given[2].every(({ code }) => code !== 'done')) super.keepBatch(...given)
    }
  }),
  plantBatch('a deletion by a batch leaves the key of the creation', class extends BatchStore {
    override writesIn (state: State) {
      const { deleteUser, ...users } = super.writesIn(state)
      return {
        ...users,
        deleteUser: (...given: Parameters<typeof deleteUser>) => {
          const kept = new Map(state.idempotency)
          const user = deleteUser(...given)
          state.idempotency = kept
          return user
        }
      }
    }
  }),
  plantBatch('a deletion by a batch leaves the user in what other batches keep', class extends BatchStore {
    override writesIn (state: State) {
      const { deleteUser, ...users } = super.writesIn(state)
      return {
        ...users,
        deleteUser: (...given: Parameters<typeof deleteUser>) => {
          const kept = structuredClone(state.batches)
          const user = deleteUser(...given)
          state.batches = kept
          return user
        }
      }
    }
  }),
  plantBatch('a deletion empties only the first outcome of its user', class extends BatchStore {
    override forgetInBatch (row: BatchRow, id: string) {
      const first = row.outcomes.find((outcome) => outcome.code === 'done' && outcome.user?.id === id)
      if (first?.code === 'done') first.user = null
    }
  }),
  plantBatch('a batch that is undone keeps its key', class extends BatchStore {
    override keepsKey () { return true }
  }),
  plantBatch('a repetition of a batch is made again', class extends BatchStore {
    override knownBatch (state: State, idempotency: Idempotency) {
      super.knownBatch(state, idempotency)
      return null
    }
  }),
  plantBatch('a repetition says that it is none', class extends BatchStore {
    override replayBatch (row: BatchRow) { return { ...super.replayBatch(row), replayed: false } }
  }),
  plantBatch('a repetition has another note', class extends BatchStore {
    override replayBatch (row: BatchRow) { return { ...super.replayBatch(row), note: null } }
  }),
  plantBatch('a repetition has the users as they are now', class extends BatchStore {
    override replayBatch (row: BatchRow) {
      const result = super.replayBatch(row)
      for (const outcome of result.outcomes) {
        if (outcome.code !== 'done' || outcome.user === null) continue
        outcome.user = this.session.state.users.get(outcome.user.id)?.user ?? null
      }
      return result
    }
  }),
  plantBatch('batches of another fingerprint are repetitions', class extends BatchStore {
    override requireSameBatch () {}
  }),
  plantBatch('a creation takes the key of a batch', class extends BatchStore {
    override isOfBatch () { return false }
  }),
  plantBatch('a batch takes the key of a creation', class extends BatchStore {
    override knownBatch (state: State, idempotency: Idempotency) {
      const known = state.batches.get(idempotency.key)
      return known === undefined ? null : super.knownBatch(state, idempotency)
    }
  }),
  plantBatch('the key of a batch never expires', class extends BatchStore {
    override isLiveBatch () { return true }
  }),
  plantBatch('a renewed key keeps users of the batch before', class extends BatchStore {
    override keepBatch (...given: Parameters<BatchStore['keepBatch']>) {
      const [state, { key }] = given
      const before = state.batches.get(key)?.outcomes ?? []
      super.keepBatch(...given)
      for (const [i, outcome] of (state.batches.get(key)?.outcomes ?? []).entries()) {
        const old = before[i]
        if (outcome.code === 'done' && old?.code === 'done') outcome.user ??= old.user
      }
    }
  }),
  plantBatch('keys of batches are not pruned', class extends BatchStore {
    override pruneBatches () {}
    override isLiveBatch (row: BatchRow, now: string) { return row.expiresAt >= now }
  }),
  plantBatch('pruning deletes all keys of batches', class extends BatchStore {
    override pruneBatches (state: State) { state.batches.clear() }
  }),
  plantBatch('a deletion leaves the user in kept outcomes', class extends BatchStore {
    override forgetInBatch () {}
  }),
  plantBatch('a deletion takes all users out of kept outcomes', class extends BatchStore {
    override isOf (_user: UserRecord | null, _id: string) { return true }
  }),
  plantBatch('a deletion deletes the key of a batch with its user', class extends BatchStore {
    override forgetCreation (state: State, id: string) {
      super.forgetCreation(state, id)
      for (const [key, { outcomes }] of [...state.batches]) {
        if (outcomes.some((outcome) => outcome.code === 'done' && outcome.user === null)) state.batches.delete(key)
      }
    }
  }),
  plantBatch('users that a batch deletes itself stay in what it keeps', class extends BatchStore {
    override keepBatch (...[state, idempotency, outcomes]: Parameters<BatchStore['keepBatch']>) {
      state.batches.set(idempotency.key, { ...idempotency, outcomes: structuredClone([...outcomes]) })
    }
  }),
  plantBatch('concurrent batches with one key are all made', class extends BatchStore {
    override async writeBatch (...[all, options, changesOf]: Batch): Promise<WritesResult> {
      const { idempotency } = options
      if (idempotency === null) return await super.writeBatch(all, options, changesOf)
      const known = await this.read((state) => this.knownBatch(state, idempotency))
      await this.turn()
      if (known !== null) return this.replayBatch(known)
      const result = await super.writeBatch(all, { ...options, idempotency: null }, changesOf)
      await this.write('', () => null, (state) => {
        if (!options.atomic || result.outcomes.every(({ code }) => code === 'done')) {
          this.keepBatch(state, idempotency, result.outcomes)
        }
      })
      return { ...result, note: idempotency.note }
    }
  }),
  plantBatch('the order of members of kept fields is lost', class extends BatchStore {
    override replayBatch (row: BatchRow) {
      const result = super.replayBatch(row)
      for (const outcome of result.outcomes) {
        if (outcome.code !== 'done' || outcome.user === null) continue
        outcome.user.fields = Object.fromEntries(Object.entries(outcome.user.fields).sort())
      }
      return result
    }
  })
]
