import type { Context } from '../core/context.ts'
import { newId, secondId } from '../core/ids.ts'
import { cloneFields, isJsonObject } from '../core/json.ts'
import type {
  ApiKeyRecord, EventRecord, GroupRecord, JsonObject, NewEvent, PrunedEvents, UserRecord
} from './storage.ts'
import type { ChangeType } from './user-writes.ts'
import { USER_MEMBERS } from './user-members.ts'
import type { Webhook } from './webhook.ts'

/** The ids of those who have joined and left. */
export interface GroupMembers { added: string[], removed: string[] }

// What a store records of a change. Adapters share it, so that events are the same on every store.

/** The event of a user's creation or deletion. */
export function userEvent (event: NewEvent, user: UserRecord): EventRecord {
  const { tenant, ...members } = user
  return recorded(event, user.id, { ...members, fields: cloneFields(user.fields) }, tenant)
}

/** The members of a status that an update has changed, as they were before. */
function statusBefore (before: UserRecord, after: UserRecord): JsonObject {
  const { status, statusReason } = before
  return {
    ...(status !== after.status && { status }),
    ...(statusReason !== after.statusReason && { statusReason })
  }
}

/** The members but those of the status that an update has changed, as they were before. */
function valuesBefore (before: UserRecord, after: UserRecord): JsonObject {
  const { id, fields, status, statusReason, version, createdAt, updatedAt, tenant, ...members } = before
  const others = Object.entries(members).filter(([name, value]) => value !== Reflect.get(after, name))
  return {
    ...Object.fromEntries(others),
    ...(JSON.stringify(before.fields) !== JSON.stringify(after.fields) && { fields: cloneFields(before.fields) })
  }
}

/** What an update is called that changes the status. */
export const STATUS_EVENTS = { active: 'user.activated', suspended: 'user.suspended' } as const

/**
 * The types of the events of an update, from the user before and after it: that of the status where it is another one,
 * behind `user.updated` where other members are others too.
 */
export function updateTypes (before: UserRecord, after: UserRecord): ChangeType[] {
  if (before.status === after.status) return ['user.updated']
  const changesValues = Object.keys(valuesBefore(before, after)).length > 0
  return [...changesValues ? ['user.updated'] as const : [], STATUS_EVENTS[after.status]]
}

/**
 * The events of an update, from the user before and after it: one, or two of the same version where the status and
 * other members have changed. The second one has the second id.
 */
export function updateEvents (event: NewEvent, before: UserRecord, after: UserRecord): EventRecord[] {
  const status = statusBefore(before, after)
  const all = { ...valuesBefore(before, after), ...status }
  return updateTypes(before, after).map((type, i) => ({
    ...userEvent({ ...event, type, ...(i > 0 && { id: secondId(event.id) }) }, after),
    before: i > 0 ? status : all
  }))
}

/** The types of the events of a purge of a user that was not put away. */
export const LIVE_PURGE: readonly ChangeType[] = ['user.deleted', 'user.purged']

/** The event of the deletion that a purge of a user begins with who was not put away. It has the second id. */
export function deletionBefore (event: NewEvent): NewEvent {
  return { ...event, id: secondId(event.id), type: 'user.deleted' }
}

/** The event of a purge. It has no values of the user. */
export function purgeEvent (event: NewEvent, user: UserRecord): EventRecord {
  return erased(userEvent(event, user))
}

/** The event of a change of an API key. It does not have the digest. */
export function apiKeyEvent (event: NewEvent, key: ApiKeyRecord): EventRecord {
  const { digest, tenant, ...members } = structuredClone(key)
  return recorded(event, key.id, Object(members), tenant)
}

/** The event of a change of an endpoint, from its public view. */
export function webhookEvent (event: NewEvent, { tenant, ...members }: Webhook): EventRecord {
  return recorded(event, members.id, Object(members), tenant)
}

/** The event of a change of a group. `members`: who has joined and left, by their ids. */
export function groupEvent (event: NewEvent, group: GroupRecord, members: GroupMembers | null = null): EventRecord {
  const { tenant, nameKey, externalId, ...shown } = group
  return recorded(event, group.id, {
    ...shown, ...(externalId !== null && { externalId }), ...(members !== null && { ...members })
  }, tenant)
}

/** The event of a key that is revoked with the one before it: the same change, with an id of its own. */
export function eventOfSuccessor (event: NewEvent | null): NewEvent | null {
  return event === null ? null : { ...event, id: newId('evt') }
}

