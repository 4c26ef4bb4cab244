import type { ApiKey } from '../api-keys/record.ts'
import type { ApiKeyInput, RevokeOptions, RotateOptions } from '../api-keys/rules.ts'
import type { ApiKeysService, NewApiKey, RevokedApiKey } from '../api-keys/service.ts'
import { type UsersError, validationFailed } from '../core/errors.ts'
import { reasonFor, unknownOptions } from '../core/fault.ts'
import { type ListMeta, listMeta, type PagingQuery } from '../core/paging.ts'
import type { Events } from '../events/in-process.ts'
import type { DayUses } from '../storage/storage.ts'
import { importRows, type ImportOptions, type ImportSource } from '../transfer/import-source.ts'
import type { ImportSummary } from '../transfer/import.ts'
import type { CreateOptions } from '../users/idempotency.ts'
import type { ListQuery } from '../users/list-query.ts'
import type { Presenter } from '../users/presenter.ts'
import type { FieldFilter, User, UserFields, UserInput, UserPatch } from '../users/types.ts'
import type { DeleteOptions, Versions, WriteOptions } from '../users/write-options.ts'
import type { UsersServices } from './users-services.ts'

/** Which users an iteration returns. */
export type IterateQuery<Fields = UserFields> = Pick<ListQuery<{}>, 'sort' | 'email' | 'q'> & FieldFilter<Fields>

/** How users are walked. */
export interface IterateOptions {
  /** All as they are at the beginning, instead of a page at a time. */
  snapshot?: boolean
}

/** An operation of a batch. */
export type UserOperation<Fields = UserFields> =
  | { op: 'create', body: UserInput<Fields> }
  | { op: 'update', id: string, body: UserPatch<Fields>, ifMatch?: Versions }
  | { op: 'delete', id: string, ifMatch?: Versions }

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

/** The operations on users in process. A method that says nothing else throws UsersError. `Fields`: the host's. */
export interface UserMethods<Fields = UserFields> {
  /**
   * Creates a user.
   * @throws `validation_failed`, `email_taken`, `field_taken`, `idempotency_key_reused`, `idempotency_in_progress`,
   * `storage_unavailable`
   */
  create (input: UserInput<Fields>, options?: CreateOptions): Promise<User<Fields>>
  /** @throws `user_not_found`, `storage_unavailable` */
  get (id: string): Promise<User<Fields>>
  /** A page with the exact total. @throws `validation_failed`, `storage_unavailable` */
  list (query?: ListQuery<Fields>): Promise<{ data: Array<User<Fields>>, meta: ListMeta }>
  /**
   * Changes the given members.
   * @throws `validation_failed`, `user_not_found`, `precondition_failed`, `precondition_required`, `email_taken`,
   * `field_taken`, `storage_unavailable`
   */
  update (id: string, patch: UserPatch<Fields>, options?: WriteOptions): Promise<User<Fields>>
  /** @throws `user_not_found`, `precondition_failed`, `precondition_required`, `storage_unavailable` */
  delete (id: string, options?: DeleteOptions): Promise<void>
  /**
   * Makes operations in their order and in one step, so that nobody sees only some of them, and says for each what
   * became of it. With `atomic`, one that is refused undoes all.
   * @throws `validation_failed`, `batch_failed`, `idempotency_key_reused`, `idempotency_in_progress`,
   * `storage_unavailable`
   * @throws TypeError if the storage has no batches (`singleWrites`)
   */
  batch (
    operations: ReadonlyArray<UserOperation<Fields>>,
    options?: UserBatchOptions
  ): Promise<UserBatchResults<Fields>>
  /**
   * Iterates over all users, or those of the query, reading a page at a time; each comes exactly once. With `snapshot`
   * they are as at the beginning: it keeps a connection of its own to the database until it ends or the loop is left,
   * and more than two at a time are refused.
   * @throws `validation_failed`, `storage_unavailable`
   */
  iterate (query?: IterateQuery<Fields>, options?: IterateOptions): AsyncGenerator<User<Fields>, void, undefined>
  /**
   * Imports users: members of a creation, and `id`, `createdAt` and `updatedAt`. What is refused stops nothing else.
   * Nothing is undone if it ends early, and to repeat it makes nobody twice.
   * @throws `validation_failed` for options and the header of a table, `storage_unavailable`, and what `source` and
   * `onResult` throw
   * @throws TypeError if `source` is not iterable, or with `format` has what is neither text nor bytes
   */
  import (source: ImportSource, options?: ImportOptions): Promise<ImportSummary>
}

