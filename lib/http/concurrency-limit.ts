import { UsersError } from '../core/errors.ts'

/** Runs work, or throws UsersError `storage_unavailable` if too much is running. */
export type ConcurrencyLimit = <Value>(work: () => Promise<Value>) => Promise<Value>

/**
 * Limits how much work runs concurrently. Above `max`, work is refused immediately: it waits in no queue and takes no
 * connection of the storage. Without `max` there is no limit.
 */
export function createConcurrencyLimit (max: number | undefined): ConcurrencyLimit {
  if (max === undefined) return (work) => work()
  let running = 0
  return async (work) => {
    if (running >= max) {
      const detail = 'Too many requests are running at the moment. Try again later.'
      throw new UsersError('storage_unavailable', { detail, headers: { 'retry-after': '1' } })
    }
    running++
    try {
      return await work()
    } finally {
      running--
    }
  }
}
