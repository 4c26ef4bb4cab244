import type { Storage } from '../../lib/storage/storage.ts'
import { memoryApiKeys } from './api-keys.ts'
import { MemoryEvents } from './event-log.ts'
import { memoryUsers } from './users.ts'
import { memoryWebhooks } from './webhooks.ts'

/**
 * A storage in the memory of the process: for tests, and for data that may be gone tomorrow. The work of an operation
 * is about logarithmic in the number of users.
 */
export function memory (): Storage {
  const events = new MemoryEvents()
  return {
    name: 'memory',
    eventLog: events,
    webhooks: memoryWebhooks(events),
    async close () {},
    ...memoryUsers(events),
    ...memoryApiKeys(events)
  }
}
