import type { FastifyInstance } from 'fastify'
import type { Offer } from './admin/capabilities.ts'
import type { PageSize } from './core/paging.ts'
import type { EventRecord, NewEvent, Storage } from './core/storage.ts'
import type { Webhook } from './core/webhook.ts'
import type { EventLogService } from './events/log.ts'
import type { LoggedEvent } from './events/types.ts'
import type { RouteSettings } from './http/routing.ts'
import type { Users } from './in-process.ts'

/** What a plugin on top of `app.users` uses of it. */
export interface Mount {
  storage: Storage
  pageSize: PageSize
  /** The path of the routes, with every prefix before it, such as `/v1`. */
  path: string
  /** What the mount offers, now. */
  offer: () => Offer
  /** True once there are routes of webhooks. */
  hasWebhookRoutes: boolean
  /** True once there is a route of capabilities. */
  hasCapabilities: boolean
  /** Null without the option `eventLog`. */
  eventLog: EventLogService | null
  present: (record: EventRecord) => LoggedEvent
  /** Calls the listeners in process for a webhook that was disabled. */
  publishDisabled: (webhook: Webhook, recorded: NewEvent) => void
  /** Calls back after each change that a mount on the storage has made in this process. */
  onChange: (listener: () => void) => void
  /** Adds routes under the prefix of the users, with the same authentication, limits and errors. */
  addRoutes: (host: FastifyInstance, routes: (scope: FastifyInstance, settings: RouteSettings) => void) => Promise<void>
}

const mounts = new WeakMap<Users, Mount>()

export function keepMount (users: Users, mount: Mount): void {
  mounts.set(users, mount)
}

/** The mount behind an `app.users`; undefined for anything else. */
export function mountOf (users: Users): Mount | undefined {
  return mounts.get(users)
}
