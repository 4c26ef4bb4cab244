import { type Door, doorOf } from './door.ts'
import { eraseEvents } from './event-erasure.ts'
import { createGroupStore } from './group-loop.ts'
import { createKeys } from './key-loop.ts'
import { createKeyUses } from './key-uses.ts'
import type { Storage, StorageInTransaction } from './storage.ts'
import { createTenantStore } from './tenant-loop.ts'
import { createTrash } from './trash.ts'
import { createUserWrites } from './user-loop.ts'
import { createWebhookStore } from './webhook-loop.ts'

const PRUNED_TOGETHER = 1000
// The rows of so many users that were written last need not be read again to change them.
const REMEMBERED = 10_000

/** What services read and write: our rules on the rows of a store. */
export type Repository = ReturnType<typeof createRepository>

interface RepositoryParts {
  /** As of `createUserWrites`. */
  remembers: number
  /** Inside a transaction of the host's. */
  isJoined: boolean
}

function createRepository (storage: Door, { remembers, isJoined }: RepositoryParts) {
  const { forget, ...writes } = createUserWrites(storage, remembers)
  const tenants = createTenantStore(storage)
  const { log } = storage

  return {
    storage,
    isJoined,
    /** Null: none are read. */
    standbys: isJoined ? null : storage.standbys,
    users: { ...storage.users, ...writes },
    apiKeys: createKeys(storage),
    keyUses: createKeyUses(storage),
    trash: createTrash(storage),
    groups: createGroupStore(storage),
    webhooks: createWebhookStore(storage),
    /** As of the store, and erasure. */
    events: { ...log, erase: (userId: string, tenant?: string) => eraseEvents(storage, userId, tenant) },
    tenants: {
      ...tenants,
      async remove (tenant: string, limit: number): Promise<number> {
        forget()
        return tenants.remove(tenant, limit)
      }
    },

    /** Deletes what is expired at `now`: idempotency keys. Called periodically, outside of requests. */
    async prune (now: string): Promise<void> {
      const page = { order: 'asc', limit: PRUNED_TOGETHER, from: { offset: 0 } } as const
      while (true) {
        const { items } = await storage.list('idempotency', { upTo: { member: 'expiresAt', value: now }, page })
        await storage.commit(items.map((was) =>
          ({ writes: [{ in: 'idempotency', put: null, was }], events: [], rewrites: [] })))
        if (items.length < PRUNED_TOGETHER) return
      }
    }
  }
}

const repositories = new WeakMap<Storage, Repository>()

/** The repository of a store: one for all mounts, so that writers of one user wait for each other. */
export function repositoryOf (storage: Storage): Repository {
  const known = repositories.get(storage)
  if (known !== undefined) return known
  const remembers = storage.server === undefined ? 0 : REMEMBERED
  const made = createRepository(doorOf(storage), { remembers, isJoined: false })
  repositories.set(storage, made)
  return made
}

/** The repository of a transaction of the host's. What was seen outside of it may not be so inside. */
export function repositoryIn (joined: StorageInTransaction): Repository {
  return createRepository(doorOf(joined), { remembers: 0, isJoined: true })
}
