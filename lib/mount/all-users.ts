import type { FastifyRequest } from 'fastify'
import type { Scope } from '../api-keys/scopes.ts'
import { type Context, IN_PROCESS } from '../core/context.ts'
import { type ListMeta, listMeta, type PagingQuery } from '../core/paging.ts'
import type { Guard, Guards } from '../http/admission/guard.ts'
import { contextOf } from '../http/caller.ts'
import type { TenantRecord } from '../storage/storage.ts'
import type { TenantAssignment } from '../storage/tenant-assignment.ts'
import type { UserFields } from '../users/types.ts'
import type { Tenant } from '../operations/tenants.ts'
import { type ActingAs, type ActingOptions, contextAs, type ProcessScope } from './acting.ts'
import type { TenantUsers, TransactionLike, UserMethods } from './in-process.ts'
import { copyQuery } from './read-options.ts'
import type { AssignOptions } from './tenant-assignment.ts'
import { requireTenants, type Tenants } from './tenants.ts'

/** `app.users`: with the option `tenants`, those of every tenant. */
export interface Users<Fields = UserFields> extends TenantUsers<Fields> {
  /**
   * Resolves when the storage is open. Usually that is when `app.register()` has ended. If it takes most of the host's
   * `pluginTimeout`, as a migration of many users may, it goes on in the background: until it ends, requests get 503,
   * and the methods here throw `storage_unavailable`.
   * @throws what `app.register()` would, if the storage can't be opened, or the host is closed before
   */
  ready (): Promise<void>
  /**
   * The same for one tenant: what belongs to others is not there, and what is made belongs to it. A tenant needs no
   * creation. Both members throw a TypeError without the option `tenants`.
   * @throws `validation_failed` for what is no name of a tenant
   */
  tenant (name: string): TenantUsers<Fields>
  /** The tenants. */
  readonly tenants: TenantMethods
  /**
   * An `onRequest` hook for routes of your own: it lets in who has all of the scopes, with the checks, limits and
   * answers of the routes of this mount, and sets `request.caller`. Without scopes any valid key will do. With the
   * option `tenants`, a path with `:tenant` is not found for callers that are bound to another one, nor with what is no
   * name of a tenant. For a scope of your own, name it in `apiKeys.scopes` and declare it in `HostScopes`.
   * @throws TypeError for a scope that is not known
   */
  guard (...scopes: readonly Scope[]): Guard
  /**
   * The same methods for changes that the caller of a request makes, in that request; for a caller that is bound to a
   * tenant, or a path with `:tenant`, those of that tenant. Scopes are not checked: that is what the guard is for.
   * @throws TypeError for a request that no route, guard or verification of this mount has let in
   */
  for (request: FastifyRequest): TenantUsers<Fields>
  using (transaction: TransactionLike): UsersInTransaction<Fields>
  as (actor: ActingAs, options?: ActingOptions): Users<Fields>
}

/** `app.users` in a transaction. */
export interface UsersInTransaction<Fields = UserFields> extends UserMethods<Fields> {
  /** The same for one tenant. @throws as `app.users.tenant()` does */
  tenant (name: string): UserMethods<Fields>
  as (actor: ActingAs, options?: ActingOptions): UsersInTransaction<Fields>
}

/** The tenants, in process. */
export interface TenantMethods {
  /**
   * A page of the tenants that have a user or a key, by name, each with the exact number of its users.
   * @throws `validation_failed`, `storage_unavailable`
   */
  list (query?: PagingQuery): Promise<{ data: TenantRecord[], meta: ListMeta }>
  /**
   * A tenant of which anything is left, events too. `status` is there while this process deletes it.
   * @throws `tenant_not_found`, `storage_unavailable`
   */
  get (name: string): Promise<Tenant>
  /**
   * Deletes a tenant for good, with its keys, users and webhooks, and takes the values out of its events. It is done in
   * steps, keys first: after an error, such as when the server closes meanwhile, call it again.
   * @throws `validation_failed`, `storage_unavailable`
   */
  remove (name: string): Promise<void>
  /**
   * Gives the users who belong to no tenant to one, with their events, in steps beside requests. `onRefused` gets each
   * user who stays without one, because the address or a unique value is taken in the tenant. Keys and webhooks stay as
   * they are. It can't be undone. After an error, call it again: it goes on.
   * @throws `validation_failed`, `storage_unavailable`, and what `onRefused` throws
   */
  assign (name: string, options?: AssignOptions): Promise<TenantAssignment>
}

export interface UsersParts {
  usersIn: (scope: ProcessScope) => TenantUsers
  /** Null without the option `tenants`. */
  tenants: Tenants | null
  opened: Promise<void>
  guards: Pick<Guards, 'guard' | 'scopeOf'>
}

type ScopedParts = Pick<UsersParts, 'usersIn' | 'tenants'>

/** What belongs to one tenant. */
function usersOf ({ usersIn, tenants }: ScopedParts, tenant: string, context: Context): TenantUsers {
  const all: Tenants = requireTenants(tenants)
  all.requireName(tenant)
  return usersIn({ tenant, context })
}

function usersUsing (parts: ScopedParts, transaction: TransactionLike, context: Context): UsersInTransaction {
  return Object.freeze({
    ...parts.usersIn({ context }).using(transaction),
    tenant: (name: string) => usersOf(parts, name, context).using(transaction),
    as: (actor: ActingAs, options?: ActingOptions) => usersUsing(parts, transaction, contextAs(actor, options))
  })
}

/** Makes `app.users`. `context`: who makes changes by it. */
export function createUsers (parts: UsersParts, context = IN_PROCESS): Users {
  const { usersIn, tenants, opened, guards } = parts
  const some = (): Tenants => requireTenants(tenants)
  return Object.freeze({
    ...usersIn({ context }),
    using: (transaction: TransactionLike) => usersUsing(parts, transaction, context),
    ready: () => opened,
    as: (actor: ActingAs, options?: ActingOptions) => createUsers(parts, contextAs(actor, options)),
    guard: (...scopes: readonly Scope[]) => guards.guard(scopes),
    for: (request: FastifyRequest) => usersIn({ ...guards.scopeOf(request), context: contextOf(request) }),
    tenant: (name: string) => usersOf(parts, name, context),
    tenants: Object.freeze({
      async list (query: PagingQuery = {}) {
        const page = await some().list(copyQuery(query))
        return { data: page.items, meta: listMeta(page) }
      },
      get: async (name: string) => some().get(name),
      remove: async (name: string) => some().remove(name),
      assign: async (name: string, options?: AssignOptions) => some().assign(name, options)
    })
  })
}
