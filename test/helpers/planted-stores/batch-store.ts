import { makeWrite, type UserUpdate } from '../../../lib/storage/make-write.ts'
import { requireSameRequest, withoutUsers } from '../../../lib/storage/storage-rules.ts'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import type {
  Idempotency, NewEvent, UserChanges, UserKeys, UserRecord, VersionGuard, WriteOutcome, WritesOptions, WritesResult
} from '../../../lib/storage/storage.ts'
import type { BatchWrite, ChangesOf } from '../method-store.ts'
import { storageOf } from '../method-store.ts'
import { LoggedStore } from './logged-store.ts'
import type { Mistake } from './plant.ts'
import type { BatchRow, IdempotencyRow, State } from './state.ts'

/** The writes of a batch, by the names that they have in the store. */
export interface SynchronousWrites {
  findUser: (id: string) => UserRecord | null
  createUser: (user: UserRecord, keys: UserKeys, idempotency: null, event: NewEvent | null) => { user: UserRecord }
  updateUser: (
    id: string, changes: UserChanges, updatedAt: string, guard: VersionGuard, event: NewEvent | null
  ) => UserUpdate | null
  deleteUser: (id: string, guard: VersionGuard, event: NewEvent | null) => UserRecord | null
}

/** A correct store with batches and an event log. */
export class BatchStore extends LoggedStore {
  override supports = { transactions: true, eventLog: true, batches: true }

  async writeBatch (
    writes: readonly BatchWrite[], options: WritesOptions, changesOf: ChangesOf
  ): Promise<WritesResult> {
    const given: readonly BatchWrite[] = structuredClone(writes)
    const { atomic, idempotency } = structuredClone(options)
    const run = (state: State) => this.runBatch(state, given, atomic, idempotency, changesOf)
    return await this.write('writeBatch', () => null, run)
  }

  runBatch (
    state: State, writes: readonly BatchWrite[], atomic: boolean, idempotency: Idempotency | null, changesOf: ChangesOf
  ): WritesResult {
    const known = idempotency === null ? null : this.knownBatch(state, idempotency)
    if (known !== null) return this.replayBatch(known)
    const before = state.copy()
    let outcomes: WriteOutcome[]
    try {
      outcomes = this.runWrites(state, writes, atomic, changesOf)
    } catch (error) {
      this.undo(state, before)
      throw error
    }
    const isUndone = atomic && outcomes.some(({ code }) => code !== 'done')
    if (isUndone) this.undo(state, before)
    if (idempotency !== null && this.keepsKey(isUndone)) this.keepBatch(state, idempotency, outcomes)
    return { outcomes, note: structuredClone(idempotency?.note ?? null), replayed: false }
  }

  keepsKey (isUndone: boolean): boolean {
    return !isUndone
  }

  undo (state: State, before: State): void {
    Object.assign(state, before)
  }

  runWrites (state: State, writes: readonly BatchWrite[], atomic: boolean, changesOf: ChangesOf): WriteOutcome[] {
    const users = this.writesIn(state)
    const outcomes: WriteOutcome[] = []
    for (const [index, write] of writes.entries()) {
      const outcome = this.runWrite(users, write, index, changesOf)
      outcomes.push(outcome)
      if (atomic && this.endsBatch(outcome)) break
    }
    return outcomes
  }

  endsBatch ({ code }: WriteOutcome): boolean {
    return code !== 'done'
  }

  runWrite (users: SynchronousWrites, write: BatchWrite, index: number, changesOf: ChangesOf): WriteOutcome {
    const { findUser, createUser, updateUser, deleteUser } = users
    const given = write.type === 'update'
      ? { ...write, changes: write.changes ?? ((user: UserRecord) => changesOf(index, user)) }
      : write
    return makeWrite({
      find: findUser,
      create: (user, keys, event) => createUser(user, keys, null, event).user,
      update: updateUser,
      remove: (id, { guard, event }) => deleteUser(id, guard, event)
    }, given)
  }