/** The operations on API keys in process. A method that says nothing else throws UsersError. */
export interface ApiKeyMethods {
  /** Creates a key. Its text is in `key`, only in this result. @throws `validation_failed`, `storage_unavailable` */
  create (input: ApiKeyInput): Promise<NewApiKey>
  /**
   * Creates the first key of a store; null if it has any key. Of many concurrent processes exactly one gets a key.
   * @throws `validation_failed`, `storage_unavailable`
   */
  createFirst (input: ApiKeyInput): Promise<NewApiKey | null>
  /** @throws `api_key_not_found`, `storage_unavailable` */
  get (id: string): Promise<ApiKey>
  /**
   * A page of all keys, including revoked and expired ones, with the exact total.
   * @throws `validation_failed`, `storage_unavailable`
   */
  list (query?: PagingQuery): Promise<{ data: ApiKey[], meta: ListMeta }>
  /**
   * Creates a successor with the same name, owner, scopes, addresses, limit and lifetime. The old key keeps working for
   * `overlap` seconds, a day by default.
   * @throws `validation_failed`, `api_key_not_found`, `api_key_inactive`, `storage_unavailable`
   */
  rotate (id: string, options?: RotateOptions): Promise<NewApiKey>
  /**
   * Revokes a key for good: immediately in this process, within `apiKeys.cache` seconds in others. A revoked key stays
   * as it is. With `successors` every key that came from it by rotation is revoked in the same step, also one that is
   * being added at that moment.
   * @throws `validation_failed`, `api_key_not_found`, `storage_unavailable`
   */
  revoke (id: string, options?: RevokeOptions): Promise<RevokedApiKey>
  /**
   * How often a key was used, for each day on which it was, oldest first. What this process has counted is in it; what
   * others have counted follows within a minute.
   * @throws `api_key_not_found`, `storage_unavailable`
   * @throws TypeError without the option `apiKeys.countUses`
   */
  uses (id: string): Promise<{ data: DayUses[] }>
}

/**
 * `app.users`: in process what the routes do over HTTP, with the same rules, errors and order of checks, but without
 * authentication.
 */
export interface TenantUsers<Fields = UserFields> extends UserMethods<Fields> {
  /** API keys, in process. */
  readonly apiKeys: ApiKeyMethods
  /** Changes, after they were committed, and the event log. */
  readonly events: Events<Fields>
  /**
   * The same methods inside a transaction of the host's Knex instance. They see its writes, their writes commit or roll
   * back with it, and events follow the commit.
   * @throws TypeError if the storage has no transactions, or for anything but an open one on the same kind of database
   */
  using (transaction: TransactionLike): UserMethods<Fields>
}

/** What identifies a Knex transaction. */
export interface TransactionLike {
  readonly executionPromise: Promise<unknown>
  readonly isTransaction?: boolean | undefined
  isCompleted (): boolean
}

// Options are copied: then `null` is no option, and anything but an object has members that are refused.
function userMethods (services: UsersServices, { user }: Presenter): UserMethods {
  const { users, openImport, writeBatch } = services
  async function * iterate (
    query: IterateQuery = {},
    options: IterateOptions = {}
  ): AsyncGenerator<User, void, undefined> {
    const { snapshot = false, ...others } = { ...options }
    const faults = [
      ...unknownOptions(Object.keys(others)),
      ...typeof snapshot === 'boolean' ? [] : [{ parameter: 'snapshot', ...reasonFor('type', { type: 'boolean' }) }]
    ]
    if (faults.length > 0) throw validationFailed(faults)
    if (!snapshot) {
      for await (const record of users.iterate({ ...query })) yield user(record)
      return
    }
    for await (const records of users.snapshot({ ...query })()) yield * records.map(user)
  }
  return {
    async create (input: UserInput, options: CreateOptions = {}) {
      return user((await users.create(input, { ...options })).user)
    },
    get: async (id: string) => user(await users.get(id)),
    async list (query: ListQuery = {}) {
      const page = await users.list({ ...query })
      return { data: page.items.map(user), meta: listMeta(page) }
    },
    async update (id: string, patch: UserPatch, options: WriteOptions = {}) {
      return user(await users.change(id, patch, { ...options }, false))
    },
    delete: (id: string, options: DeleteOptions = {}) => users.remove(id, { ...options }),
    async batch (operations: readonly UserOperation[], given: UserBatchOptions = {}) {
      const { atomic, ...options } = { ...given }
      const input = { operations, ...(atomic !== undefined && { atomic }) }
      const { results, replayed } = await writeBatch(input, options)
      return { data: results.map((each) => ({ ...each, user: each.user && user(each.user) })), replayed }
    },
    iterate,
    import: (source: ImportSource, options: ImportOptions = {}) =>
      importRows(openImport, source, { ...options })
  }
}

function keyMethods (apiKeys: ApiKeysService): ApiKeyMethods {
  return {
    create: (input: ApiKeyInput) => apiKeys.create(input),
    createFirst: (input: ApiKeyInput) => apiKeys.createFirst(input),
    get: (id: string) => apiKeys.get(id),
    async list (query: PagingQuery = {}) {
      const page = await apiKeys.list({ ...query })
      return { data: page.items, meta: listMeta(page) }
    },
    rotate: (id: string, options: RotateOptions = {}) => apiKeys.rotate(id, options),
    revoke: (id: string, options: RevokeOptions = {}) => apiKeys.revoke(id, options),
    async uses (id: string) {
      if (apiKeys.uses !== null) return { data: await apiKeys.uses(id) }
      throw new TypeError('fastify-users: apiKeys.uses() needs the option apiKeys.countUses')
    }
  }
}

export interface InProcessParts extends UsersServices {
  presenter: Presenter
  apiKeys: ApiKeysService
  events: Events
  /** Makes the users' services of a transaction. */
  usersIn: (transaction: unknown) => UsersServices
}

/** Makes what `app.users` has for one tenant, or for all. */
export function createInProcess (parts: InProcessParts): TenantUsers {
  const { presenter, apiKeys, events, usersIn } = parts
  return Object.freeze({
    ...userMethods(parts, presenter),
    apiKeys: Object.freeze(keyMethods(apiKeys)),
    events,
    using: (transaction: TransactionLike) => Object.freeze(userMethods(usersIn(transaction), presenter))
  })
}
