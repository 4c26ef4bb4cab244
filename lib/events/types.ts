import type { ApiKey, KeyEventType } from '../api-keys/record.ts'
import type { Context } from '../core/context.ts'
import type { Json, JsonObject } from '../core/storage.ts'
import type { Webhook } from '../core/webhook.ts'
import type { UserEventType } from '../users/members.ts'
import type { User, UserFields } from '../users/types.ts'

export type EventType = UserEventType | KeyEventType | 'webhook.disabled'

/** Every kind of event. */
export const EVENT_TYPES = [
  'user.created', 'user.updated', 'user.deleted', 'api_key.created', 'api_key.rotated', 'api_key.revoked',
  'webhook.disabled'
] as const satisfies readonly EventType[]

/** Which events are meant: those of a type, or of all that begin so. */
export type EventFilter = EventType | 'user.*' | 'api_key.*' | 'webhook.*'

/** The subject of each kind of event, after the change: of a deletion the last state, of a rotation the new key. */
export type EventData<Fields = UserFields> = Record<UserEventType, User<Fields>> & Record<KeyEventType, ApiKey> & {
  'webhook.disabled': Webhook
}

/** A change that has been committed. */
export interface UsersEvent<Type extends EventType = EventType, Fields = UserFields> extends Context {
  /** `evt_` and 26 characters, sortable by time. */
  readonly id: string
  readonly type: Type
  /** RFC 3339 in UTC with milliseconds. */
  readonly timestamp: string
  readonly data: Readonly<EventData<Fields>[Type]>
}

/**
 * An event from the log. After an erasure of its user `name`, `email` and the own fields are null, in `before` too.
 */
export interface LoggedEvent extends Context {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  /** The user, API key or webhook after the change, as `UsersEvent` has it. */
  readonly data: JsonObject
  /** Of an update: the members that it changed, as they were before; null: there was no such field. */
  readonly before?: Readonly<Record<string, Json>>
}
