import { isStorageError } from '../../lib/storage/storage-error.ts'

// Whoever has heard of it may send no more writes: then only time says that there may be room again.
const REMEMBERED_MS = 10_000

// Of SQLite, and of PostgreSQL (appendix A: disk_full).
const FULL = ['SQLITE_FULL', '53100']

/** What is known of the room on the database's disk. */
export interface DiskRoom {
  /** True for ten seconds after a write found no room, unless another one has succeeded since. */
  isFull (): boolean
  /** Notes whether a write found room. `error`: what has failed it; null: nothing. */
  note (error: unknown): void
}

export function createDiskRoom (): DiskRoom {
  let fullUntil = -Infinity
  return {
    isFull: () => performance.now() < fullUntil,
    note (error) {
      if (error === null) fullUntil = -Infinity
      else if (isStorageError(error) && FULL.includes(String(error.driverCode))) {
        fullUntil = performance.now() + REMEMBERED_MS
      }
    }
  }
}
