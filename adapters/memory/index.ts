import type { Storage } from '../../lib/storage/storage.ts'
import { memoryApiKeys } from './api-keys.ts'
import { MemoryEvents } from './event-log.ts'
import { memoryTenants } from './tenants.ts'
import { memoryUsers } from './users.ts'
import { memoryWebhooks } from './webhooks.ts'

/**
 * A storage in the memory of the process: for tests, and for data that may be gone tomorrow. The work of an operation
 * is about logarithmic in the number of users.
 */
export function memory (): Storage {
  const events = new MemoryEvents()
  const { tenants: usersOfTenants, drop: dropUsers, assign, ...users } = memoryUsers(events)
  const { tenants: keysOfTenants, drop: dropKeys, ...apiKeys } = memoryApiKeys(events)
  const { drop: dropWebhooks, ...webhooks } = memoryWebhooks(events)
  return {
    name: 'memory',
    eventLog: events,
    webhooks,
    tenants: memoryTenants({
      users: usersOfTenants,
      keys: keysOfTenants,
      assign,
      drops: [dropKeys, dropUsers, (tenant, limit) => events.forget(tenant, limit), dropWebhooks]
    }),
    async close () {},
    ...users,
    ...apiKeys
  }
}
