import { type Call, FROM_PROCESS as CALL_FROM_PROCESS } from '../core/context.ts'
import type { Scopes } from './grants.ts'

/** Where a call comes from. */
export interface WebhookCall extends Call {
  scopes: Scopes
  /** Runs what uses the storage, of an operation that waits for more than that. */
  limited: <Value>(work: () => Promise<Value>) => Promise<Value>
}

export const FROM_PROCESS: WebhookCall = { ...CALL_FROM_PROCESS, scopes: null, limited: (work) => work() }

/** Whose turn a call takes. */
export function callerOf ({ context: { actor } }: WebhookCall): string {
  return actor === null ? 'process' : `${actor.type} ${actor.id}`
}
