import { setTimeout as delay } from 'node:timers/promises'
import { UsersError } from '../core/errors.ts'
import { watchForegroundRequests } from '../core/foreground-requests.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { Repository } from '../storage/repository.ts'

// How many records of a tenant go in one step.
const REMOVED_TOGETHER = 500
const ONE = { order: 'asc', limit: 1, from: { offset: 0 } } as const

/** The deletions of tenants that this process is making. */
export interface TenantRemovals {
  /**
   * Deletes all that a tenant has at this moment. Whoever asks while it is being deleted waits for the same deletion.
   * @throws UsersError `storage_unavailable`, also if the server closes before the end
   */
  remove (tenant: string): Promise<void>
  /** True while it is being deleted. */
  isRunning (tenant: string): boolean
  /** Ends them all behind the steps that have begun. */
  close (): Promise<void>
}

interface Removal {
  /** Somebody has asked again: what was made since a step began goes too. */
  isAskedAgain: boolean
  done: Promise<void>
}

interface RemovalOptions {
  /** Forgets the keys that were verified. */
  clear: () => void
  /** How long other processes go on taking a key that is deleted, in milliseconds. */
  keyCacheMs: number
}

/** Makes what deletes tenants in steps, beside requests. */
export function createTenantRemovals (
  { tenants, apiKeys }: Pick<Repository, 'tenants' | 'apiKeys'>, { clear, keyCacheMs }: RemovalOptions
): TenantRemovals {
  const running = new Map<string, Removal>()
  const closing = new AbortController()
  const { signal } = closing

  async function step (tenant: string): Promise<boolean> {
    if (signal.aborted) {
      const cause = new Error('the server is closing before the tenant was deleted completely: delete it again')
      throw new UsersError('storage_unavailable', { cause })
    }
    const removed = await fromStorage(() => tenants.remove(tenant, REMOVED_TOGETHER))
    if (removed > 0) clear()
    return removed > 0
  }

  async function run (tenant: string, removal: Removal): Promise<void> {
    const requests = watchForegroundRequests()
    const sweep = async (): Promise<void> => {
      do {
        removal.isAskedAgain = false
        while (await step(tenant)) await requests.yieldToRequests()
      } while (removal.isAskedAgain)
    }
    try {
      const { total: keys } = await fromStorage(() => apiKeys.list({ ...ONE, tenant }))
      await sweep()
      if (keys === 0 || keyCacheMs === 0) return
      // Until other processes read its keys again, they create users with them. These users go too.
      await delay(keyCacheMs, null, { signal }).catch(() => {})
      await sweep()
    } finally {
      requests.close()
      running.delete(tenant)
    }
  }

  return {
    async remove (tenant) {
      const known = running.get(tenant)
      if (known !== undefined) {
        known.isAskedAgain = true
        return known.done
      }
      const removal: Removal = { isAskedAgain: false, done: Promise.resolve() }
      running.set(tenant, removal)
      removal.done = run(tenant, removal)
      return removal.done
    },
    isRunning: (tenant) => running.has(tenant),
    async close () {
      closing.abort()
      await Promise.allSettled([...running.values()].map(({ done }) => done))
    }
  }
}
