import type { ApiKey } from './api-keys/record.ts'
import type { ApiKeyInput, RotateOptions } from './api-keys/rules.ts'
import type { ApiKeysService, NewApiKey } from './api-keys/service.ts'
import type { Events } from './events.ts'
import { type ListMeta, listMeta, type PagingQuery } from './paging.ts'
import type { ListQuery } from './users/list-query.ts'
import type { CreateOptions } from './users/idempotency.ts'
import type { Presenter } from './users/present.ts'
import type { UsersService } from './users/service.ts'
import type { FieldFilter, User, UserFields, UserInput, UserPatch } from './users/types.ts'
import type { WriteOptions } from './users/write-options.ts'

/** Which users an iteration goes through. */
export type IterateQuery<Fields = UserFields> = Pick<ListQuery<{}>, 'sort' | 'email' | 'q'> & FieldFilter<Fields>

/** What can be done with users in process; every method throws UsersError alone. `Fields`: the host's own. */
export interface UserMethods<Fields = UserFields> extends AsyncIterable<User<Fields>> {
  /** @throws `validation_failed`, `email_taken`, `idempotency_key_reused`, `idempotency_in_progress`, `storage_unavailable` */
  create (input: UserInput<Fields>, options?: CreateOptions): Promise<User<Fields>>
  /** @throws `user_not_found`, `storage_unavailable` */
  get (id: string): Promise<User<Fields>>
  /** A page with the exact total. @throws `validation_failed`, `storage_unavailable` */
  list (query?: ListQuery<Fields>): Promise<{ data: Array<User<Fields>>, meta: ListMeta }>
  /** Changes the given members. @throws `validation_failed`, `user_not_found`, `precondition_failed`, `precondition_required`, `email_taken`, `storage_unavailable` */
  update (id: string, patch: UserPatch<Fields>, options?: WriteOptions): Promise<User<Fields>>
  /** @throws `user_not_found`, `precondition_failed`, `precondition_required`, `storage_unavailable` */
  delete (id: string, options?: WriteOptions): Promise<void>
  /** Walks over all users, or those of the query, a page at a time; each comes exactly once. @throws `validation_failed`, `storage_unavailable` */
  iterate (query?: IterateQuery<Fields>): AsyncGenerator<User<Fields>, void, undefined>
}

/** What can be done with API keys in process; every method throws UsersError alone. */
export interface ApiKeyMethods {
  /** Makes a key. Its text is in `key`, this once. @throws `validation_failed`, `storage_unavailable` */
  create (input: ApiKeyInput): Promise<NewApiKey>
  /**
   * Makes the first key of a store: null where there is one already, whoever made it. Of many processes at once exactly one gets a key.
   * @throws `validation_failed`, `storage_unavailable`
   */
  createFirst (input: ApiKeyInput): Promise<NewApiKey | null>
  /** @throws `api_key_not_found`, `storage_unavailable` */
  get (id: string): Promise<ApiKey>
  /** A page of all keys, the revoked and expired ones too, with the exact total. @throws `validation_failed`, `storage_unavailable` */
  list (query?: PagingQuery): Promise<{ data: ApiKey[], meta: ListMeta }>
  /**
   * Makes a successor with the same name, scopes and lifetime; the old key goes on working for `overlap` seconds (a day).
   * @throws `validation_failed`, `api_key_not_found`, `api_key_inactive`, `storage_unavailable`
   */
  rotate (id: string, options?: RotateOptions): Promise<NewApiKey>
  /**
   * Ends a key for good: at once in this process, within `keyCache` seconds in others. Again on a revoked key: nothing changes.
   * @throws `api_key_not_found`, `storage_unavailable`
   */
  revoke (id: string): Promise<ApiKey>
}

/** `app.users`: in process what the routes do over HTTP, with the same rules, errors and order of checks, but without authentication. */
export interface Users<Fields = UserFields> extends UserMethods<Fields> {
  /** API keys, in process. */
  readonly apiKeys: ApiKeyMethods
  /** What happened, after it was committed. */
  readonly events: Events<Fields>
  /**
   * The same methods inside a transaction of the host's Knex: its own writes are seen, ours are committed or rolled back with it, and events come after the commit.
   * @throws TypeError for what is no open transaction on the storage's kind of database, or where the storage has no transactions
   */
  using (transaction: TransactionLike): UserMethods<Fields>
}

/** What a Knex transaction is known by. */
export interface TransactionLike {
  readonly executionPromise: Promise<unknown>
  readonly isTransaction?: boolean | undefined
  isCompleted (): boolean
}

// Options are copied: `null` is none, and what is no object has members that are refused.
function methodsOf (users: UsersService, { user }: Presenter): UserMethods {
  async function * iterate (query: IterateQuery = {}): AsyncGenerator<User, void, undefined> {
    for await (const record of users.iterate({ ...query })) yield user(record)
  }
  return {
    create: async (input: UserInput, options: CreateOptions = {}) => user((await users.create(input, { ...options })).user),
    get: async (id: string) => user(await users.get(id)),
    list: async (query: ListQuery = {}) => {
      const page = await users.list({ ...query })
      return { data: page.items.map(user), meta: listMeta(page) }
    },
    update: async (id: string, patch: UserPatch, options: WriteOptions = {}) => user(await users.change(id, patch, { ...options }, false)),
    delete: (id: string, options: WriteOptions = {}) => users.remove(id, { ...options }),
    iterate,
    [Symbol.asyncIterator]: () => iterate()
  }
}

function keyMethodsOf (apiKeys: ApiKeysService): ApiKeyMethods {
  return {
    create: (input: ApiKeyInput) => apiKeys.create(input),
    createFirst: (input: ApiKeyInput) => apiKeys.createFirst(input),
    get: (id: string) => apiKeys.get(id),
    list: async (query: PagingQuery = {}) => {
      const page = await apiKeys.list({ ...query })
      return { data: page.items, meta: listMeta(page) }
    },
    rotate: (id: string, options: RotateOptions = {}) => apiKeys.rotate(id, options),
    revoke: (id: string) => apiKeys.revoke(id)
  }
}

/** Puts the services together as `app.users`. `usersWithin` makes the service of a transaction. */
export function createUsersApi (users: UsersService, presenter: Presenter, apiKeys: ApiKeysService, events: Events, usersWithin: (transaction: unknown) => UsersService): Users {
  return Object.freeze({
    ...methodsOf(users, presenter),
    apiKeys: Object.freeze(keyMethodsOf(apiKeys)),
    events,
    using: (transaction: TransactionLike) => Object.freeze(methodsOf(usersWithin(transaction), presenter))
  })
}
