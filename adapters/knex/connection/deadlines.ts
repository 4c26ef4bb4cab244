import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { Driver } from '../drivers/driver.ts'
import { discard } from '../drivers/knex-internals.ts'

const ABORT_GRACE_MS = 2000

type SocketDriver = Pick<Driver, 'destroySocket'>

/** Closes a connection without waiting for the server. */
function abandon (connection: unknown, { destroySocket }: SocketDriver): void {
  discard(connection)
  destroySocket(connection)
}

/**
 * Returns the result, or rejects with `unavailable` at the deadline, by `performance.now()`. A statement can't be
 * cancelled on a server that does not answer, so its connection is closed. `Infinity` means no deadline.
 */
export function withDeadline<Value> (
  result: Promise<Value>,
  driver: SocketDriver,
  connection: unknown,
  deadline: number
): Promise<Value> {
  if (deadline === Infinity) return result
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      abandon(connection, driver)
      // Nobody awaits the result any more.
      reject(new StorageError('unavailable', 'the database does not answer', { driverCode: 'ETIMEDOUT' }))
    }, Math.max(0, deadline - performance.now()))
    result.then((value) => {
      clearTimeout(timer)
      resolve(value)
    }, (error) => {
      clearTimeout(timer)
      reject(error)
    })
  })
}

/** Returns the result. After the signal, waits two more seconds for it, and then closes its connection. */
export function untilAborted<Value> (
  result: Promise<Value>,
  driver: SocketDriver,
  connection: unknown,
  signal?: AbortSignal
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    timer = setTimeout(() => abandon(connection, driver), ABORT_GRACE_MS)
  }
  signal?.addEventListener('abort', stop)
  return result.finally(() => {
    signal?.removeEventListener('abort', stop)
    clearTimeout(timer)
  })
}
