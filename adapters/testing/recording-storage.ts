import assert from 'node:assert/strict'
import { apiKeyEvent, purgeEvent, STATUS_EVENTS, userEvent } from '../../lib/storage/recorded-events.ts'
import type { ApiKeyRecord, EventRecord, JsonObject, NewEvent, UserRecord } from '../../lib/storage/storage.ts'
import type { KitStorage, Revocation } from './kit-storage.ts'
import { eventOf, readWholeLog } from './event-values.ts'

const WRITES = [
  'createUser', 'updateUser', 'deleteUser', 'putAwayUser', 'restoreUser', 'purgeUser', 'createApiKey', 'rotateApiKey',
  'revokeApiKey'
] as const

/** Which argument of each write is the event. */
const PLACES: Record<typeof WRITES[number], number> = {
  createUser: 3,
  updateUser: 4,
  deleteUser: 2,
  putAwayUser: 3,
  restoreUser: 3,
  purgeUser: 3,
  createApiKey: 2,
  rotateApiKey: 3,
  revokeApiKey: 3
}

const ERASING: readonly string[] = ['deleteUser', 'purgeUser']

const TYPES: Record<typeof WRITES[number], string> = {
  createUser: 'user.created',
  updateUser: 'user.updated',
  deleteUser: 'user.deleted',
  putAwayUser: 'user.deleted',
  restoreUser: 'user.restored',
  purgeUser: 'user.purged',
  createApiKey: 'api_key.created',
  rotateApiKey: 'api_key.rotated',
  revokeApiKey: 'api_key.revoked'
}

/** A store that is given an event with every write, and what its log must have after that. */
export interface Recording {
  storage: KitStorage
  /** Throws unless every change has its one event, and nothing else has one. */
  requireRecorded: () => Promise<void>
}

function isWrite (name: string | symbol): name is typeof WRITES[number] {
  return WRITES.some((write) => write === name)
}

/** The events that successors must have which were revoked with their key. */
function expectedOfSuccessors (result: unknown, event: NewEvent): EventRecord[] {
  const { successors = [] }: Partial<Revocation> = Object(result)
  return successors.map(({ key, event: own }) => {
    assert.deepEqual({ ...own, id: event.id }, event, `the successor ${key.id} has an event like that of the key`)
    return apiKeyEvent({ ...event, id: String(own?.id) }, key)
  })
}

/** The event that a write must have recorded, by its result; null: none. `before` is judged by the whole log. */
function expectedOf (
  method: typeof WRITES[number],
  args: readonly unknown[],
  result: unknown,
  event: NewEvent
): EventRecord | null {
  const { user, key, changed, replayed }: {
    user?: UserRecord, key?: ApiKeyRecord, changed?: boolean, replayed?: boolean
  } = Object(result)
  switch (method) {
    case 'createUser': return replayed === false && user !== undefined ? userEvent(event, user) : null
    case 'updateUser': return changed === true && user !== undefined ? userEvent(event, user) : null
    case 'deleteUser':
    case 'putAwayUser':
    case 'restoreUser': return result === null ? null : userEvent(event, Object(result))
    case 'purgeUser': return result === null ? null : purgeEvent(event, Object(result))
    case 'createApiKey': return result === true ? apiKeyEvent(event, Object(args[0])) : null
    case 'rotateApiKey': return result === null ? null : apiKeyEvent(event, Object(args[1]))
    case 'revokeApiKey': return changed === true && key !== undefined ? apiKeyEvent(event, key) : null
  }
}

/** Every member of a user that `before` of an event can have. */
const CHANGEABLE = ['name', 'email', 'fields', 'status', 'statusReason']
const OF_STATUS: readonly string[] = Object.values(STATUS_EVENTS)

/** The members of a user that an update has changed, as they were. */
function changedOf (before: JsonObject, after: JsonObject): JsonObject {
  const differs = (name: string) => JSON.stringify(before[name]) !== JSON.stringify(after[name])
  return Object.fromEntries(CHANGEABLE.filter(differs).map((name) => [name, before[name] ?? null]))
}

/** The types of the events of an update, by what was before. */
function typesOf ({ status, statusReason, ...values }: JsonObject, after: JsonObject): string[] {
  if (status === undefined) return ['user.updated']
  const ofStatus = after['status'] === 'suspended' ? STATUS_EVENTS.suspended : STATUS_EVENTS.active
  return Object.keys(values).length === 0 ? [ofStatus] : ['user.updated', ofStatus]
}

