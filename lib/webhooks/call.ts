import { type Claim, unclaimed } from '../core/claim.ts'
import { type Call, FROM_PROCESS as CALL_FROM_PROCESS } from '../core/context.ts'
import type { Scopes } from './grants.ts'

/** Where a call comes from. */
export interface WebhookCall extends Call {
  scopes: Scopes
  /** Whose share it takes: a tenant with all its keys, or a caller. */
  caller: string
  /** Runs what uses the storage, of an operation that waits for more than that. */
  limited: <Value>(work: () => Promise<Value>) => Promise<Value>
  /** Claims its `Idempotency-Key`. */
  claim: Claim
}

export const FROM_PROCESS: WebhookCall = {
  ...CALL_FROM_PROCESS, scopes: null, caller: 'process', limited: (work) => work(), claim: unclaimed
}
