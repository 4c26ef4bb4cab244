import { type Claim, unclaimed } from '../core/claim.ts'
import type { CallerId } from '../core/context.ts'
import type { Repository } from '../storage/repository.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import { idempotencyOf } from './idempotency.ts'

/** The `Idempotency-Key` of a request, and whose it is. */
export interface SentKey {
  key: string
  ownerOf: () => Promise<CallerId>
}

/** Makes the function that claims a key for a request that writes something else than users. */
export type Claims = (sent: SentKey | null, tenant: string | undefined) => Claim

/** The note is stored before the write, which no method of a storage makes together with it. */
export function createClaims ({ users }: Repository, ttl: number): Claims {
  return (sent, tenant) => sent === null
    ? unclaimed
    : async (request, note) => {
      const idempotency = { ...idempotencyOf(sent.key, request, await sent.ownerOf(), ttl), note }
      const result = await fromStorage(() => users.write([], { tenant, atomic: true, idempotency }))
      return { note: String(result.note), isFirst: !result.replayed }
    }
}
