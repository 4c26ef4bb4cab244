import type { UsersError } from '../core/errors.ts'
import type { CreateOptions } from '../users/idempotency.ts'
import type { User, UserFields, UserInput, UserPatch } from '../users/types.ts'
import type { Versions } from '../users/write-options.ts'

/** An operation of a batch. */
export type UserOperation<Fields = UserFields> =
  | { op: 'create', body: UserInput<Fields> }
  | { op: 'update', id: string, body: UserPatch<Fields>, ifMatch?: Versions }
  | { op: 'delete', id: string, ifMatch?: Versions }
  /** With the option `trash`. */
  | { op: 'restore' | 'purge', id: string, ifMatch?: Versions }

/** Options of a batch. */
export interface UserBatchOptions extends CreateOptions {
  /** All operations or none. Default false. */
  atomic?: boolean
}

/** What became of an operation of a batch. */
export interface UserBatchResult<Fields = UserFields> {
  /** As of a response to it alone, such as 201. */
  status: number
  /**
   * The user after the operation. `null` after a deletion or an error, and in a repetition if the user has since been
   * deleted.
   */
  user: User<Fields> | null
  error: UsersError | null
}

/** What became of a batch. */
export interface UserBatchResults<Fields = UserFields> {
  /** In the order of the operations. */
  data: Array<UserBatchResult<Fields>>
  /** True if they were made before, by a batch with the same idempotency key. */
  replayed: boolean
}
