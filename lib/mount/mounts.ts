import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Offer } from '../admin/capabilities.ts'
import { createKeyOwners } from '../api-keys/key-owner.ts'
import { IN_PROCESS } from '../core/context.ts'
import type { PageSize } from '../core/paging.ts'
import type { EventLogService } from '../events/log.ts'
import type { LoggedEvent } from '../events/types.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import type { GroupsService } from '../groups/service.ts'
import type { OwnerOf } from '../operations/answers.ts'
import type { Operation, OperationSettings } from '../operations/operation.ts'
import type { Repository } from '../storage/repository.ts'
import type { EventRecord, NewEvent } from '../storage/storage.ts'
import type { Webhook } from '../storage/webhook.ts'
import { type Claims, createClaims } from '../users/claims.ts'
import type { UsersService } from '../users/service.ts'
import type { Users } from './all-users.ts'
import type { CheckedOptions } from './options.ts'
import type { Routing } from './routing.ts'
import type { MountServices } from './services.ts'
import type { Membership } from './shared-storage.ts'
import { requireTenants, type Tenants } from './tenants.ts'

/** What a plugin on top of `app.users` uses of it. */
export interface Mount {
  repository: Repository
  /** Its lines name the mount. */
  log: FastifyBaseLogger
  pageSize: PageSize
  /** The path of the routes, with every prefix before it, such as `/v1`. */
  path: string
  /** What the mount offers, now. */
  offer: () => Offer
  /** Null without the option `eventLog`. */
  eventLog: EventLogService | null
  present: (record: EventRecord) => LoggedEvent
  /** Calls the listeners in process for a webhook that was disabled. */
  publishDisabled: (webhook: Webhook, recorded: NewEvent) => void
  /** Calls back after each change that a mount on the storage has made in this process. */
  onChange: (listener: () => void) => void
  /** Whose `Idempotency-Key` a caller sends. */
  ownerOf: OwnerOf
  claims: Claims
  /** @throws TypeError without the option `tenants`, `validation_failed` for what is no name of a tenant */
  requireTenant: (tenant: string) => void
  /** Adds operations under the prefix of the users, with the same authentication, limits and errors. */
  addOperations: (host: FastifyInstance, operations: (settings: OperationSettings) => Operation[]) => Promise<void>
  /** Adds a server with a prefix of its own, beside the routes of the users. */
  addServer: Routing['addServer']
  users: UsersService
  /** Null without the option `groups`. */
  groups: GroupsService | null
  fields: FieldsSchema
  /** True if an operation has been added. */
  hasOperation: Routing['has']
  operations: Routing['operations']
  description: Routing['description']
}

/** What a mount is made of. */
export interface MountParts {
  log: FastifyBaseLogger
  repository: Repository
  fields: FieldsSchema
  options: CheckedOptions
  services: MountServices
  membership: Membership
  routing: Routing
  path: string
}

const mounts = new WeakMap<Users, Mount>()

/** Keeps what a mount offers to plugins on top of it. */
export function keepMount (parts: MountParts): void {
  const { log, repository, fields, options, services, membership, routing, path } = parts
  const { pageSize, apiKeys, requireIfMatch } = options
  const { inProcess, eventLog, present, publish, tenants } = services
  mounts.set(inProcess, {
    repository,
    log,
    pageSize,
    path,
    offer: () => ({
      apiKeys: apiKeys.routes,
      events: eventLog !== null,
      webhooks: routing.has('listWebhooks'),
      tenants: tenants !== null,
      groups: options.groups,
      trash: options.trash?.retention ?? null,
      requireIfMatch,
      pageSize,
      fields,
      scopes: apiKeys.scopes
    }),
    eventLog,
    present,
    publishDisabled: (webhook, recorded) => publish('webhook.disabled', webhook, IN_PROCESS, recorded),
    onChange: membership.onChange,
    ownerOf: createKeyOwners(repository),
    claims: createClaims(repository, options.idempotencyTtl),
    requireTenant (tenant) {
      const all: Tenants = requireTenants(tenants)
      all.requireName(tenant)
    },
    async addOperations (to, operations) {
      await routing.add(to, (_scope, settings) => operations(settings))
    },
    addServer: routing.addServer,
    users: services.users,
    groups: services.groups,
    fields,
    hasOperation: routing.has,
    operations: routing.operations,
    description: routing.description
  })
}

/**
 * The mount behind the decorator that a plugin on top of it names by its option `users`.
 * @throws Error if there is none, or it is no `app.users` of this copy of the package
 */
export function requireMount (host: FastifyInstance, plugin: string, users: string): Mount {
  if (!host.hasDecorator(users)) {
    throw new Error(`${plugin}: register fastify-users first: there is no app.${users}`)
  }
  const mount = mounts.get(host.getDecorator(users))
  if (mount !== undefined) return mount
  throw new Error(`${plugin}: app.${users} is your own, or from another copy of fastify-users (npm ls fastify-users ` +
    'shows them): import both plugins from the same copy, and name its decorator in the option users')
}
