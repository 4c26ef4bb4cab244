import { StorageError } from '../../lib/errors.ts'

const GRACE_MS = 2000

/** The part of Knex's client that lends connections. */
export interface Pool {
  driverName: string
  pool: { max: number, numPendingAcquires (): number }
  acquireConnection (): Promise<unknown>
  releaseConnection (connection: unknown): Promise<void>
}

/** Has the pool throw a connection away instead of lending it again: this is how Knex itself marks one that it saw fail. */
export function discard (connection: unknown): void {
  if (typeof connection === 'object' && connection !== null) Reflect.set(connection, '__knex__disposed', new Error('discarded'))
}

/** Whether the pool will throw a connection away. */
export function isDiscarded (connection: unknown): boolean {
  return Object(connection).__knex__disposed !== undefined
}

/** Cuts the network under a connection of pg, so that nothing waits for an answer that may never come. */
function cut (connection: unknown): void {
  const { connection: wire } = Object(connection)
  wire?.stream?.destroy()
}

/**
 * An answer, or `unavailable` after so many milliseconds. A statement can't be taken back from a server that is silent, so its connection goes too.
 * No limit where the deadline is infinite.
 */
export function withDeadline<Value> (answer: Promise<Value>, connection: unknown, deadline: number): Promise<Value> {
  if (deadline === Infinity) return answer
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      discard(connection)
      cut(connection)
      // Whatever the answer still becomes, nobody listens to it any more.
      reject(new StorageError('unavailable', 'the database does not answer', 'ETIMEDOUT'))
    }, deadline)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** An answer; once the signal has come it is waited for a moment longer, and then its connection is cut. */
export function stoppable<Value> (answer: Promise<Value>, connection: unknown, signal?: AbortSignal): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    timer = setTimeout(() => {
      discard(connection)
      cut(connection)
    }, GRACE_MS)
  }
  signal?.addEventListener('abort', stop)
  return answer.finally(() => {
    signal?.removeEventListener('abort', stop)
    clearTimeout(timer)
  })
}