  writesIn (state: State): SynchronousWrites {
    const recorded = <T>(method: string, event: NewEvent | null, userId: string, run: () => T): T => {
      const before = structuredClone(state.users.get(userId)?.user ?? null)
      const result = run()
      this.recordResult(state, method, { event }, result, before)
      return result
    }
    return {
      findUser: (id) => {
        const row = this.find(state.users, id)
        return row === null ? null : this.giveUser(row.user)
      },
      createUser: (user, keys, _idempotency, event) => recorded('createUser', event, user.id, () => {
        const row = { user: this.keepUser(user), keys: this.keepKeys(keys) }
        this.checkCreation(state, row, null)
        return this.addUser(state, row, null)
      }),
      updateUser: (id, changes, updatedAt, guard, event) => recorded('updateUser', event, id, () => {
        const row = this.checkUpdate(state, id, changes, guard)
        return row === null ? null : this.applyUpdate(state, row, changes, updatedAt)
      }),
      deleteUser: (id, guard, event) => recorded('deleteUser', event, id, () => {
        const row = this.checkDeletion(state, id, guard)
        return row === null ? null : this.removeUser(state, row)
      })
    }
  }

  knownBatch (state: State, idempotency: Idempotency): BatchRow | null {
    const row = state.batches.get(idempotency.key) ?? null
    if (state.idempotency.has(idempotency.key)) {
      throw new StorageError('idempotency_key_reused', 'the key is that of a creation')
    }
    if (row === null || !this.isLiveBatch(row, idempotency.now)) return null
    this.requireSameBatch(row, idempotency)
    return row
  }

  isLiveBatch (row: BatchRow, now: string): boolean {
    return row.expiresAt > now
  }

  requireSameBatch (row: BatchRow, idempotency: Idempotency): void {
    requireSameRequest(row.fingerprint, idempotency)
  }

  override firstCreation (state: State, idempotency: Idempotency): IdempotencyRow | null {
    if (this.isOfBatch(state, idempotency.key)) {
      throw new StorageError('idempotency_key_reused', 'the key is that of a batch')
    }
    return super.firstCreation(state, idempotency)
  }

  isOfBatch (state: State, key: string): boolean {
    return state.batches.has(key)
  }

  replayBatch ({ outcomes, note }: BatchRow): WritesResult {
    return { ...structuredClone({ outcomes, note }), replayed: true }
  }

  /** Without the users that are gone by now. */
  keepBatch (state: State, idempotency: Idempotency, outcomes: readonly WriteOutcome[]): void {
    const bare = withoutUsers(outcomes)
    const kept = outcomes.map((outcome, i) =>
      outcome.code === 'done' && outcome.user !== null && !state.users.has(outcome.user.id)
        ? bare[i] ?? outcome
        : structuredClone(outcome))
    state.batches.set(idempotency.key, { ...idempotency, outcomes: kept })
  }

  override forgetCreation (state: State, id: string): void {
    super.forgetCreation(state, id)
    for (const row of state.batches.values()) this.forgetInBatch(row, id)
  }

  forgetInBatch (row: BatchRow, id: string): void {
    for (const outcome of row.outcomes) {
      if (outcome.code === 'done' && this.isOf(outcome.user, id)) outcome.user = null
    }
  }

  isOf (user: UserRecord | null, id: string): boolean {
    return user?.id === id
  }

  override async pruneIdempotency (now: string): Promise<void> {
    await super.pruneIdempotency(now)
    await this.write('pruneBatches', () => null, (state) => this.pruneBatches(state, now))
  }

  pruneBatches (state: State, now: string): void {
    for (const [key, row] of [...state.batches]) if (!this.isLiveBatch(row, now)) state.batches.delete(key)
  }
}

/** A named mistake of a store with batches, and without transactions. */
export function plantBatch (title: string, Store: new () => BatchStore): Mistake {
  return {
    title,
    create: () => {
      const store = new Store()
      store.supports = { transactions: false, eventLog: true, batches: true }
      return { storage: storageOf(store) }
    }
  }
}

/** The same of a store with transactions too. */
export function plantBatchJoinable (title: string, Store: new () => BatchStore): Mistake {
  return {
    title,
    create: () => {
      const store = new Store()
      return { storage: storageOf(store), begin: () => store.begin() }
    }
  }
}
