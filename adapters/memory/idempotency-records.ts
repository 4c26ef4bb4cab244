import { requireSameRequest } from '../../lib/core/storage-rules.ts'
import type { Idempotency, UserRecord } from '../../lib/core/storage.ts'
import { SortedMap } from './sorted-map.ts'

interface IdempotencyRecord { fingerprint: string, expiresAt: string, user: UserRecord }

/** The idempotency keys in memory, each with the user that its creation made. */
export class IdempotencyRecords {
  readonly #records = new Map<string, IdempotencyRecord>()
  /** Keys by expiry: the expiry, NUL, the key. */
  readonly #expiries = new SortedMap<string>()

  /**
   * The user that the same creation made before, or null if this is the first.
   * @throws StorageError `idempotency_key_reused`
   */
  find (idempotency: Idempotency): UserRecord | null {
    const known = this.#records.get(idempotency.key)
    if (known === undefined || known.expiresAt <= idempotency.now) return null
    requireSameRequest(known.fingerprint, idempotency)
    return known.user
  }

  add ({ key, fingerprint, expiresAt }: Idempotency, user: UserRecord): void {
    this.#delete(key)
    this.#records.set(key, { fingerprint, expiresAt, user })
    this.#expiries.set(`${expiresAt}\0${key}`, key)
  }

  /** Deletes a key of a deleted user, unless another user has it by now. */
  deleteOf (userId: string, key: string): void {
    if (this.#records.get(key)?.user.id === userId) this.#delete(key)
  }

  /** Deletes the keys that are expired at `now`. */
  prune (now: string): void {
    for (const key of this.#expiries.range(0, this.#expiries.rank(`${now}\u0001`))) this.#delete(key)
  }

  #delete (key: string): void {
    const record = this.#records.get(key)
    if (record === undefined) return
    this.#records.delete(key)
    this.#expiries.delete(`${record.expiresAt}\0${key}`)
  }
}
