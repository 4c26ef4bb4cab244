import { toApiKey } from '../api-keys/record.ts'
import { isJsonObject } from '../core/json.ts'
import { changedFields, isErased } from '../storage/recorded-events.ts'
import type { EventRecord, JsonObject } from '../storage/storage.ts'
import type { Presenter } from '../users/presenter.ts'
import type { LoggedEvent } from './types.ts'

function fieldsOf ({ fields }: JsonObject): JsonObject {
  return isJsonObject(fields) ? fields : {}
}

/** Shows recorded events, with users as they are shown in process. */
export function eventPresenter (
  { pastFields, showsTenant }: Pick<Presenter, 'pastFields' | 'showsTenant'>
): (record: EventRecord) => LoggedEvent {
  function userOf (user: JsonObject): JsonObject {
    const { id, name, email, fields: _, ...rest } = user
    return Object.fromEntries(Object.entries({ id, name, email, ...pastFields(fieldsOf(user)), ...rest })
      .map(([member, value]) => [member, value ?? null]))
  }

  function beforeOf (record: EventRecord): JsonObject {
    const { name, email, fields, ...rest } = record.before ?? {}
    const before = fieldsOf(record.before ?? {})
    const changed = isErased(record) ? before : changedFields(before, fieldsOf(record.data))
    return {
      ...(name !== undefined && { name }),
      ...(email !== undefined && { email }),
      ...(fields !== undefined && pastFields(changed)),
      ...rest
    }
  }

  function dataOf ({ type, data }: EventRecord): JsonObject {
    if (type.startsWith('user.')) return userOf(data)
    // Of webhooks the public view is recorded.
    return type.startsWith('api_key.') ? Object(toApiKey(Object(data))) : data
  }

  return (record) => {
    const { id, type, timestamp, before, actor, requestId, reverts, tenant } = record
    return Object({
      id,
      type,
      timestamp,
      data: dataOf(record),
      ...(before !== null && { before: beforeOf(record) }),
      actor: actor === null ? null : { type: actor.type, id: actor.id, name: actor.name },
      requestId,
      ...(reverts !== undefined && { reverts }),
      ...(showsTenant && tenant !== undefined && { tenant })
    })
  }
}
