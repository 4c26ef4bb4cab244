import {
  afterPruning, apiKeyEvent, erased, eventOfSuccessor, updateEvents, userEvent
} from '../../../lib/storage/index.ts'
import type {
  ApiKeyRecord, EventLog, EventRecord, Idempotency, NewEvent, UserChanges, UserKeys, UserRecord, VersionGuard
} from '../../../lib/storage/storage.ts'
import type { Creation, DeletionEvent, Revocation, RevokeOptions } from '../../../adapters/testing/kit-storage.ts'
import type { UserUpdate } from '../../../lib/storage/make-write.ts'
import { storageOf } from '../method-store.ts'
import { LoggedReading } from './logged-reading.ts'
import type { Mistake } from './plant.ts'
import type { State } from './state.ts'

interface Pending { event: NewEvent | null, userId?: string, key?: ApiKeyRecord }

/** A correct store with an event log. */
export class LoggedStore extends LoggedReading {
  override supports = { transactions: true, eventLog: true, batches: false }
  pending: Pending = { event: null }

  get eventLog (): EventLog {
    return {
      read: (request) => this.readLog(request),
      find: (id) => this.read((state) => this.eventOf(state, id)),
      history: (subject, page) => this.history(subject, page),
      erase: (userId) => this.erase(userId),
      prune: (before, limit) => this.prune(before, limit),
      pruned: () => this.read((state) => structuredClone(state.pruned))
    }
  }

  override async createUser (
    user: UserRecord, keys: UserKeys, idempotency: Idempotency | null, event: NewEvent | null = null
  ): Promise<Creation> {
    this.pending = { event }
    return await super.createUser(user, keys, idempotency)
  }

  override async updateUser (
    id: string, changes: UserChanges, updatedAt: string, guard: VersionGuard, event: NewEvent | null = null
  ): Promise<UserUpdate | null> {
    this.pending = { event, userId: id }
    return await super.updateUser(id, changes, updatedAt, guard)
  }

  override async deleteUser (
    id: string, guard: VersionGuard, event: DeletionEvent | null = null
  ): Promise<UserRecord | null> {
    this.pending = { event, userId: id }
    return await super.deleteUser(id, guard)
  }

  override async createApiKey (
    key: ApiKeyRecord, options: { onlyFirst: boolean }, event: NewEvent | null = null
  ): Promise<boolean> {
    this.pending = { event, key }
    return await super.createApiKey(key, options)
  }

  override async rotateApiKey (
    id: string, successor: ApiKeyRecord, times: { now: string, expiresAt: string }, event: NewEvent | null = null
  ): Promise<ApiKeyRecord | null> {
    this.pending = { event, key: structuredClone(successor) }
    return await super.rotateApiKey(id, successor, times)
  }

  override async revokeApiKey (
    id: string, revokedAt: string, options: RevokeOptions, event: NewEvent | null = null
  ): Promise<Revocation | null> {
    this.pending = { event }
    return await super.revokeApiKey(id, revokedAt, options)
  }

  // The methods above call it before they wait for anything.
  override async write<C, T> (
    method: string, check: (state: State) => C, apply: (state: State, checked: C) => T
  ): Promise<T> {
    const pending = structuredClone(this.pending)
    this.pending = { event: null }
    return await super.write(method, check, (state, checked) => {
      const before = structuredClone(state.users.get(pending.userId ?? '')?.user ?? null)
      const result = apply(state, checked)
      this.recordResult(state, method, pending, result, before)
      return result
    })
  }

  recordResult (state: State, method: string, pending: Pending, result: unknown, before: UserRecord | null): void {
    if (pending.event === null) return
    this.recordAll(state, this.eventsOf(method, pending.event, pending, result, before))
    if (before !== null && result !== null && this.erases(pending.event)) this.eraseOf(state, before.id)
  }

  recordAll (state: State, events: readonly EventRecord[]): void {
    for (const event of events) state.events.push(structuredClone(event))
  }

  /** What a write records, by its result. */
  eventsOf (
    method: string, event: NewEvent, { key }: Pending, result: unknown, before: UserRecord | null
  ): EventRecord[] {
    const { user, replayed, changed }: { user?: UserRecord, replayed?: boolean, changed?: boolean } = Object(result)
    switch (method) {
      case 'createUser': return user !== undefined && replayed === false ? [userEvent(event, user)] : []
      case 'updateUser': return user !== undefined && before !== null && changed === true
        ? this.updateOf(event, before, user)
        : []
      case 'deleteUser': return before === null || result === null ? [] : this.deletionOf(event, before)
      case 'createApiKey': return result === true && key !== undefined ? [this.keyEventOf(event, key)] : []
      case 'rotateApiKey': return result === null || key === undefined ? [] : [this.keyEventOf(event, key)]
      case 'revokeApiKey': return this.revocationsOf(event, result)
      default: return []
    }
  }

  revocationsOf (event: NewEvent, result: unknown): EventRecord[] {
    const { key, changed, successors = [] }: Partial<Revocation> = Object(result)
    for (const each of successors) each.event = this.successorEvent(event)
    const own = changed === true && key !== undefined ? [this.keyEventOf(event, key)] : []
    return [...own, ...successors.map((each) => this.keyEventOf(each.event ?? event, each.key))]
  }

  successorEvent (event: NewEvent): NewEvent {
    return eventOfSuccessor(event) ?? event
  }

  updateOf (event: NewEvent, before: UserRecord, after: UserRecord): EventRecord[] {
    return updateEvents(event, before, after)
  }

  deletionOf (event: NewEvent, user: UserRecord): EventRecord[] {
    return [userEvent(event, user)]
  }

  keyEventOf (event: NewEvent, key: ApiKeyRecord): EventRecord {
    return apiKeyEvent(event, key)
  }

  erases (event: NewEvent): boolean {
    return Object(event).erase === true
  }

  async erase (userId: string): Promise<number> {
    return await super.write('erase', () => null, (state) => this.eraseOf(state, userId))
  }

  eraseOf (state: State, userId: string): number {
    let count = 0
    for (const [i, event] of state.events.entries()) {
      if (event.subject !== userId) continue
      state.events[i] = this.erasedEvent(event)
      count++
    }
    return count
  }

  erasedEvent (event: EventRecord): EventRecord {
    return erased(event)
  }

  async prune (before: string, limit: number): Promise<number> {
    return await super.write('prune', () => null, (state) => {
      const pruned = this.prunable(state.events, before, limit)
      this.notePruned(state, state.events.slice(0, pruned))
      state.events = state.events.slice(pruned)
      return pruned
    })
  }

  notePruned (state: State, events: readonly EventRecord[]): void {
    state.pruned = afterPruning(state.pruned, events)
  }

  prunable (events: readonly EventRecord[], before: string, limit: number): number {
    const isOld = (i: number) => (events[i]?.timestamp ?? before) < before
    let count = 0
    while (count < limit && isOld(count) && isOld(count + 1)) count++
    return count
  }
}

/** A named mistake of a store with an event log and without transactions. */
export function plantLogged (title: string, Store: new () => LoggedStore): Mistake {
  return {
    title,
    create: () => {
      const store = new Store()
      store.supports = { transactions: false, eventLog: true, batches: false }
      return { storage: storageOf(store) }
    }
  }
}

/** The same of a store with transactions too. */
export function plantLoggedJoinable (title: string, Store: new () => LoggedStore): Mistake {
  const create = () => {
    const store = new Store()
    return { storage: storageOf(store), begin: () => store.begin() }
  }
  return { title, create }
}
