/**
 * What a storage may throw on purpose. The refusals of a write (`email_taken`, `field_taken`, `version_mismatch`,
 * `api_key_inactive`, `last_admin_key`) are outcomes: a store may throw them inside itself, where `refusalOf` and
 * `apiKeyRefusalOf` turn them into outcomes. Only `migrate` lets one out, `field_taken`.
 * - `email_taken`: another user holds the e-mail key; the storage's unique index decides
 * - `field_taken`: another user has this value of a unique field, which `field` names
 * - `version_mismatch`: the version guard of a write did not hold
 * - `idempotency_key_reused`: the idempotency key is known with another fingerprint
 * - `idempotency_in_progress`: the first creation with the idempotency key is still running
 * - `api_key_inactive`: the key to rotate is revoked or expired
 * - `last_admin_key`: no other active key has the scopes that one key must keep
 * - `unavailable`: the storage is unreachable, busy, full or out of connections; a retry may succeed
 * - `schema_behind`, `schema_newer`: the tables do not fit this version of the code
 * - `fault`: any other failure, without SQL and values
 */
export type StorageErrorCode = 'email_taken' | 'field_taken' | 'version_mismatch' | 'idempotency_key_reused' |
  'idempotency_in_progress' | 'api_key_inactive' | 'last_admin_key' | 'unavailable' |
  'schema_behind' | 'schema_newer' | 'fault'

export interface StorageErrorOptions {
  /** The driver's own code, such as an SQLSTATE or `ECONNREFUSED`; no value of a record. */
  driverCode?: string | undefined
  /** Of `field_taken`: the name of the field. */
  field?: string | undefined
  /** What the error came from. It can reach a log too, so its message must hold neither values nor SQL. */
  cause?: unknown
}

/** Thrown by adapters. The message must hold neither values nor SQL, because it can reach a log. */
export class StorageError extends Error {
  readonly code: StorageErrorCode
  /** The driver's own code, if there is one. */
  readonly driverCode: string | undefined
  /** Of `field_taken`: the name of the field. */
  readonly field: string | undefined

  constructor (code: StorageErrorCode, message: string, { driverCode, field, ...options }: StorageErrorOptions = {}) {
    super(message, options)
    this.name = 'StorageError'
    this.code = code
    this.driverCode = driverCode
    this.field = field
  }
}

/** Adapters may come from another copy of this package, so the name decides, not the class. */
export function isStorageError (error: unknown): error is StorageError {
  return error instanceof Error && error.name === 'StorageError' && 'code' in error
}
