import { setImmediate as turn } from 'node:timers/promises'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import type {
  ApiKeyRecord, DeliveryRecord, EventRecord, Idempotency, Json, PrunedEvents, UserKeys, UserRecord, WebhookRecord,
  WriteOutcome
} from '../../../lib/storage/storage.ts'

/** A user with the keys it is found by. */
export interface UserRow { user: UserRecord, keys: UserKeys }

/** An idempotency key with the user of its creation, as it was then. */
export interface IdempotencyRow extends Idempotency { user: UserRecord }

/** An idempotency key with what its batch answered. */
export interface BatchRow extends Idempotency { outcomes: WriteOutcome[], note: Json }

/** All that a store keeps. */
export class State {
  users = new Map<string, UserRow>()
  idempotency = new Map<string, IdempotencyRow>()
  batches = new Map<string, BatchRow>()
  apiKeys = new Map<string, ApiKeyRecord>()
  events: EventRecord[] = []
  pruned: PrunedEvents[] = []
  webhooks = new Map<string, WebhookRecord>()
  deliveries = new Map<string, DeliveryRecord>()

  copy (): State {
    const copy = new State()
    copy.users = structuredClone(this.users)
    copy.idempotency = structuredClone(this.idempotency)
    copy.batches = structuredClone(this.batches)
    copy.apiKeys = structuredClone(this.apiKeys)
    copy.events = structuredClone(this.events)
    copy.pruned = structuredClone(this.pruned)
    copy.webhooks = structuredClone(this.webhooks)
    copy.deliveries = structuredClone(this.deliveries)
    return copy
  }
}

/** What a store reads and writes: the database, or a transaction on it. */
export interface Session {
  readonly state: State
  /** Resolves when a write may be made. */
  free (): Promise<void>
}

/** A transaction of the host's, as the host gets it. */
export interface HostTransaction {
  transaction: unknown
  commit (): Promise<unknown>
  rollback (): Promise<unknown>
}

export class Database implements Session {
  state = new State()
  open: Transaction | null = null

  async free (): Promise<void> {
    while (this.open !== null) await this.open.ended
  }

  async begin (): Promise<Transaction> {
    await turn()
    await this.free()
    this.open = new Transaction(this)
    return this.open
  }
}

/** Works on a copy, which is put in place by a commit. Only one is open at a time. */
export class Transaction implements Session {
  readonly database: Database
  readonly ended: Promise<void>
  isOpen = true
  callbacks: Array<() => void> = []
  kept: State
  #end = () => {}

  constructor (database: Database) {
    this.database = database
    this.kept = database.state.copy()
    this.ended = new Promise((resolve) => { this.#end = resolve })
  }

  get state (): State {
    if (!this.isOpen) throw new StorageError('fault', 'the transaction has ended')
    return this.kept
  }

  async free (): Promise<void> {}

  async commit (): Promise<void> {
    await turn()
    this.database.state = this.state
    this.finish()
    for (const callback of this.callbacks) callback()
  }

  async rollback (): Promise<void> {
    await turn()
    if (this.isOpen) this.finish()
  }

  finish (): void {
    this.isOpen = false
    this.database.open = null
    this.#end()
  }
}
