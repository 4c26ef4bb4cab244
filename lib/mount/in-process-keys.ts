import type { FastifyRequest } from 'fastify'
import type { KeyListQuery } from '../api-keys/key-list.ts'
import type { ApiKey } from '../api-keys/record.ts'
import type { ApiKeyInput, RevokeOptions, RotateOptions } from '../api-keys/rules.ts'
import { type ApiKeysService, type NewApiKey, type RevokedApiKey, UNBOUNDED, UNGUARDED } from '../api-keys/service.ts'
import { type ListMeta, listMeta } from '../core/paging.ts'
import type { Guards, RequestCaller, VerifyOptions } from '../http/admission/guard.ts'
import type { DayUses } from '../storage/storage.ts'
import type { ProcessScope } from './acting.ts'
import { copyQuery } from './read-options.ts'

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
   * A page of the keys that match, including revoked and expired ones, with the exact total.
   * @throws `validation_failed`, `storage_unavailable`
   */
  list (query?: KeyListQuery): Promise<{ data: ApiKey[], meta: ListMeta }>
  /**
   * Creates a successor with the same name, owner, scopes, addresses, limit and lifetime, unless `expiresAt` or
   * `expiresIn` says when it expires. The old key keeps working for `overlap` seconds, a day by default.
   * @throws `validation_failed`, `api_key_not_found`, `api_key_inactive`, `storage_unavailable`
   */
  rotate (id: string, options?: RotateOptions): Promise<NewApiKey>
  /**
   * Revokes a key for good: immediately in this process, within `apiKeys.cache` seconds in others. A revoked key stays
   * as it is. With `successors` every key that was created by rotating it is revoked in the same step, also one that is
   * being added at that moment.
   * @throws `validation_failed`, `api_key_not_found`, `storage_unavailable`
   */
  revoke (id: string, options?: RevokeOptions): Promise<RevokedApiKey>
  /**
   * Who holds a key, given by its text, or by a request of yours with its `Authorization` header: checked, limited and
   * counted as on a route. Use `app.users.guard()` for routes; this is for what has no reply, such as a queue. Tokens
   * of the option `authenticate` need the request.
   * @throws `unauthorized`, `invalid_api_key`, `insufficient_scope`, `rate_limited`, `storage_unavailable`, `not_found`
   * for a path with another tenant; TypeError for a scope that is not known
   */
  verify (given: string | FastifyRequest, options?: VerifyOptions): Promise<RequestCaller>
  /**
   * How often a key was used, for each day on which it was, oldest first. What this process has counted is in it; what
   * others have counted follows within a minute.
   * @throws `api_key_not_found`, `storage_unavailable`
   * @throws TypeError without the option `apiKeys.countUses`
   */
  uses (id: string): Promise<{ data: DayUses[] }>
}

/** Makes the operations on API keys in process, for a tenant or all, by whom `context` names. */
export function keyMethods (
  apiKeys: ApiKeysService, verify: Guards['verify'], scope: ProcessScope
): ApiKeyMethods {
  const { tenant } = scope
  return {
    create: (input: ApiKeyInput) => apiKeys.create(input, { ...UNBOUNDED, ...scope }),
    createFirst: (input: ApiKeyInput) => apiKeys.createFirst(input, { ...UNBOUNDED, ...scope }),
    get: (id: string) => apiKeys.get(id, tenant),
    async list (query: KeyListQuery = {}) {
      const page = await apiKeys.list(copyQuery(query), { tenant })
      return { data: page.items, meta: listMeta(page) }
    },
    rotate: (id: string, options: RotateOptions = {}) => apiKeys.rotate(id, options, { ...UNBOUNDED, ...scope }),
    revoke: (id: string, options: RevokeOptions = {}) => apiKeys.revoke(id, options, { ...UNGUARDED, ...scope }),
    verify: (given: string | FastifyRequest, options: VerifyOptions = {}) => verify(given, { ...options }, tenant),
    async uses (id: string) {
      if (apiKeys.uses !== null) return { data: await apiKeys.uses(id, tenant) }
      throw new TypeError('fastify-users: apiKeys.uses() needs the option apiKeys.countUses')
    }
  }
}
