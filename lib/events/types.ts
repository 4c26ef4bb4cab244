import type { ApiKey, KeyEventType } from '../api-keys/record.ts'
import type { Context } from '../core/context.ts'
import type { GroupData, GroupEventType } from '../storage/group.ts'
import type { UserRecord } from '../storage/storage.ts'
import type { PersonalMember, UserMember } from '../storage/user-members.ts'
import type { Webhook } from '../storage/webhook.ts'
import type { UserEventType } from '../users/rules.ts'
import type { User, UserFields } from '../users/types.ts'

export type EventType = UserEventType | KeyEventType | GroupEventType | 'webhook.disabled'

/** Every kind of event. */
export const EVENT_TYPES = [
  'user.created', 'user.updated', 'user.suspended', 'user.activated', 'user.deleted', 'user.restored', 'user.purged',
  'api_key.created', 'api_key.rotated', 'api_key.revoked',
  'group.created', 'group.updated', 'group.deleted', 'group.members_changed',
  'webhook.disabled'
] as const satisfies readonly EventType[]

/** Which events are meant: those of a type, or of all that begin so. */
export type EventFilter = EventType | 'user.*' | 'api_key.*' | 'group.*' | 'webhook.*'

/** The subject of each kind of event, after the change: of a deletion the last state, of a rotation the new key. */
export type EventData<Fields = UserFields> = GroupData & Record<UserEventType, User<Fields>> &
  Record<KeyEventType, ApiKey> & { 'webhook.disabled': Webhook }

/** What every event has. */
interface EventOf<Type, Data> extends Context {
  /** `evt_` and 26 characters, sortable by time. */
  readonly id: string
  readonly type: Type
  /** RFC 3339 in UTC with milliseconds. */
  readonly timestamp: string
  readonly data: Readonly<Data>
  /** The tenant of the user, key, group or webhook. Absent: it belongs to none. */
  readonly tenant?: string
  /** The id of the event whose change this one reverts. Absent: it reverts none. */
  readonly reverts?: string
}

/** A change that has been committed. Its `type` says what `data` is. */
export type UsersEvent<Type extends EventType = EventType, Fields = UserFields> = {
  [Each in Type]: EventOf<Each, EventData<Fields>[Each]>
}[Type]

/** The events of a change of a user. */
type UserChangeType = 'user.updated' | 'user.suspended' | 'user.activated'

/** The values of a user in the log: null after its erasure. */
type LoggedValues<Fields> = { [Name in PersonalMember]: UserRecord[Name] | null } & {
  [Name in keyof Fields]: Fields[Name] | null
}

/** The subject of each kind of event in the log. */
type LoggedData<Fields> = Record<
  UserEventType, Pick<UserRecord, Exclude<UserMember, PersonalMember>> & LoggedValues<Fields>
> & Omit<EventData<Fields>, UserEventType>

/**
 * An event from the log. Its `type` says what `data` is. After an erasure of its user `name`, `email`, `statusReason`
 * and the own fields are null, in `before` too.
 */
export type LoggedEvent<Type extends EventType = EventType, Fields = UserFields> = {
  [Each in Type]: EventOf<Each, LoggedData<Fields>[Each]> & {
    /** Of a change of a user: the members that it changed, as they were before; null: there was no such field. */
    readonly before?: Each extends UserChangeType
      ? Readonly<Partial<LoggedValues<Fields> & Pick<User<Fields>, 'status'>>>
      : never
  }
}[Type]

/** The types of events that a filter means. */
export type TypesOf<Filter extends EventFilter> =
  Filter extends EventType
    ? Filter
    : Filter extends `${infer Group}.*` ? Extract<EventType, `${Group}.${string}`> : never
