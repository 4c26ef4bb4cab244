import type {
  EventLog, KeyUseStore, Storage, StorageInTransaction, TenantStore, Trash, WebhookStore
} from '../../lib/storage/storage.ts'
import type { CountsReport } from './counting/verify.ts'
import type { Migrator } from './schema/migrator.ts'

/** A storage in SQL. Its schema can be reverted, and its counted numbers can be verified. */
export interface KnexStorage extends Storage, Migrator {
  joinTransaction (transaction: unknown): StorageInTransaction
  readonly migrated: Migrator['migrated']
  eventLog: EventLog
  webhooks: WebhookStore
  trash: Trash
  tenants: TenantStore
  keyUses: KeyUseStore
  /** Compares the counted numbers with the users. @throws StorageError `unavailable` */
  verifyCounts (): Promise<CountsReport>
  /**
   * Counts all users again, after plain SQL that bypassed the triggers. Lists are right immediately, and slower until
   * it is done.
   * @throws StorageError `schema_behind`, `schema_newer`, `unavailable`
   */
  rebuildCounts (): Promise<void>
}
