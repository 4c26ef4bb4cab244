import type { FastifyBaseLogger } from 'fastify'
import type { ApiKey } from './api-keys/record.ts'
import type { Context } from './context.ts'
import { newId } from './ids.ts'
import type { User, UserFields } from './users/types.ts'

const SLOW_MS = 10_000

/** What each kind of event tells: the user or key as it is after the change; of a deleted user the last state, of a rotated key the new one. */
export interface EventData<Fields = UserFields> {
  'user.created': User<Fields>
  'user.updated': User<Fields>
  'user.deleted': User<Fields>
  'api_key.created': ApiKey
  'api_key.rotated': ApiKey
  'api_key.revoked': ApiKey
}

export type EventType = keyof EventData
export type KeyEventType = Extract<EventType, `api_key.${string}`>

/** A change that has been committed. */
export interface UsersEvent<Type extends EventType = EventType, Fields = UserFields> extends Context {
  /** `evt_` and 26 characters, sortable by time. */
  readonly id: string
  readonly type: Type
  /** RFC 3339 in UTC, milliseconds. */
  readonly timestamp: string
  readonly data: Readonly<EventData<Fields>[Type]>
}

/** A listener; what it throws or rejects with is logged. */
export type Listener<Type extends EventType, Fields = UserFields> = (event: UsersEvent<Type, Fields>) => void | Promise<void>

/** `app.users.events`. */
export interface Events<Fields = UserFields> {
  /** Calls the listener after each committed change of this kind, apart from the request that made it. The answer takes the listener off again. */
  on<Type extends EventType>(type: Type, listener: Listener<Type, Fields>): () => void
}

/** Tells the listeners of a change. */
export type Publish = <Type extends EventType>(type: Type, data: EventData[Type], context: Context) => void

/** Freezes a value with all that is in it: every listener is handed the same. */
function frozen<Value> (value: Value): Value {
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(Object.freeze(value))) frozen(inner)
  return value
}

/**
 * Events in process. Listeners run one after the other on later turns of the event loop, so that none of them touches the request, nor the others,
 * whatever it does; one that takes longer than ten seconds is logged.
 */
export function createEvents (log: FastifyBaseLogger): { events: Events, publish: Publish } {
  const listeners: { [Type in EventType]: Set<Listener<Type>> } = {
    'user.created': new Set(),
    'user.updated': new Set(),
    'user.deleted': new Set(),
    'api_key.created': new Set(),
    'api_key.rotated': new Set(),
    'api_key.revoked': new Set()
  }

  async function deliver<Type extends EventType> (event: UsersEvent<Type>, listener: Listener<Type>): Promise<void> {
    const { id, type } = event
    const timer = setTimeout(() => log.warn({ eventId: id, eventType: type }, 'a listener takes longer than 10 seconds'), SLOW_MS).unref()
    try {
      await listener(event)
    } catch (err) {
      log.error({ err, eventId: id, eventType: type }, 'a listener failed')
    } finally {
      clearTimeout(timer)
    }
  }

  function on<Type extends EventType> (type: Type, listener: Listener<Type>): () => void {
    if (!Object.hasOwn(listeners, type)) throw new TypeError(`fastify-users: there is no event ${type}, but ${Object.keys(listeners).join(', ')}`)
    listeners[type].add(listener)
    return () => { listeners[type].delete(listener) }
  }

  return {
    events: Object.freeze({ on }),
    publish (type, data, { actor, requestId }) {
      if (listeners[type].size === 0) return
      const event = { id: newId('evt'), type, timestamp: new Date().toISOString(), data: frozen(structuredClone(data)), actor, requestId }
      Object.freeze(event)
      for (const listener of listeners[type]) setImmediate(deliver, event, listener)
    }
  }
}
