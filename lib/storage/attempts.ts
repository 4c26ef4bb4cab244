import { setTimeout as delay } from 'node:timers/promises'
import { StorageError } from './storage-error.ts'

// How long, and how often at least, a write is repeated that others come before.
const PATIENCE_MS = 10_000
const ATTEMPTS_MIN = 20
const PAUSE_MAX_MS = 50

/** Waits before an attempt, longer each time, so that writers of other processes do not meet again. */
export async function pauseBefore (attempt: number, since: number): Promise<void> {
  if (attempt > ATTEMPTS_MIN && performance.now() - since > PATIENCE_MS) {
    throw new StorageError('unavailable', 'other writers keep changing the rows')
  }
  if (attempt > 1) await delay(Math.random() * Math.min(2 ** attempt, PAUSE_MAX_MS))
}
