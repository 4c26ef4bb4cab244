import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { ApiKey, KeyEventType } from '../api-keys/record.ts'
import { scopesOf } from '../api-keys/scopes.ts'
import { createApiKeysService } from '../api-keys/service.ts'
import type { UseCounter } from '../api-keys/use-counter.ts'
import type { Verifier } from '../api-keys/verifier.ts'
import type { Context } from '../core/context.ts'
import { createEmitter, type Publish } from '../events/emitter.ts'
import { createEvents, type Events } from '../events/in-process.ts'
import { createEventLog } from '../events/log.ts'
import { eventPresenter } from '../events/presenter.ts'
import { createTail } from '../events/tail.ts'
import type { HostFields } from '../fields/host-fields.ts'
import type { Guards } from '../http/admission/guard.ts'
import type { SecurityLog } from '../http/logging/security-log.ts'
import { type MakeEvent, newEvent } from '../storage/recorded-events.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import { type Repository, repositoryIn } from '../storage/repository.ts'
import type { NewEvent } from '../storage/storage.ts'
import { createPresenter } from '../users/presenter.ts'
import { findIn } from '../users/write-checks.ts'
import { createSubjects } from '../events/subject.ts'
import { createUsers } from './all-users.ts'
import type { ProcessScope } from './acting.ts'
import { createInProcess } from './in-process.ts'
import { keyMethods } from './in-process-keys.ts'
import type { CheckedOptions } from './options.ts'
import type { Membership } from './shared-storage.ts'
import { createTenants } from './tenants.ts'
import { usersServices } from './users-services.ts'

export interface ServiceParts {
  log: FastifyBaseLogger
  repository: Repository
  fields: HostFields | null
  verifier: Verifier
  /** Null without the option `apiKeys.countUses`. */
  uses: UseCounter | null
  securityLog: SecurityLog
  membership: Membership
  /** Settles when the storage is open, or can't be opened. */
  opened: Promise<void>
  guards: Guards
}

export type MountServices = ReturnType<typeof createServices>

/** Listens to the events of one tenant. */
function ofTenant (on: Events['on'], tenant: string): Events['on'] {
  return (type, listener) => {
    if (typeof listener !== 'function') return on(type, listener)
    return on(type, (event) => event.tenant === tenant ? listener(event) : undefined)
  }
}

/** Makes the services of a mount, and from them what is `app.users`. */
export function createServices (host: FastifyInstance, options: CheckedOptions, parts: ServiceParts) {
  const { log, repository, fields, verifier, uses, securityLog, membership, opened, guards } = parts
  const { pageSize, apiKeys: { prefix: keyPrefix, pepper: [pepper] } } = options
  const presenter = createPresenter(fields, log, options.tenants)
  const present = eventPresenter(presenter)
  const tail = createTail()
  host.addHook('preClose', async () => tail.close())
  membership.onChange(tail.wake)

  const emitter = createEmitter(log)
  const makeEvent: MakeEvent = options.eventLog === null ? () => null : newEvent
  const publish: Publish = (...change) => {
    emitter.publish(...change)
    membership.changed()
  }
  const publishKey = (type: KeyEventType, key: ApiKey, context: Context, recorded: NewEvent | null) => {
    securityLog.changed(type, key, context)
    publish(type, key, context, recorded)
  }
  const usersOn = usersServices(fields, presenter, options)

  const apiKeys = createApiKeysService({
    repository,
    verifier,
    flushUses: uses && uses.flush,
    pageSize,
    keyPrefix,
    pepper,
    publish: publishKey,
    makeEvent,
    scopes: scopesOf(options.tenants, options.apiKeys.scopes)
  })
  const hasUser = async (id: string, tenant: string | undefined) =>
    await fromStorage(() => findIn(repository, id, tenant)) !== null
  const eventLog = options.eventLog === null
    ? null
    : createEventLog({ ...options.eventLog, log: repository.events, present, pageSize, hasUser, tail })
  const usersIn = (transaction: unknown) => {
    const { storage } = repository
    const joined = storage.join?.(transaction)
    if (joined === undefined) {
      throw new TypeError(`fastify-users: the storage ${storage.name} joins no transactions: use knexStorage(knex) ` +
        "on your Knex instance, which in tests may use SQLite with the filename ':memory:'")
    }
    return usersOn(repositoryIn(joined), (...change) => joined.afterCommit(() => publish(...change)), makeEvent)
  }
  const subject = createSubjects(repository, presenter, present)
  const own = { ...usersOn(repository, publish, makeEvent), presenter, subject, apiKeys, eventLog }
  const keysIn = (scope: ProcessScope) => keyMethods(apiKeys, guards.verify, scope)
  const inProcess = (scope: ProcessScope) => {
    const { tenant } = scope
    const on = tenant === undefined ? emitter.on : ofTenant(emitter.on, tenant)
    return createInProcess({ ...own, usersIn, keysIn, events: createEvents(on, eventLog, tenant) }, scope)
  }
  const tenants = options.tenants
    ? createTenants(repository, verifier, pageSize, options.apiKeys.cache * 1000)
    : null
  if (tenants !== null) host.addHook('preClose', tenants.close)
  return { ...own, present, publish, tenants, inProcess: createUsers({ usersIn: inProcess, tenants, opened, guards }) }
}
