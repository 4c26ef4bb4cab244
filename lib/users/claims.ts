import { type Claim, unclaimed } from '../core/claim.ts'
import type { CallerId } from '../core/context.ts'
import { validationFailed } from '../core/errors.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { Storage } from '../storage/storage.ts'
import { idempotencyOf } from './idempotency.ts'

/** The `Idempotency-Key` of a request, and whose it is. */
export interface SentKey {
  key: string
  ownerOf: () => Promise<CallerId>
}

/** Makes the function that claims a key for a request that writes something else than users. */
export type Claims = (sent: SentKey | null) => Claim

/** The note is stored before the write, which no method of a storage makes together with it. */
export function createClaims (storage: Pick<Storage, 'name' | 'writeUsers' | 'singleWrites'>, ttl: number): Claims {
  return (sent) => sent === null
    ? unclaimed
    : async (request, note) => {
      if (storage.singleWrites === true) {
        const detail = `can't be kept for this request by the storage ${storage.name}`
        throw validationFailed([{ header: 'idempotency-key', code: 'forbidden', detail }])
      }
      const idempotency = { ...idempotencyOf(sent.key, request, await sent.ownerOf(), ttl), note }
      const result = await fromStorage(() => storage.writeUsers([], { atomic: true, idempotency }))
      return { note: String(result.note), isFirst: !result.replayed }
    }
}
