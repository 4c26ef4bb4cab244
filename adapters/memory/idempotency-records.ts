import { StorageError } from '../../lib/storage/storage-error.ts'
import { requireSameRequest } from '../../lib/storage/storage-rules.ts'
import type { Idempotency, Json, UserRecord, WriteOutcome } from '../../lib/storage/storage.ts'
import { SortedMap } from './sorted-map.ts'

/** What a batch has answered. */
export interface KeptBatch { outcomes: readonly WriteOutcome[], note: Json }

/** Replaced, never changed. */
interface IdempotencyRecord {
  readonly fingerprint: string
  readonly expiresAt: string
  /** The user of a creation, or the answer of a batch. */
  readonly kept: { readonly user: UserRecord } | { readonly batch: KeptBatch }
}

/** The idempotency keys in memory, each with the user that its creation made, or the outcomes of its batch. */
export class IdempotencyRecords {
  readonly #records = new Map<string, IdempotencyRecord>()
  /** Keys by expiry: the expiry, NUL, the key. */
  readonly #expiries = new SortedMap<string>()

  /**
   * The user that the same creation made before, or null if this is the first.
   * @throws StorageError `idempotency_key_reused`
   */
  find (idempotency: Idempotency): UserRecord | null {
    const kept = this.#find(idempotency)
    if (kept === null) return null
    if ('user' in kept) return kept.user
    throw new StorageError('idempotency_key_reused', 'the key is that of a batch')
  }

  /**
   * What the same batch answered before, or null if this is the first.
   * @throws StorageError `idempotency_key_reused`
   */
  findBatch (idempotency: Idempotency): KeptBatch | null {
    const kept = this.#find(idempotency)
    if (kept === null) return null
    if ('batch' in kept) return kept.batch
    throw new StorageError('idempotency_key_reused', 'the key is that of a creation')
  }

  #find (idempotency: Idempotency): IdempotencyRecord['kept'] | null {
    const known = this.#records.get(idempotency.key)
    if (known === undefined || known.expiresAt <= idempotency.now) return null
    requireSameRequest(known.fingerprint, idempotency)
    return known.kept
  }

  add (idempotency: Idempotency, user: UserRecord): void {
    this.#add(idempotency, { user })
  }

  addBatch (idempotency: Idempotency, batch: KeptBatch): void {
    this.#add(idempotency, { batch })
  }

  #add ({ key, fingerprint, expiresAt }: Idempotency, kept: IdempotencyRecord['kept']): void {
    this.#delete(key)
    this.#set(key, { fingerprint, expiresAt, kept })
  }

  /** Whether anything is kept under a key. */
  has (key: string): boolean {
    return this.#records.has(key)
  }

  /** Deletes what the key keeps of a user who is deleted, unless it is another user's by now. */
  deleteOf (userId: string, key: string): void {
    const record = this.#records.get(key)
    if (record === undefined) return
    const { kept } = record
    if ('user' in kept) {
      if (kept.user.id === userId) this.#delete(key)
      return
    }
    const outcomes = kept.batch.outcomes.map((outcome) =>
      outcome.code === 'done' && outcome.user?.id === userId ? { ...outcome, user: null } : outcome)
    this.#records.set(key, { ...record, kept: { batch: { ...kept.batch, outcomes } } })
  }

  /** The records of these keys, for `restore`. */
  of (keys: readonly string[]): ReadonlyMap<string, IdempotencyRecord> {
    return new Map(keys.flatMap((key) => {
      const record = this.#records.get(key)
      return record === undefined ? [] : [[key, record] as const]
    }))
  }

  restore (records: ReadonlyMap<string, IdempotencyRecord>): void {
    for (const [key, record] of records) this.#set(key, record)
  }

  /** Deletes the keys that are expired at `now`. */
  prune (now: string): void {
    for (const key of this.#expiries.range(0, this.#expiries.rank(`${now}\u0001`))) this.#delete(key)
  }

  #set (key: string, record: IdempotencyRecord): void {
    this.#records.set(key, record)
    this.#expiries.set(`${record.expiresAt}\0${key}`, key)
  }

  #delete (key: string): void {
    const record = this.#records.get(key)
    if (record === undefined) return
    this.#records.delete(key)
    this.#expiries.delete(`${record.expiresAt}\0${key}`)
  }
}
