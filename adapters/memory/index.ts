import type { Storage } from '../../lib/core/storage.ts'
import { memoryApiKeys } from './api-keys.ts'
import { memoryUsers } from './users.ts'

/**
 * A storage in the memory of the process: for tests, and for data that may be gone tomorrow. The work of an operation
 * is about logarithmic in the number of users.
 */
export function memory (): Storage {
  return {
    name: 'memory',
    supports: { transactions: false },
    joinTransaction () { throw new TypeError('fastify-users: the memory store has no transactions') },
    async close () {},
    ...memoryUsers(),
    ...memoryApiKeys()
  }
}
