import { FROM_PROCESS } from '../core/context.ts'
import { type ListMeta, listMeta, type PagingQuery } from '../core/paging.ts'
import type { Events } from '../events/in-process.ts'
import { type GroupMethods, groupMethods } from '../groups/in-process.ts'
import { importRows, type ImportOptions, type ImportSource } from '../transfer/import-source.ts'
import type { ImportSummary } from '../transfer/import.ts'
import type { CreateOptions } from '../users/idempotency.ts'
import type { ListQuery, SelectionQuery } from '../users/list-query.ts'
import type { Presenter } from '../users/presenter.ts'
import type { RestoreOptions } from '../users/deletions.ts'
import type { RevertOptions } from '../users/reversal.ts'
import { type createSubjects, type Subject, wholeSubject } from '../events/subject.ts'
import type { DeletedUser, User, UserFields, UserInput, UserPatch } from '../users/types.ts'
import type { DeleteOptions, WriteOptions } from '../users/write-options.ts'
import { type ActingAs, type ActingOptions, contextAs, type ProcessScope } from './acting.ts'
import type { UserBatchOptions, UserBatchResults, UserOperation } from './in-process-batch.ts'
import type { ApiKeyMethods } from './in-process-keys.ts'
import { checkFlags, copyQuery, type IterateOptions, type ReadOptions } from './read-options.ts'
import type { UsersServices } from './users-services.ts'

/** Which users an iteration returns, and in which order. */
export type IterateQuery<Fields = UserFields> = SelectionQuery<Fields>

/** The operations on users in process. A method that says nothing else throws UsersError. `Fields`: the host's. */
export interface UserMethods<Fields = UserFields> {
  /**
   * Creates a user.
   * @throws `validation_failed`, `email_taken`, `field_taken`, `idempotency_key_reused`, `idempotency_in_progress`,
   * `storage_unavailable`
   */
  create (input: UserInput<Fields>, options?: CreateOptions): Promise<User<Fields>>
  /** @throws `validation_failed` for options, `user_not_found`, `storage_unavailable` */
  get (id: string, options?: ReadOptions): Promise<User<Fields>>
  /**
   * True if there is a user with this id who is active: one look-up, for a host's own sign-in.
   * @throws `storage_unavailable`
   */
  isActive (id: string): Promise<boolean>
  /**
   * A page with the exact total. `next`: the cursor of what follows, in an order other than that of creation.
   * @throws `validation_failed`, `storage_unavailable`
   */
  list (
    query?: ListQuery<Fields>,
    options?: ReadOptions
  ): Promise<{ data: Array<User<Fields>>, meta: ListMeta, next?: string }>
  /**
   * Changes the given members.
   * @throws `validation_failed`, `user_not_found`, `precondition_failed`, `precondition_required`, `email_taken`,
   * `field_taken`, `storage_unavailable`
   */
  update (id: string, patch: UserPatch<Fields>, options?: WriteOptions): Promise<User<Fields>>
  /** @throws `user_not_found`, `precondition_failed`, `precondition_required`, `storage_unavailable` */
  delete (id: string, options?: DeleteOptions): Promise<void>
  /**
   * Restores a deleted user, with the option `trash`.
   * @throws `validation_failed`, `user_not_found`, `email_taken`, `field_taken`, `precondition_failed`,
   * `idempotency_key_reused`, `idempotency_in_progress`, `storage_unavailable`; TypeError without the option
   */
  restore (id: string, options?: RestoreOptions): Promise<User<Fields>>
  /**
   * A page of the deleted users that can be restored, the latest first, with the exact total.
   * @throws `validation_failed`, `storage_unavailable`; TypeError without the option `trash`
   */
  listDeleted (
    query?: Pick<PagingQuery, 'page' | 'limit'>
  ): Promise<{ data: Array<DeletedUser<Fields>>, meta: ListMeta }>
  /**
   * Makes operations in their order and in one step, so that nobody sees only some of them, and says for each what
   * became of it. With `atomic`, one that is refused undoes all.
   * @throws `validation_failed`, `batch_failed`, `idempotency_key_reused`, `idempotency_in_progress`,
   * `storage_unavailable`
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
  /** Groups of users, with the option `groups`. */
  readonly groups: GroupMethods<Fields>
  /**
   * The same methods for changes that this person or job makes: events, histories, webhooks and the trash then name
   * them. Two actors never share an idempotency key.
   * @throws `validation_failed`
   */
  as (actor: ActingAs, options?: ActingOptions): UserMethods<Fields>
}

/**
 * `app.users`: in process what the routes do over HTTP, with the same rules, errors and order of checks, but without
 * authentication.
 */
