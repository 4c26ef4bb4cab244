import { type Call, type Context, FROM_PROCESS } from '../context.ts'
import { type Fault, isStorageError, StorageError, UsersError, validationFailed } from '../errors.ts'
import type { EventType } from '../events.ts'
import type { Checked, Fields } from '../fields/fields.ts'
import { NO_FIELDS } from '../fields/schema.ts'
import { isUserId, newId } from '../ids.ts'
import { fromStorage } from '../storage-errors.ts'
import { type Limits, type ListedPage, readPage, unknownParameters } from '../paging.ts'
import type { Creation, JsonObject, Page, PageRequest, Storage, UserChanges, UserRecord, VersionGuard } from '../storage.ts'
import { requireVersion } from '../storage-rules.ts'
import { type CreateOptions, idempotencyOf, judgeCreateOptions } from './idempotency.ts'
import { checkListQuery } from './list-query.ts'
import { checkCreate, checkUpdate } from './rules.ts'
import { createTurns } from './turns.ts'
import { guardOf, judgeWriteOptions, type WriteOptions } from './write-options.ts'

export interface UsersServiceOptions {
  storage: Storage
  /** The host's own, if it has any. */
  fields: Fields | null
  limits: Limits
  requireIfMatch: boolean
  /** Seconds that an idempotency key is kept. */
  idempotencyTtl: number
  /** Tells of a change, with the user as it is then. */
  publish: PublishUser
}

export type PublishUser = (type: Extract<EventType, `user.${string}`>, user: UserRecord, context: Context) => void

/** How often a patch of fields is tried where others change the user all the time. */
const TRIES = 100

export type UsersService = ReturnType<typeof createUsersService>

function refuse<Checked extends object> (found: readonly Fault[], checked: Checked | { faults: Fault[] }): asserts checked is Checked {
  const faults = 'faults' in checked ? [...found, ...checked.faults] : found
  if (faults.length > 0) throw validationFailed(faults)
}

/**
 * What can be done with users, without HTTP: the rules, and the order validation → existence → precondition → uniqueness.
 * Every method takes what a stranger sent and throws UsersError alone.
 */
export function createUsersService ({ storage, fields, limits, requireIfMatch, idempotencyTtl, publish }: UsersServiceOptions) {
  const inTurn = createTurns()
  const { filters } = fields?.schema ?? NO_FIELDS
  const notFound = () => new UsersError('user_not_found')

  async function get (id: string): Promise<UserRecord> {
    const user = isUserId(id) ? await fromStorage(() => storage.findUser(id)) : null
    if (user === null) throw notFound()
    return user
  }

  async function requireCondition (id: string, { ifMatch }: WriteOptions): Promise<void> {
    if (!requireIfMatch || ifMatch !== undefined) return
    await get(id)
    throw new UsersError('precondition_required', { errors: [{ header: 'if-match', code: 'required', detail: 'is required' }] })
  }

  async function create (input: unknown, options: CreateOptions, { context, found }: Call = FROM_PROCESS): Promise<Creation> {
    const checked = checkCreate(input, fields)
    refuse([...found, ...judgeCreateOptions(options)], checked)
    const { idempotencyKey } = options
    const { name, email } = checked
    const now = new Date().toISOString()
    const user = { id: newId('usr'), name: name.value, email: email.value, fields: checked.fields, version: 1, createdAt: now, updatedAt: now }
    const idempotency = idempotencyKey === undefined ? null : idempotencyOf(idempotencyKey, input, context, idempotencyTtl)
    const creation = await fromStorage(() => storage.createUser(user, { emailKey: email.key, nameKey: name.key }, idempotency))
    if (!creation.replayed) publish('user.created', creation.user, context)
    return creation
  }

  /** Changes the host's fields by a patch: what it leads to depends on what is there, so it is written only where that is still there. */
  async function patchFields (id: string, changes: UserChanges, patched: (before: JsonObject) => Checked, guard: VersionGuard): Promise<{ user: UserRecord, changed: boolean } | null> {
    for (let tries = 0; tries < TRIES; tries++) {
      const before = await get(id)
      requireVersion(guard, before)
      const checked = patched(before.fields)
      refuse([], checked)
      try {
        return await storage.updateUser(id, { ...changes, fields: checked.fields }, new Date().toISOString(), { ifVersion: [before.version], unlessVersion: [] })
      } catch (error) {
        // Another change came between.
        if (!isStorageError(error) || error.code !== 'version_mismatch') throw error
      }
    }
    throw new StorageError('unavailable', 'the user is changed by others all the time')
  }

  async function change (id: string, patch: unknown, options: WriteOptions, whole: boolean, { context, found }: Call = FROM_PROCESS): Promise<UserRecord> {
    const checked = checkUpdate(patch, id, whole, fields)
    refuse([...found, ...judgeWriteOptions(options)], checked)
    if (!isUserId(id)) throw notFound()
    await requireCondition(id, options)
    const { changes, patched } = checked
    const result = await fromStorage(() => patched === null
      ? storage.updateUser(id, changes, new Date().toISOString(), guardOf(options))
      : inTurn(id, () => patchFields(id, changes, patched, guardOf(options))))
    if (result === null) throw notFound()
    if (result.changed) publish('user.updated', result.user, context)
    return result.user
  }

  async function remove (id: string, options: WriteOptions, { context, found }: Call = FROM_PROCESS): Promise<void> {
    refuse([...found, ...judgeWriteOptions(options)], {})
    if (!isUserId(id)) throw notFound()
    await requireCondition(id, options)
    const user = await fromStorage(() => storage.deleteUser(id, guardOf(options)))
    if (user === null) throw notFound()
    publish('user.deleted', user, context)
  }

  async function list (query: Readonly<Record<string, unknown>>, found: readonly Fault[] = []): Promise<ListedPage<UserRecord>> {
    const checked = checkListQuery(query, limits, filters, found)
    return readPage(checked, (page) => fromStorage(() => storage.listUsers(checked.filter, page)))
  }

  async function * iterate (query: Readonly<Record<string, unknown>>): AsyncGenerator<UserRecord, void, undefined> {
    // A walk has no pages.
    const { page, limit, after, ...rest } = query
    const { order, filter } = checkListQuery(rest, limits, filters, unknownParameters(['page', 'limit', 'after'].filter((name) => Object.hasOwn(query, name))))
    let from: PageRequest['from'] = { offset: 0 }
    while (true) {
      const { items }: Page<UserRecord> = await fromStorage(() => storage.listUsers(filter, { order, limit: limits.max, from }))
      yield * items
      const last: UserRecord | undefined = items.at(-1)
      if (last === undefined || items.length < limits.max) return
      from = { after: last.id }
    }
  }

  return { get, create, change, remove, list, iterate }
}
