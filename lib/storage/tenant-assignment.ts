import { setTimeout as delay } from 'node:timers/promises'
import type { TenantStore, UnassignedUser } from './tenant-loop.ts'

// How many users a step looks at.
const TOGETHER = 250
// A pause between steps is as long as the step, so that writers of other processes get the database half of the time.
const PAUSE_MAX_MS = 100

/** What became of the users without a tenant. */
export interface TenantAssignment {
  /** How many belong to the tenant now. */
  assigned: number
  /** How many stay without one, because their address or a unique value is taken in the tenant. */
  refused: number
}

/**
 * Gives the users of a store who belong to no tenant to one, in steps with pauses. `onStep` is called after each with
 * those who were refused, and with the numbers so far.
 * @throws what `assign` and `onStep` throw
 */
export async function assignUsers (
  assign: TenantStore['assign'],
  tenant: string,
  onStep: (refused: UnassignedUser[], total: TenantAssignment) => unknown
): Promise<TenantAssignment> {
  const total: TenantAssignment = { assigned: 0, refused: 0 }
  let after: string | null = null
  do {
    const begun = performance.now()
    const { assigned, refused, next } = await assign(tenant, { after, limit: TOGETHER })
    const took = performance.now() - begun
    total.assigned += assigned
    total.refused += refused.length
    after = next
    await onStep(refused, { ...total })
    if (after !== null && assigned > 0) await delay(Math.min(took, PAUSE_MAX_MS))
  } while (after !== null)
  return total
}
