import { watchForegroundRequests } from '../core/foreground-requests.ts'
import { UsersError } from '../core/errors.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { Repository } from '../storage/repository.ts'
import type { TenantStore, UnassignedUser } from '../storage/tenant-loop.ts'
import { assignUsers, type TenantAssignment } from '../storage/tenant-assignment.ts'

/** How users are given to a tenant. */
export interface AssignOptions {
  /** Is called with each user who stays without a tenant. */
  onRefused?: (user: UnassignedUser) => unknown
}

/** What gives users without a tenant to one. */
export interface TenantAssignments {
  /** @throws UsersError `storage_unavailable`, also if the server closes before the end */
  assign (tenant: string, options?: AssignOptions): Promise<TenantAssignment>
  /** Ends them all behind the steps that have begun. */
  close (): Promise<void>
}

/** Makes what gives users without a tenant to one, in steps, beside requests. */
export function createTenantAssignments ({ tenants }: Repository): TenantAssignments {
  const running = new Set<Promise<unknown>>()
  let isClosed = false

  function requireOpen (): void {
    if (!isClosed) return
    const cause = new Error('the server is closing before all users were assigned to the tenant: repeat the call')
    throw new UsersError('storage_unavailable', { cause })
  }

  const assign: TenantStore['assign'] = async (tenant, request) => {
    requireOpen()
    return fromStorage(() => tenants.assign(tenant, request))
  }

  async function run (tenant: string, { onRefused }: AssignOptions): Promise<TenantAssignment> {
    const requests = watchForegroundRequests()
    try {
      return await assignUsers(assign, tenant, async (refused) => {
        for (const user of refused) await onRefused?.(user)
        await requests.yieldToRequests()
      })
    } finally {
      requests.close()
    }
  }

  return {
    async assign (tenant, options = {}) {
      const done = run(tenant, { ...options })
      running.add(done)
      return done.finally(() => running.delete(done))
    },
    async close () {
      isClosed = true
      await Promise.allSettled(running)
    }
  }
}
