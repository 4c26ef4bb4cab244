import { requireSameRequest } from '../../lib/storage/storage-rules.ts'
import type { Idempotency, Json, WriteOutcome } from '../../lib/storage/storage.ts'
import { SortedMap } from './sorted-map.ts'

/** What a call has answered. */
export interface KeptResult { outcomes: readonly WriteOutcome[], note: Json }

/** Replaced, never changed. */
interface IdempotencyRecord {
  readonly fingerprint: string
  readonly expiresAt: string
  readonly kept: KeptResult
  /** One creation was all of the call: the key goes with its user. */
  readonly goesWithUser: boolean
}

/** The idempotency keys in memory, each with the outcomes of its call. */
export class IdempotencyRecords {
  readonly #records = new Map<string, IdempotencyRecord>()
  /** Keys by expiry: the expiry, NUL, the key. */
  readonly #expiries = new SortedMap<string>()

  /**
   * What the same call answered before, or null if this is the first.
   * @throws StorageError `idempotency_key_reused`
   */
  find (idempotency: Idempotency): KeptResult | null {
    const known = this.#records.get(idempotency.key)
    if (known === undefined || known.expiresAt <= idempotency.now) return null
    requireSameRequest(known.fingerprint, idempotency)
    return known.kept
  }

  add ({ key, fingerprint, expiresAt }: Idempotency, kept: KeptResult, goesWithUser: boolean): void {
    this.#delete(key)
    this.#set(key, { fingerprint, expiresAt, kept, goesWithUser })
  }

  /** Whether anything is kept under a key. */
  has (key: string): boolean {
    return this.#records.has(key)
  }

  /** Deletes what the key keeps of a user who is deleted, unless it is another user's by now. */
  deleteOf (userId: string, key: string): void {
    const record = this.#records.get(key)
    if (record === undefined) return
    const isOf = (outcome: WriteOutcome): boolean => outcome.code === 'done' && outcome.user?.id === userId
    const { outcomes, note } = record.kept
    if (!outcomes.some(isOf)) return
    if (record.goesWithUser) return this.#delete(key)
    const left = outcomes.map((outcome) => isOf(outcome) ? { ...outcome, user: null } : outcome)
    this.#records.set(key, { ...record, kept: { outcomes: left, note } })
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
