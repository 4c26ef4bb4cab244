import { storageOn } from '../../lib/storage/old-door.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { memoryRows } from './store.ts'

/**
 * A storage in the memory of the process: for tests, and for data that may be gone tomorrow. The work of an operation
 * is about logarithmic in the number of users.
 */
export function memory (): Storage {
  return storageOn(memoryRows())
}
