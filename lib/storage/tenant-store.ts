import type { Page, PageRequest } from './records.ts'

/** A tenant that has a user or a key. */
export interface TenantRecord {
  /** Its name: 1 to 64 of `a-z`, `0-9`, `_`, `-`, a letter or digit first. */
  id: string
  /** How many users it has. */
  users: number
}

/** A user who stays without a tenant, because a user of that tenant has the address or a unique value already. */
export type UnassignedUser = { id: string, code: 'email_taken' } | { id: string, code: 'field_taken', field: string }

/** Which step of `assign` is asked for. */
export interface AssignmentRequest {
  /** `next` of the step before; null: this is the first step. */
  after: string | null
  /** At most about how many users to look at. */
  limit: number
}

/** What a step of `assign` did. */
export interface AssignmentStep {
  /** How many users belong to the tenant by this step. */
  assigned: number
  refused: UnassignedUser[]
  /** Where the next step goes on; null: this was the last. */
  next: string | null
}

/** The tenants of a store. One is there as long as it has a user or a key. */
export interface TenantStore {
  /** A page of the tenants, ordered by name, with their exact number. */
  list (page: PageRequest): Promise<Page<TenantRecord>>

  /**
   * Deletes what a tenant has, at most about `limit` records in one step: its API keys first, then users, with their
   * idempotency keys, and webhooks. Its events stay, as `forgotten` of the package makes them: so nobody who reads the
   * log loses the place. Returns how many records it was; 0: nothing of the tenant is left. Called again after a crash,
   * it goes on.
   */
  remove (tenant: string, limit: number): Promise<number>

  /**
   * Gives users who belong to no tenant to one, with their events, each in one atomic step; also the events of users
   * who were deleted, unless they are erased. A step looks at the next users by id, so no step takes longer because
   * there are many. `version` and `updatedAt` stay, no event is recorded, and events keep their places in the log. Keys
   * and webhooks stay without a tenant. Users whose address or unique value is taken in the tenant stay as they are,
   * and hold up nobody else. Many callers may do it concurrently, beside writes; after a crash, the first step may be
   * asked for again.
   */
  assign (tenant: string, request: AssignmentRequest): Promise<AssignmentStep>
}
