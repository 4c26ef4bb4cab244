import type { FastifyBaseLogger } from 'fastify'
import type { ApiKey, KeyEventType } from './api-keys/record.ts'
import type { Context } from './core/context.ts'
import { newId } from './core/ids.ts'
import type { UserEventType } from './users/members.ts'
import type { User, UserFields } from './users/types.ts'

const SLOW_MS = 10_000

export type EventType = UserEventType | KeyEventType

/** The subject of each kind of event, after the change: of a deletion the last state, of a rotation the new key. */
export type EventData<Fields = UserFields> = Record<UserEventType, User<Fields>> & Record<KeyEventType, ApiKey>

/** A change that has been committed. */
export interface UsersEvent<Type extends EventType = EventType, Fields = UserFields> extends Context {
  /** `evt_` and 26 characters, sortable by time. */
  readonly id: string
  readonly type: Type
  /** RFC 3339 in UTC with milliseconds. */
  readonly timestamp: string
  readonly data: Readonly<EventData<Fields>[Type]>
}

/** A listener. What it throws or rejects with is logged. */
export type Listener<Type extends EventType, Fields = UserFields> =
  (event: UsersEvent<Type, Fields>) => void | Promise<void>

/** `app.users.events`. */
export interface Events<Fields = UserFields> {
  /**
   * Calls the listener after each committed change of this kind, outside of the request that made it. Returns a
   * function that removes the listener.
   * @throws TypeError for an unknown kind
   */
  on<Type extends EventType>(type: Type, listener: Listener<Type, Fields>): () => void
}

/** Calls the listeners for a change. */
export type Publish = <Type extends EventType>(type: Type, data: EventData[Type], context: Context) => void

/** Freezes a value and everything in it: all listeners get the same object. */
function deepFreeze<Value> (value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  for (const inner of Object.values(Object.freeze(value))) deepFreeze(inner)
  return value
}

/**
 * Events in process. Each listener runs on a later turn of the event loop, so that it affects neither the request nor
 * other listeners. A listener that takes longer than ten seconds is logged.
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
    const fields = { eventId: event.id, eventType: event.type }
    const timer = setTimeout(() => log.warn(fields, 'a listener takes longer than 10 seconds'), SLOW_MS).unref()
    try {
      await listener(event)
    } catch (err) {
      log.error({ err, ...fields }, 'a listener failed')
    } finally {
      clearTimeout(timer)
    }
  }

  function on<Type extends EventType> (type: Type, listener: Listener<Type>): () => void {
    if (!Object.hasOwn(listeners, type)) {
      throw new TypeError(`fastify-users: unknown event ${type}; there are ${Object.keys(listeners).join(', ')}`)
    }
    listeners[type].add(listener)
    return () => { listeners[type].delete(listener) }
  }

  return {
    events: Object.freeze({ on }),
    publish (type, data, { actor, requestId }) {
      if (listeners[type].size === 0) return
      const timestamp = new Date().toISOString()
      const event = { id: newId('evt'), type, timestamp, data: deepFreeze(structuredClone(data)), actor, requestId }
      Object.freeze(event)
      for (const listener of listeners[type]) setImmediate(deliver, event, listener)
    }
  }
}
