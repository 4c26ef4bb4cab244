import type { SchemaRequirements, Server, Storage, StorageInTransaction } from '../../lib/storage/storage.ts'
import type { CountsReport } from './counting/verify.ts'
import type { SchemaReport } from './schema/inspection.ts'

/** A storage in SQL. Its schema can be reverted, and its counted numbers can be verified. */
export interface KnexStorage extends Storage {
  join (transaction: unknown): StorageInTransaction
  readonly server: Server & Required<Pick<Server, 'warnings' | 'isReadOnly' | 'upkeep'>>
  /**
   * Reverts the schema to an earlier version, and loses what the later ones stored; 0 drops our tables. A
   * schema at that version or an earlier one stays as it is.
   * @throws TypeError for an unknown version
   * @throws StorageError `schema_newer`, `unavailable`
   */
  rollback (version: number): Promise<void>
  /** The number of users whose words are not of the fields that are searched. @throws StorageError `unavailable` */
  verifyWords (): Promise<number>
  /** Makes the words of all users anew, after plain SQL that wrote fields. @throws StorageError `unavailable` */
  rebuildWords (): Promise<void>
  /** Compares the schema with the one that this code makes; changes nothing. @throws StorageError `unavailable` */
  inspect (requirements?: SchemaRequirements): Promise<SchemaReport>
  /** Compares the counted numbers with the users. @throws StorageError `unavailable` */
  verifyCounts (): Promise<CountsReport>
  /**
   * Counts all users again, after plain SQL that bypassed the triggers. Lists are right immediately, and slower until
   * it is done.
   * @throws StorageError `schema_behind`, `schema_newer`, `unavailable`
   */
  rebuildCounts (): Promise<void>
}
