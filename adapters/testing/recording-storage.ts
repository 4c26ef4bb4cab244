import assert from 'node:assert/strict'
import { apiKeyEvent, userEvent } from '../../lib/storage/recorded-events.ts'
import type { ApiKeyRecord, EventRecord, JsonObject, NewEvent, UserRecord } from '../../lib/storage/storage.ts'
import type { KitStorage, Revocation } from './kit-storage.ts'
import { eventOf, readWholeLog } from './event-values.ts'

const WRITES = ['createUser', 'updateUser', 'deleteUser', 'createApiKey', 'rotateApiKey', 'revokeApiKey'] as const

/** Which argument of each write is the event. */
const PLACES: Record<typeof WRITES[number], number> = {
  createUser: 3, updateUser: 4, deleteUser: 2, createApiKey: 2, rotateApiKey: 3, revokeApiKey: 3
}

const TYPES: Record<typeof WRITES[number], string> = {
  createUser: 'user.created',
  updateUser: 'user.updated',
  deleteUser: 'user.deleted',
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
    case 'deleteUser': return result === null ? null : userEvent(event, Object(result))
    case 'createApiKey': return result === true ? apiKeyEvent(event, Object(args[0])) : null
    case 'rotateApiKey': return result === null ? null : apiKeyEvent(event, Object(args[1]))
    case 'revokeApiKey': return changed === true && key !== undefined ? apiKeyEvent(event, key) : null
  }
}

/** The members of a user that an update has changed, as they were. */
function changedOf (before: JsonObject, after: JsonObject): JsonObject {
  const differs = (name: string) => JSON.stringify(before[name]) !== JSON.stringify(after[name])
  const names = ['name', 'email', 'fields'].filter(differs)
  return Object.fromEntries(names.map((name) => [name, before[name] ?? null]))
}

/** Checks the order of the events of each user, and what updates say that was before. */
function requireOrder (events: readonly EventRecord[]): void {
  const last = new Map<string, JsonObject>()
  for (const { id, type, subject, data, before } of events) {
    const previous = last.get(subject)
    last.set(subject, data)
    if (type !== 'user.updated') {
      assert.equal(before, null, `the event ${id} of the type ${type} has no \`before\``)
      continue
    }
    if (previous === undefined) continue
    const version = Number(previous['version']) + 1
    assert.equal(data['version'], version, `the events of ${subject} are in the order of versions`)
    assert.deepEqual(before, changedOf(previous, data), `the event ${id} says what its update has changed`)
  }
}

/** Gives every write an event of its own, and notes which must be recorded. */
export function recordingStorage (storage: KitStorage): Recording {
  const expected = new Map<string, EventRecord>()
  let count = 0

  async function write (method: typeof WRITES[number], args: unknown[]): Promise<unknown> {
    const event = { ...eventOf(++count, TYPES[method]), ...(method === 'deleteUser' && { erase: false }) }
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
      const found = new Map(events.map((event) => [event.id, { ...event, before: null }]))
      assert.equal(found.size, events.length, 'each event is in the log once')
      for (const [id, event] of expected) assert.deepEqual(found.get(id), event, `the change of ${id} has its event`)
      for (const id of found.keys()) assert.ok(expected.has(id), `the event ${id} is of a change that was made`)
      requireOrder(events)
    }
  }
}
