import { FROM_PROCESS } from '../core/context.ts'
import { UsersError, validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { isEventId, isUserId } from '../core/ids.ts'
import { isObject } from '../core/json.ts'
import { checkEmail, checkName } from '../core/text.ts'
import type { HostFields } from '../fields/host-fields.ts'
import type { Repository } from '../storage/repository.ts'
import { changedFields, isErased, type MakeEvent } from '../storage/recorded-events.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { EventRecord, JsonObject, UserChanges, UserRecord } from '../storage/storage.ts'
import type { KeyedCall } from './deletions.ts'
import { type CreateOptions, idempotencyKeyFaults, idempotencyOf } from './idempotency.ts'
import { doneOf, publishedTypes, type PublishUser, type ScopeOf, writeAlone } from './outcomes.ts'
import { isStatus } from './status.ts'
import { type RequirePrecondition, throwFaults, userNotFound } from './write-checks.ts'
import { guardOf, type WriteOptions, writeOptionsFaults } from './write-options.ts'

export interface ReversalParts {
  repository: Repository
  scopeOf: ScopeOf
  fields: HostFields | null
  idempotencyTtl: number
  publish: PublishUser
  makeEvent: MakeEvent
  requirePrecondition: RequirePrecondition
}

/** Options of a reversal. */
export interface RevertOptions extends WriteOptions, CreateOptions {}

const CHANGES = ['user.updated', 'user.suspended', 'user.activated']

/** The members of an event that say what a user was before, and after it. */
interface Reverted { before: JsonObject, after: JsonObject }

const objectOf = (value: unknown): JsonObject => isObject(value) ? Object(value) : {}
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null)

/** The own fields that the event changed: as they were, and as it made them. Absent is null. */
function fieldsOf ({ before, after }: Reverted): Reverted {
  const made = objectOf(after['fields'])
  const were = before['fields'] === undefined ? {} : changedFields(objectOf(before['fields']), made)
  return { before: were, after: Object.fromEntries(Object.keys(were).map((name) => [name, made[name] ?? null])) }
}

/** The members that the event changed and that are others by now, as JSON Pointers. */
function differences (event: Reverted, user: UserRecord): string[] {
  const { before, after } = event
  const fields = fieldsOf(event)
  const own = Object.keys(fields.before).filter((name) => !isSame(user.fields[name], fields.after[name]))
  const members = Object.keys(before)
    .filter((name) => name !== 'fields' && !isSame(Reflect.get(user, name), after[name]))
  return [...members, ...own].map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
}

