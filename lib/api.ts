import type { ApiKeysService } from './api-keys/service.ts'
import type { UserRecord } from './storage.ts'
import type { ListQuery } from './users/list-query.ts'
import { type ListMeta, listMeta } from './users/present.ts'
import type { UserInput, UserPatch } from './users/schema.ts'
import type { UsersService, WriteOptions } from './users/service.ts'

/** A user in process: what HTTP shows, and its `version`, which is the ETag without its quotes. */
export type User = UserRecord

/** Which users an iteration goes through. */
export type IterateQuery = Pick<ListQuery, 'sort' | 'email' | 'q'>

/**
 * `app.users`: in process what the routes do over HTTP, with the same rules, errors and order of checks, but without authentication.
 * Every method throws UsersError alone.
 */
export interface Users extends AsyncIterable<User> {
  /** @throws `validation_failed`, `email_taken`, `storage_unavailable` */
  create (input: UserInput): Promise<User>
  /** @throws `user_not_found`, `storage_unavailable` */
  get (id: string): Promise<User>
  /** A page with the exact total. @throws `validation_failed`, `storage_unavailable` */
  list (query?: ListQuery): Promise<{ data: User[], meta: ListMeta }>
  /** Changes the given members. @throws `validation_failed`, `user_not_found`, `precondition_failed`, `precondition_required`, `email_taken`, `storage_unavailable` */
  update (id: string, patch: UserPatch, options?: WriteOptions): Promise<User>
  /** @throws `user_not_found`, `precondition_failed`, `precondition_required`, `storage_unavailable` */
  delete (id: string, options?: WriteOptions): Promise<void>
  /** Walks over all users, or those of the query, a page at a time; each comes exactly once. @throws `validation_failed`, `storage_unavailable` */
  iterate (query?: IterateQuery): AsyncGenerator<User, void, undefined>
  /** API keys, in process. */
  readonly apiKeys: ApiKeysService
}

/** Puts the services together as `app.users`. */
export function createUsersApi (users: UsersService, apiKeys: ApiKeysService): Users {
  return Object.freeze({
    create: (input: UserInput) => users.create(input),
    get: (id: string) => users.get(id),
    list: async (query: ListQuery = {}) => {
      const page = await users.list({ ...query })
      return { data: page.items, meta: listMeta(page) }
    },
    update: (id: string, patch: UserPatch, options: WriteOptions = {}) => users.change(id, patch, options, false),
    delete: (id: string, options: WriteOptions = {}) => users.remove(id, options),
    iterate: (query: IterateQuery = {}) => users.iterate(query),
    [Symbol.asyncIterator]: () => users.iterate({}),
    apiKeys: Object.freeze(apiKeys)
  })
}
