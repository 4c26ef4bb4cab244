import { createKeyedQueue } from '../../../lib/core/keyed-queue.ts'
import { StorageError } from '../../../lib/storage/storage-error.ts'

// Connections reserved for reads and group commits. Writes that may wait for a lock can’t take them.
const LEFT_FREE = 3

/** How many writes may wait for locks concurrently: as a pool has connections, less three; in a small pool half. */
export const writersOf = (connections: number): number =>
  Math.max(1, Math.floor(connections / 2), connections - LEFT_FREE)

/**
 * Runs a write that may wait for a lock. `key`: what it locks, null if that is not known; `until`: when it must have
 * its turn, by `performance.now()`.
 */
export type WriteQueue = <Value>(key: string | null, until: number, work: () => Promise<Value>) => Promise<Value>

/**
 * Keeps writes that wait for locks from taking every connection. At most `max` run concurrently, and those of one key
 * in turn: while a transaction of the host's holds the row of a user, one connection waits for it. Writes that have
 * queued for too long fail as `unavailable`, so that ever more do not pile up.
 */
export function createWriteQueue (max: number): WriteQueue {
  const inTurn = createKeyedQueue()
  const waiting: Array<() => void> = []
  let running = 0

  /** Whoever ends hands its place over. */
  function leave (): void {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }

  function start<Value> (until: number, work: () => Promise<Value>): Promise<Value> {
    const result = performance.now() > until
      ? Promise.reject(new StorageError('unavailable', 'the database is too busy to write'))
      : work()
    result.then(leave, leave)
    return result
  }

  function inQueue<Value> (until: number, work: () => Promise<Value>): Promise<Value> {
    if (running === max) return new Promise<void>((resolve) => waiting.push(resolve)).then(() => start(until, work))
    running++
    return start(until, work)
  }

  return (key, until, work) => key === null ? inQueue(until, work) : inTurn(key, () => inQueue(until, work))
}
