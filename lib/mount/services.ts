import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { ApiKey, KeyEventType } from '../api-keys/record.ts'
import { createApiKeysService } from '../api-keys/service.ts'
import type { Verifier } from '../api-keys/verifier.ts'
import type { Context } from '../core/context.ts'
import { createEmitter, type Publish } from '../events/emitter.ts'
import { createEvents } from '../events/in-process.ts'
import { createEventLog } from '../events/log.ts'
import { eventPresenter } from '../events/presenter.ts'
import type { HostFields } from '../fields/host-fields.ts'
import type { SecurityLog } from '../http/logging/security-log.ts'
import { type MakeEvent, newEvent } from '../storage/recorded-events.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { NewEvent, Storage } from '../storage/storage.ts'
import { createPresenter } from '../users/presenter.ts'
import { createInProcess } from './in-process.ts'
import type { CheckedOptions } from './options.ts'
import type { Membership } from './shared-storage.ts'
import { usersServices } from './users-services.ts'

export interface ServiceParts {
  log: FastifyBaseLogger
  storage: Storage
  fields: HostFields | null
  verifier: Verifier
  securityLog: SecurityLog
  membership: Membership
}

export type Services = ReturnType<typeof createServices>

/** Makes the services of a mount, and from them what is `app.users`. */
export function createServices (host: FastifyInstance, options: CheckedOptions, parts: ServiceParts) {
  const { log, storage, fields, verifier, securityLog, membership } = parts
  const { pageSize, apiKeys: { prefix: keyPrefix, pepper: [pepper] } } = options
  const presenter = createPresenter(fields, log)
  const present = eventPresenter(presenter)
  const hasUser = async (id: string) => await fromStorage(() => storage.findUser(id)) !== null
  const eventLog = options.eventLog === null || storage.eventLog === undefined
    ? null
    : createEventLog({ log: storage.eventLog, present, pageSize, hasUser })
  host.addHook('preClose', async () => eventLog?.tail.close())
  if (eventLog !== null) membership.onChange(eventLog.tail.wake)

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
  const apiKeys = createApiKeysService({
    storage, verifier, pageSize, keyPrefix, pepper, publish: publishKey, makeEvent
  })
  const usersOn = usersServices(fields, presenter, options)
  const ofUsers = usersOn(storage, publish, makeEvent)
  const usersIn = (transaction: unknown) => {
    const joined = storage.joinTransaction?.(transaction)
    if (joined === undefined) {
      throw new TypeError(`fastify-users: the storage ${storage.name} joins no transactions: use knexStorage(knex) ` +
        "on your Knex instance, in tests too, on SQLite, whose filename may be ':memory:'")
    }
    return usersOn(joined, (...change) => joined.afterCommit(() => publish(...change)), makeEvent)
  }
  const events = createEvents(emitter.on, eventLog)
  const inProcess = createInProcess({ ...ofUsers, presenter, apiKeys, events, usersIn })
  return { ...ofUsers, presenter, present, apiKeys, eventLog, publish, inProcess }
}
