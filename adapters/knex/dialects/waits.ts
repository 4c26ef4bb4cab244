/**
 * How many milliseconds a batch of writes waits for a lock, and a single write may hold up others. A write that takes
 * longer is waiting for a transaction of the host, or for a slow disk.
 */
export const LOCK_WAIT_MS = 25
