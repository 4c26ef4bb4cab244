import type { Page, PageRequest } from './records.ts'

/** A tenant that has a user or a key. */
export interface TenantRecord {
  /** Its name: 1 to 64 of `a-z`, `0-9`, `_`, `-`, a letter or digit first. */
  id: string
  /** How many users it has. */
  users: number
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
}
