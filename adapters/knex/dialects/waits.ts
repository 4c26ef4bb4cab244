/**
 * Milliseconds that a batch of writes waits for a lock, and that a single write holds up others. What takes longer
 * waits for a transaction of the host's, or for a slow disk.
 */
export const LOCK_WAIT_MS = 25