/** The second event of a change that has two: what it has in common with the first. */
interface Second { type: string, data: JsonObject, before: JsonObject | null }

/** The second event that a change still needs after this event. */
function secondOf ({ type, data, before }: EventRecord, types: readonly string[]): Second | null {
  assert.equal(type, types[0], `the type of an event of ${String(data['id'])} says what its update has changed`)
  const [, second] = types
  if (second === undefined) return null
  const ofStatus = Object.entries(before ?? {}).filter(([name]) => name.startsWith('status'))
  return { type: second, data, before: Object.fromEntries(ofStatus) }
}

/** Checks the order of the events of each user, and what updates say that was before. Returns the second events. */
function requireOrder (events: readonly EventRecord[]): Set<string> {
  const last = new Map<string, JsonObject>()
  const wanted = new Map<string, Second>()
  const seconds = new Set<string>()
  for (const event of events) {
    const { id, type, subject, data, before } = event
    const previous = last.get(subject)
    const second = wanted.get(subject)
    last.set(subject, data)
    wanted.delete(subject)
    if (second !== undefined) {
      assert.deepEqual({ type, data, before }, second, `the second event of a change of ${subject}`)
      seconds.add(id)
      continue
    }
    if (type !== 'user.updated' && !OF_STATUS.includes(type)) {
      assert.equal(before, null, `the event ${id} of the type ${type} has no \`before\``)
      continue
    }
    if (previous === undefined) continue
    const version = Number(previous['version']) + 1
    assert.equal(data['version'], version, `the events of ${subject} are in the order of versions`)
    const changed = changedOf(previous, data)
    assert.deepEqual(before, changed, `the event ${id} says what its update has changed`)
    const next = secondOf(event, typesOf(changed, data))
    if (next !== null) wanted.set(subject, next)
  }
  assert.deepEqual([...wanted.keys()], [], 'a change of the status and of other members has two events')
  return seconds
}

/** The ids of the deletions that come before the purge of a user that was not put away. */
function deletionsBeforePurges (events: readonly EventRecord[]): Set<string> {
  return new Set(events.flatMap(({ id, type, subject, data }, i) => {
    const next = events.slice(i + 1).find((event) => event.subject === subject)
    const isPurged = next?.type === 'user.purged' && next.data['version'] === data['version']
    return type === 'user.deleted' && isPurged ? [id] : []
  }))
}

/** Gives every write an event of its own, and notes which must be recorded. */
export function recordingStorage (storage: KitStorage): Recording {
  const expected = new Map<string, EventRecord>()
  let count = 0

  async function write (method: typeof WRITES[number], args: unknown[]): Promise<unknown> {
    const event = { ...eventOf(++count, TYPES[method]), ...(ERASING.includes(method) && { erase: false }) }
    const all = [...args]
    all[PLACES[method]] = event
    const result: unknown = await Reflect.apply(storage[method], storage, all)
    const record = expectedOf(method, structuredClone(args), result, event)
    if (record !== null) expected.set(event.id, record)
    for (const each of expectedOfSuccessors(result, event)) expected.set(each.id, each)
    return result
  }

  const recording = new Proxy(storage, {
    get (target, name) {
      const member: unknown = Reflect.get(target, name, target)
      return isWrite(name) && typeof member === 'function' ? (...args: unknown[]) => write(name, args) : member
    }
  })

  return {
    storage: recording,
    async requireRecorded () {
      const events = await readWholeLog(storage)
      // Which of its types an update has is judged by the whole log too.
      const type = (event: EventRecord) => OF_STATUS.includes(event.type) ? 'user.updated' : event.type
      const found = new Map(events.map((event) => [event.id, { ...event, type: type(event), before: null }]))
      assert.equal(found.size, events.length, 'each event is in the log once')
      for (const [id, event] of expected) assert.deepEqual(found.get(id), event, `the change of ${id} has its event`)
      const others = new Set([...requireOrder(events), ...deletionsBeforePurges(events)])
      for (const id of found.keys()) {
        assert.ok(expected.has(id) || others.has(id), `the event ${id} is of a change that was made`)
      }
    }
  }
}
