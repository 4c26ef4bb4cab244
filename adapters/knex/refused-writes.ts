import { isStorageError } from '../../lib/storage/storage-error.ts'

// Whoever has heard of it may send no more writes: then only time says that there may be room again.
const REMEMBERED_MS = 10_000

// A full disk, of SQLite and of PostgreSQL (appendix A: disk_full), and a file that may only be read.
const REFUSED = /^(?:SQLITE_FULL|53100|SQLITE_READONLY)/

/** What is known of whether the database takes writes. */
export interface RefusedWrites {
  /** True for ten seconds after the database took no write, unless another one has succeeded since. */
  areRefused (): boolean
  /** Notes what has failed a write; null: nothing. */
  note (error: unknown): void
}

export function createRefusedWrites (): RefusedWrites {
  let refusedUntil = -Infinity
  return {
    areRefused: () => performance.now() < refusedUntil,
    note (error) {
      if (error === null) refusedUntil = -Infinity
      else if (isStorageError(error) && REFUSED.test(error.driverCode ?? '')) {
        refusedUntil = performance.now() + REMEMBERED_MS
      }
    }
  }
}
