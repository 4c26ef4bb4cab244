import { type Call, FROM_PROCESS } from '../core/context.ts'
import { validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { isUserId } from '../core/ids.ts'
import type { Repository } from '../storage/repository.ts'
import type { MakeEvent } from '../storage/recorded-events.ts'
import { tenantRequired } from '../core/tenant.ts'
import { partsOf } from '../core/parts.ts'
import type { ListedPage, PageSize } from '../core/paging.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import { belongsTo } from '../storage/storage-rules.ts'
import type { UserFilter, UserReads, UserRecord } from '../storage/storage.ts'
import type { WriteScope } from '../storage/user-writes.ts'
import { NO_FIELDS } from '../fields/fields-schema.ts'
import type { HostFields } from '../fields/host-fields.ts'
import { type CreateOptions, createOptionsFaults, idempotencyOf } from './idempotency.ts'
import { listQueryCheck, walkQueryCheck } from './list-query.ts'
import { asAsked, readUserPage, walkUsers } from './list-pages.ts'
import { createDeletions, type KeyedCall, type TrashOption } from './deletions.ts'
import { doneOf, publishedTypes, type PublishUser, writeAlone } from './outcomes.ts'
import { createReversal } from './reversal.ts'
import { changesOf, checkCreate, checkUpdate, newUserOf } from './rules.ts'
import { findIn, preconditionCheck, throwFaults, userNotFound } from './write-checks.ts'
import { guardOf, type WriteOptions, writeOptionsFaults } from './write-options.ts'

export interface UsersServiceOptions {
  repository: Repository
  /** The host's own fields, if it declared any. */
  fields: HostFields | null
  pageSize: PageSize
  requireIfMatch: boolean
  /** Seconds that an idempotency key is kept. */
  idempotencyTtl: number
  /** What holds for all writes: the tenant of whoever calls. */
  scope: WriteScope
  /** True if users are made on a store that is bound to a tenant alone. */
  needsTenant?: boolean
  /** True if users show their tenant. */
  hasTenant?: boolean
  /** Absent or null: a deletion is final. */
  trash?: TrashOption | null
  /** Publishes a change, with the user after it. */
  publish: PublishUser
  /** Makes what the storage records of a change. */
  makeEvent: MakeEvent
}

export type UsersService = ReturnType<typeof createUsersService>

/** What a creation has made, or an earlier one with its idempotency key. */
export interface Creation {
  user: UserRecord
  replayed: boolean
}

/**
 * The operations on users, without HTTP: their rules, and the order validation → existence → precondition → uniqueness.
 * Every method takes unchecked input and throws UsersError alone.
 */
export function createUsersService (options: UsersServiceOptions) {
  const { repository, scope, fields, pageSize, requireIfMatch, idempotencyTtl, publish, makeEvent } = options
  const { tenant } = scope
  const { needsTenant = false, hasTenant = false } = options
  const listed = fields?.schema ?? NO_FIELDS
  const checkListQuery = listQueryCheck(pageSize, listed, tenant)
  const checkWalkQuery = walkQueryCheck(listed)
  const isUser = async (id: string): Promise<boolean> =>
    isUserId(id) && await findIn(repository, id, tenant) !== null
  const requirePrecondition = preconditionCheck(isUser, requireIfMatch)
  const deletions = createDeletions({ ...options, trash: options.trash ?? null, requirePrecondition })
  const revert = createReversal({ ...options, requirePrecondition })

  /** What writes read, and who says nothing else, is what is stored now. */
  const primary: UserReads = repository.users

  const filterIn = (filter: UserFilter): UserFilter => tenant === undefined ? filter : { ...filter, tenant }

  /** For reads alone: where they are read. */
  async function readsFor (standby: boolean): Promise<UserReads> {
    return standby ? await repository.storage.server?.standbys?.reads() ?? primary : primary
  }

  /** `atLeast`: a version that the caller has seen. */
  async function get (id: string, reads = primary, atLeast?: number): Promise<UserRecord> {
    const user = isUserId(id) ? await fromStorage(() => reads.find(id, atLeast)) : null
    if (user === null || !belongsTo(user, tenant)) throw userNotFound()
    return user
  }

  async function isActive (id: string): Promise<boolean> {
    return isUserId(id) && (await fromStorage(() => findIn(repository, id, tenant)))?.status === 'active'
  }

  /** `ownerOf`: finds whose idempotency key it is; by default the actor's. */
  async function create (
    input: unknown,
    options: CreateOptions,
    { ownerOf, context, priorFaults }: KeyedCall = FROM_PROCESS
  ): Promise<Creation> {
    const checked = checkCreate(input, fields)
    const ofNone = needsTenant ? [tenantRequired({ pointer: '/tenant' })] : []
    throwFaults([...priorFaults, ...createOptionsFaults(options), ...ofNone], checked)
    const { idempotencyKey } = options
    const { user, keys } = newUserOf(checked)
    const idempotency = idempotencyKey === undefined
      ? null
      : idempotencyOf(idempotencyKey, input, ownerOf === undefined ? context.actor : await ownerOf(), idempotencyTtl)
    const event = makeEvent('user.created', context)
    const write = { type: 'create', user, keys, event } as const
    const { outcome, replayed } = idempotency === null
      ? { outcome: await fromStorage(() => repository.users.writeOne(write, scope)), replayed: false }
      : await writeAlone(repository, write, scope, idempotency)
    const creation = { user: doneOf(outcome).user, replayed }
    if (!replayed) publish('user.created', creation.user, context, event)
    return creation
  }

  async function change (
    id: string,
    patch: unknown,
    options: WriteOptions,
    whole: boolean,
    { context, priorFaults }: Call = FROM_PROCESS
  ): Promise<UserRecord> {
    const checked = checkUpdate(patch, id, whole, fields, hasTenant)
    throwFaults([...priorFaults, ...writeOptionsFaults(options)], checked)
    if (!isUserId(id)) throw userNotFound()
    if (requireIfMatch) await requirePrecondition(id, options)
    const { changes, patchFields, storedFaults } = checked
    const event = makeEvent('user.updated', context)
    let refused: Fault[] = []
    const outcome = await fromStorage(() => repository.users.writeOne({
      type: 'update',
      id,
      changes: patchFields === null && storedFaults === null
        ? changes
        : (before) => {
            const asked = changesOf(checked, before)
            if ('changes' in asked) return asked.changes
            refused = asked.faults
            return { refused: null }
          },
      updatedAt: new Date().toISOString(),
      guard: guardOf(options),
      event
    }, scope))
    if (outcome.code === 'refused') throw validationFailed(refused)
    const { user, changed, types } = doneOf(outcome)
    if (!changed) return user
    for (const [type, recorded] of publishedTypes('user.updated', types, event)) publish(type, user, context, recorded)
    return user
  }

  async function list (
    query: Readonly<Record<string, unknown>>,
    priorFaults: readonly Fault[] = [],
    reads = primary
  ): Promise<ListedPage<UserRecord>> {
    const checked = checkListQuery(query, priorFaults)
    return readUserPage(checked, (page) => fromStorage(() => reads.list(filterIn(checked.filter), page)))
  }

  async function * iterate (
    query: Readonly<Record<string, unknown>>,
    reads = primary
  ): AsyncGenerator<UserRecord, void, undefined> {
    const checked = checkWalkQuery(query)
    yield * walkUsers(checked, pageSize.max, (page) => fromStorage(() => reads.list(filterIn(checked.filter), page)))
  }

  /**
   * Checks the query, and returns the function that reads its users from one snapshot, in parts. The store waits while
   * nobody asks for the next part, and frees what it holds when the generator is left.
   */
  function snapshot (
    query: Readonly<Record<string, unknown>>,
    priorFaults: readonly Fault[] = []
  ): (reads?: UserReads) => AsyncGenerator<UserRecord[], void, undefined> {
    const checked = checkWalkQuery(query, priorFaults)
    const { order, filter, sort } = checked
    return (reads = primary) => partsOf((onPart) => fromStorage(() =>
      reads.walk(filterIn(filter), order, asAsked(checked, onPart), sort)))
  }

  return { readsFor, get, isActive, create, change, ...deletions, revert, list, iterate, snapshot }
}