/** The fields of a user with those that the event changed as they were, in the order of their names. */
function fieldsBefore (event: Reverted, user: UserRecord): JsonObject {
  const were = objectOf(event.before['fields'])
  const names = Object.keys(fieldsOf(event).before)
  const kept = Object.entries(user.fields).filter(([name]) => !names.includes(name))
  const back = names.flatMap((name) => {
    const value = were[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries([...kept, ...back].sort(([a], [b]) => a < b ? -1 : 1))
}

/** What sets a user back, or why it can't be: it was changed since, or the host's schema refuses what it was. */
function changesBack (event: Reverted, user: UserRecord, fields: HostFields | null): UserChanges | UsersError {
  const pointers = differences(event, user)
  if (pointers.length > 0) return conflict(pointers)
  const { name, email, status, fields: own, ...members } = event.before
  const changes: UserChanges = members
  const faults: Fault[] = []
  for (const [member, text, check] of [['name', name, checkName], ['email', email, checkEmail]] as const) {
    if (typeof text !== 'string') continue
    const checked = check(text)
    if ('value' in checked) changes[member] = checked
    else faults.push({ pointer: `/${member}`, ...checked })
  }
  if (isStatus(status)) changes.status = status
  if (own !== undefined) {
    const back = fieldsBefore(event, user)
    const isFit = fields === null || fields.matches(back)
    if (isFit) changes.fields = back
    else faults.push({ pointer: '', code: 'invalid', detail: 'has fields in the event that are no longer valid' })
  }
  return faults.length > 0 ? validationFailed(faults) : changes
}

function conflict (pointers: readonly string[]): UsersError {
  const detail = 'no longer has the value that the event gave it'
  const errors = pointers.map((pointer) => ({ pointer, code: 'changed', detail }))
  return new UsersError('revert_conflict', { errors })
}

/** Reads the body of a reversal. */
function eventIdOf (body: unknown): { eventId: string } | { faults: Fault[] } {
  if (!isObject(body)) return { faults: [{ pointer: '', code: 'type', detail: 'must be an object' }] }
  const { event, ...others } = body
  const faults: Fault[] = Object.keys(others).map((name) =>
    ({ pointer: `/${name}`, code: 'unknown', detail: 'is not a known member' }))
  if (event === undefined) faults.push({ pointer: '/event', code: 'required', detail: 'is required' })
  else if (!isEventId(event)) faults.push({ pointer: '/event', code: 'format', detail: 'must be the id of an event' })
  return isEventId(event) && faults.length === 0 ? { eventId: event } : { faults }
}

/** The change that an event records, or why it can't be reverted for this user. */
function changeOf ({ id, tenant }: UserRecord, event: EventRecord | null): Reverted | UsersError {
  const fault = (code: string, detail: string) => validationFailed([{ pointer: '/event', code, detail }])
  // A user of another tenant may have had the id before.
  const isOwn = event !== null && event.subject === id && event.tenant === tenant
  if (!isOwn) return fault('unknown', 'must be the id of an event of this user')
  if (isErased(event)) return fault('erased', 'has no values to restore, because they were erased')
  const { type, before, data: after } = event
  return CHANGES.includes(type) && before !== null
    ? { before, after }
    : fault('choice', 'must be an event that changed the user')
}

/** Makes the operation that sets back what one change of a user has changed. It throws UsersError alone. */
export function createReversal (parts: ReversalParts) {
  const { repository, scopeOf, fields, idempotencyTtl, publish, makeEvent, requirePrecondition } = parts

  return async (
    id: string,
    body: unknown,
    { idempotencyKey, ...options }: RevertOptions,
    call: KeyedCall = FROM_PROCESS
  ): Promise<{ user: UserRecord, replayed: boolean }> => {
    const { context, priorFaults, ownerOf, tenant } = call
    const made = makeEvent('user.updated', context)
    if (made === null) {
      throw new TypeError('fastify-users: reverting a change needs the option eventLog')
    }
    const checked = eventIdOf(body)
    throwFaults(
      [...priorFaults, ...writeOptionsFaults(options), ...idempotencyKeyFaults(idempotencyKey)], checked
    )
    const { eventId } = checked
    const reversal = { ...made, reverts: eventId }
    if (!isUserId(id)) throw userNotFound()
    await requirePrecondition(id, options, tenant)
    const event = await fromStorage(() => repository.events.find(eventId))
    const owner = ownerOf === undefined ? context.actor : await ownerOf()
    const idempotency = idempotencyKey === undefined
      ? null
      : idempotencyOf(idempotencyKey, ['revert', id, eventId, options], owner, idempotencyTtl)
    let refusal: UsersError | null = null
    const { outcome, replayed } = await writeAlone(repository, {
      type: 'update',
      id,
      changes (user) {
        const change = changeOf(user, event)
        const back = change instanceof UsersError ? change : changesBack(change, user, fields)
        if (!(back instanceof UsersError)) return back
        refusal = back
        return { refused: null }
      },
      updatedAt: new Date().toISOString(),
      guard: guardOf(options),
      event: reversal
    }, scopeOf(call), idempotency)
    if (refusal !== null && outcome.code === 'refused') throw refusal
    const { user, changed, types } = doneOf(outcome)
    if (!changed || replayed) return { user, replayed }
    const published = publishedTypes('user.updated', types, reversal)
    for (const [type, recorded] of published) publish(type, user, context, recorded)
    return { user, replayed }
  }
}
