import type { FastifyBaseLogger } from 'fastify'
import type { Context } from '../core/context.ts'
import { newId } from '../core/ids.ts'
import type { NewEvent } from '../storage/storage.ts'
import type { UserFields } from '../users/types.ts'
import { EVENT_TYPES, type EventData, type EventType, type UsersEvent } from './types.ts'

const SLOW_MS = 10_000

/** A listener. What it throws or rejects with is logged; what it returns is not used. */
export type Listener<Type extends EventType, Fields = UserFields> = (event: UsersEvent<Type, Fields>) => unknown

/** Listening to events in process. */
export interface Listening<Fields = UserFields> {
  /**
   * Calls the listener after each committed change of this kind, outside of the request that made it. Returns a
   * function that removes the listener.
   * @throws TypeError for an unknown kind, and without a function
   */
  on<Type extends EventType>(type: Type, listener: Listener<Type, Fields>): () => void
}

/** Calls the listeners for a change. `recorded`: what the event log has of it, with the same id and time. */
export type Publish = <Type extends EventType>(
  type: Type,
  data: EventData[Type],
  context: Context,
  recorded: NewEvent | null
) => void

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
export function createEmitter (log: FastifyBaseLogger): { on: Listening['on'], publish: Publish } {
  const listeners: { [Type in EventType]: Set<Listener<Type>> } = {
    'user.created': new Set(),
    'user.updated': new Set(),
    'user.suspended': new Set(),
    'user.activated': new Set(),
    'user.deleted': new Set(),
    'user.restored': new Set(),
    'user.purged': new Set(),
    'api_key.created': new Set(),
    'api_key.rotated': new Set(),
    'api_key.revoked': new Set(),
    'group.created': new Set(),
    'group.updated': new Set(),
    'group.deleted': new Set(),
    'group.members_changed': new Set(),
    'webhook.disabled': new Set()
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
      throw new TypeError(`fastify-users: unknown event ${type}; there are ${EVENT_TYPES.join(', ')}`)
    }
    if (typeof listener !== 'function') throw new TypeError('fastify-users: events.on() takes a type and a function')
    listeners[type].add(listener)
    return () => { listeners[type].delete(listener) }
  }

  return {
    on,
    publish (type, data, { actor, requestId }, recorded) {
      if (listeners[type].size === 0) return
      const { id, timestamp, reverts }: Pick<NewEvent, 'id' | 'timestamp' | 'reverts'> =
        recorded ?? { id: newId('evt'), timestamp: new Date().toISOString() }
      const tenant = 'tenant' in data ? data.tenant : undefined
      const own = { id, type, timestamp, data: deepFreeze(structuredClone(data)), actor, requestId }
      const event = {
        ...own, ...(tenant !== undefined && { tenant }), ...(reverts !== undefined && { reverts })
      }
      Object.freeze(event)
      for (const listener of listeners[type]) setImmediate(deliver, event, listener)
    }
  }
}
