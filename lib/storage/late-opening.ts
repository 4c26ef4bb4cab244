import { StorageError } from './storage-error.ts'
import type { Storage } from './storage.ts'

/** How many mounts have begun to work before each storage is open. */
const waiting = new WeakMap<Storage, number>()

/** Refuses the calls of all mounts on a storage until the returned function is called. */
export function refuseCalls (storage: Storage): () => void {
  waiting.set(storage, (waiting.get(storage) ?? 0) + 1)
  return () => { waiting.set(storage, (waiting.get(storage) ?? 1) - 1) }
}

/** Why a storage is not called; null: it is open. */
export function refusalOf (storage: Storage): StorageError | null {
  if ((waiting.get(storage) ?? 0) === 0) return null
  return new StorageError('unavailable', 'the storage is not open yet: its tables are made, migrated or checked')
}