function recorded (event: NewEvent, subject: string, data: JsonObject, tenant: string | undefined): EventRecord {
  const { id, type, timestamp, actor, requestId, reverts } = event
  const by = actor === null ? null : { type: actor.type, id: actor.id, name: actor.name }
  return {
    id,
    type,
    timestamp,
    subject,
    data,
    before: null,
    actor: by,
    requestId,
    ...(reverts !== undefined && { reverts }),
    ...(tenant !== undefined && { tenant })
  }
}

/** The members of a user that an erasure takes away, beside the own fields. */
const PERSONAL = Object.fromEntries(Object.entries(USER_MEMBERS).filter(([, { isPersonal }]) => isPersonal)
  .map(([name]) => [name, true]))

function withoutValues (members: JsonObject): JsonObject {
  return Object.fromEntries(Object.keys(members).map((name) => [name, null]))
}

/** The own fields that an update has changed, as they were before: null where there was none. */
export function changedFields (before: JsonObject, after: JsonObject): JsonObject {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  return Object.fromEntries(changed.map((name) => [name, before[name] ?? null]))
}

/** True if the values of its user were taken out of an event. */
export function isErased ({ data }: Pick<EventRecord, 'data'>): boolean {
  return data['name'] === null
}

function fieldsOf ({ fields }: JsonObject): JsonObject {
  return isJsonObject(fields) ? fields : {}
}

function statusOf ({ status }: JsonObject): JsonObject {
  return status === undefined ? {} : { status }
}

/** An event without the name of who made the change: the id still tells one from another. */
export function withoutActorName (event: EventRecord): EventRecord {
  return event.actor === null ? event : { ...event, actor: { ...event.actor, name: null } }
}

/**
 * The event of a user without its values: `name`, `email`, `statusReason` and each own field are null, in `before` too,
 * which has the fields that changed, and so is the name of the actor if that is the user itself. Its id, type, status
 * and times stay, and so do the names of the members.
 */
export function erased (recorded: EventRecord): EventRecord {
  const event = recorded.actor?.id === recorded.subject ? withoutActorName(recorded) : recorded
  if (isErased(event)) return event
  const { data, before } = event
  const fields = before?.['fields'] === undefined
    ? null
    : withoutValues(changedFields(fieldsOf(before), fieldsOf(data)))
  return {
    ...event,
    data: { ...data, ...withoutValues(PERSONAL), fields: withoutValues(fieldsOf(data)) },
    before: before === null
      ? null
      : { ...withoutValues(before), ...statusOf(before), ...(fields !== null && { fields }) }
  }
}

// What an event of a key tells of people and their networks, beside the name.
const KEY_VALUES = ['owner', 'addresses']

/** An event of a tenant that was removed: without its values and the name of its actor, and of no tenant. */
export function forgotten (recorded: EventRecord): EventRecord {
  const { tenant, ...event } = withoutActorName(recorded)
  const { type, data } = event
  if (/^(?:webhook|group)\./.test(type)) return { ...event, data: withoutValues(data), before: null }
  if (!type.startsWith('api_key.')) return erased(event)
  const values = KEY_VALUES.filter((name) => Object.hasOwn(data, name)).map((name) => [name, null])
  return erased({ ...event, data: { ...data, ...Object.fromEntries(values) } })
}

/** What is left of pruned events once these, the oldest ones of the log in its order, are pruned too. */
export function afterPruning (
  before: readonly PrunedEvents[],
  pruned: ReadonlyArray<Pick<EventRecord, 'id' | 'type'>>
): PrunedEvents[] {
  const lastOf = new Map(before.map((each) => [each.type, each]))
  let greatestId = before.at(-1)?.greatestId ?? ''
  for (const { id, type } of pruned) {
    if (id > greatestId) greatestId = id
    // Behind the others.
    lastOf.delete(type)
    lastOf.set(type, { type, id, greatestId })
  }
  return [...lastOf.values()]
}

/** Makes what a store records of a change; null without an event log. */
export type MakeEvent = (type: string, context: Context) => NewEvent | null

/** What a store records of a change that is made now. */
export function newEvent (type: string, { actor, requestId }: Context): NewEvent {
  // Before the id, which is then not older: who asks for events since this time gets the event itself.
  const timestamp = new Date().toISOString()
  return { id: newId('evt'), type, timestamp, actor, requestId }
}