export interface TenantUsers<Fields = UserFields> extends UserMethods<Fields> {
  /** API keys, in process. */
  readonly apiKeys: ApiKeyMethods
  /**
   * Sets what an event of the user's history changed back to what it was, where it still is what the event made it.
   * @throws `validation_failed`, `user_not_found`, `revert_conflict`, and what `update` throws; TypeError without the
   * option `eventLog`
   */
  revert (id: string, event: string, options?: RevertOptions): Promise<User<Fields>>
  /**
   * All that is stored of a person: the user, or the deleted one that can be restored, its history, and the deliveries
   * that carried it.
   * @throws `user_not_found`, `storage_unavailable`
   */
  subject (id: string): Promise<Subject<Fields>>
  /** Changes, after they were committed, and the event log. */
  readonly events: Events<Fields>
  /**
   * The same methods inside a transaction of the host's Knex instance. They see its writes, their writes commit or roll
   * back with it, and events follow the commit.
   * @throws TypeError if the storage has no transactions, or for anything but an open one on the same kind of database
   */
  using (transaction: TransactionLike): UserMethods<Fields>
  as (actor: ActingAs, options?: ActingOptions): TenantUsers<Fields>
}

/** What identifies a Knex transaction. */
export interface TransactionLike {
  readonly executionPromise: Promise<unknown>
  readonly isTransaction?: boolean | undefined
  isCompleted (): boolean
}

// Options are copied: then `null` is no option, and anything but an object has members that are refused.
function userMethods (services: UsersServices, presenter: Presenter, scope: ProcessScope): UserMethods {
  const { users, openImport, writeBatch } = services
  const { user, deletedUser } = presenter
  const { tenant, context } = scope
  const call = { ...FROM_PROCESS, tenant, context }
  async function * iterate (
    query: IterateQuery = {},
    options: IterateOptions = {}
  ): AsyncGenerator<User, void, undefined> {
    const { snapshot, standby } = checkFlags(options, ['snapshot', 'standby'])
    const reads = await users.readsFor(standby)
    if (!snapshot) {
      for await (const record of users.iterate(copyQuery(query), { reads, tenant })) yield user(record)
      return
    }
    for await (const records of users.snapshot(copyQuery(query), call)(reads)) yield * records.map(user)
  }
  const readsFor = (options: ReadOptions) => users.readsFor(checkFlags(options, ['standby']).standby)
  return {
    async create (input: UserInput, options: CreateOptions = {}) {
      return user((await users.create(input, { ...options }, call)).user)
    },
    get: async (id: string, options: ReadOptions = {}) =>
      user(await users.get(id, { reads: await readsFor(options), tenant })),
    async list (query: ListQuery = {}, options: ReadOptions = {}) {
      const page = await users.list(copyQuery(query), { reads: await readsFor(options), tenant })
      const { next } = page
      return { data: page.items.map(user), meta: listMeta(page), ...(next !== undefined && { next }) }
    },
    async update (id: string, patch: UserPatch, options: WriteOptions = {}) {
      return user(await users.change(id, patch, { ...options }, false, call))
    },
    isActive: (id: string) => users.isActive(id, tenant),
    delete: (id: string, options: DeleteOptions = {}) => users.remove(id, { ...options }, call),
    restore: async (id: string, options: RestoreOptions = {}) =>
      user((await users.restore(id, { ...options }, call)).user),
    async listDeleted (query: Pick<PagingQuery, 'page' | 'limit'> = {}) {
      const page = await users.listDeleted(copyQuery(query), call)
      return { data: page.items.map(deletedUser), meta: listMeta(page) }
    },
    async batch (operations: readonly UserOperation[], given: UserBatchOptions = {}) {
      const { atomic, ...options } = { ...given }
      const input = { operations, ...(atomic !== undefined && { atomic }) }
      const { results, replayed } = await writeBatch(input, options, call)
      return { data: results.map((each) => ({ ...each, user: each.user && user(each.user) })), replayed }
    },
    groups: groupMethods(services.groups, users, presenter, scope),
    iterate,
    import: (source: ImportSource, options: ImportOptions = {}) =>
      importRows(openImport, source, { ...options }, scope),
    as: (actor: ActingAs, options?: ActingOptions) =>
      Object.freeze(userMethods(services, presenter, { tenant, context: contextAs(actor, options) }))
  }
}

export interface InProcessParts extends UsersServices {
  presenter: Presenter
  subject: ReturnType<typeof createSubjects>
  events: Events
  /** Makes the users' services of a transaction. */
  usersIn: (transaction: unknown) => UsersServices
  keysIn: (scope: ProcessScope) => ApiKeyMethods
}

/** Makes what `app.users` has for one tenant, or for all. */
export function createInProcess (parts: InProcessParts, scope: ProcessScope): TenantUsers {
  const { presenter, users, subject, events, usersIn, keysIn } = parts
  return Object.freeze({
    ...userMethods(parts, presenter, scope),
    revert: async (id: string, event: string, options: RevertOptions = {}) =>
      presenter.user((await users.revert(id, { event }, { ...options }, { ...FROM_PROCESS, ...scope })).user),
    subject: (id: string) => wholeSubject(subject(id, scope.tenant)),
    apiKeys: Object.freeze(keysIn(scope)),
    events,
    using: (transaction: TransactionLike) => Object.freeze(userMethods(usersIn(transaction), presenter, scope)),
    as: (actor: ActingAs, options?: ActingOptions) =>
      createInProcess(parts, { ...scope, context: contextAs(actor, options) })
  })
}
