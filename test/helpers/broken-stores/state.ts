import type { ApiKeyRecord, Idempotency, UserKeys, UserRecord } from '../../../lib/core/storage.ts'
import type { Is } from './mistakes.ts'

/** A user as the broken stores keep it. */
export interface Entry {
  user: UserRecord
  /** As it was created. */
  first: UserRecord
  keys: UserKeys
  deleted: boolean
  /** When it was last written, as a count of writes. */
  changed: number
  /** True if it was written after a field became filterable. */
  indexed: boolean
}

/** What a broken store keeps. */
export interface State {
  is: Is
  users: Entry[]
  apiKeys: ApiKeyRecord[]
  idempotencyRecords: Array<Idempotency & { user: UserRecord }>
  /** Former e-mail keys that stay taken by mistake. */
  formerEmailKeys: Set<string>
  filterable: Set<string>
  closings: number
  migrations: number
  writes: number
}

/** An empty store. */
export function emptyState (is: Is): State {
  return {
    is,
    users: [],
    apiKeys: [],
    idempotencyRecords: [],
    formerEmailKeys: new Set(),
    filterable: new Set(),
    closings: 0,
    migrations: 0,
    writes: 0
  }
}

/** Lets other calls come between a check and a write. */
export const otherCalls = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve))
