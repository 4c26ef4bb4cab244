import { type Call, FROM_PROCESS, type ReadCall } from '../core/context.ts'
import { validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { isUserId } from '../core/ids.ts'
import type { Repository } from '../storage/repository.ts'
import type { MakeEvent } from '../storage/recorded-events.ts'
import { splitTenant } from '../core/tenant.ts'
import { partsOf } from '../core/parts.ts'
import type { ListedPage, PageSize } from '../core/paging.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import { belongsTo } from '../storage/storage-rules.ts'
import type { GroupRecord, Page, UserConditions, UserReads, UserRecord } from '../storage/storage.ts'
import { NO_FIELDS } from '../fields/fields-schema.ts'
import type { HostFields } from '../fields/host-fields.ts'
import { type CreateOptions, createOptionsFaults, idempotencyOf } from './idempotency.ts'
import { listQueryCheck, walkQueryCheck } from './list-query.ts'
import { asAsked, readUserPage, walkUsers } from './list-pages.ts'
import { createDeletions, type KeyedCall, type TrashOption } from './deletions.ts'
import { doneOf, publishedTypes, type PublishUser, type ScopeOf, scopes, writeAlone } from './outcomes.ts'
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
  /** The option: users show their tenant, and only callers that are bound to one make users. Default false. */
  tenants?: boolean
  /** Absent or null: a deletion is final. */
  trash?: TrashOption | null
  /** Publishes a change, with the user after it. */
  publish: PublishUser
  /** Default: that of a mount without groups. */
  scopeOf?: ScopeOf
  /** The option: users can be in groups. Default false. */
  hasGroups?: boolean
  /** Makes what the storage records of a change. */
  makeEvent: MakeEvent
}

/** A call that reads users, and where: by default the primary. */
export interface UsersReadCall extends ReadCall {
  reads?: UserReads
}

/** A call that lists users. `group`: members of this group alone. */
export interface UsersListCall extends UsersReadCall {
  group?: Pick<GroupRecord, 'id' | 'tenant'>
}

/** A call that reads a user. `atLeast`: a version that the caller has seen. */
interface GetCall extends Pick<UsersReadCall, 'reads' | 'tenant'> {
  atLeast?: number | undefined
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
  const { repository, fields, pageSize, requireIfMatch, idempotencyTtl, publish, makeEvent, tenants = false } = options
  const { scopeOf = scopes(fields?.searchable?.wordsOf, null), hasGroups = false } = options
  const listed = fields?.schema ?? NO_FIELDS
  const checkListQuery = listQueryCheck(pageSize, listed, hasGroups)
  const checkWalkQuery = walkQueryCheck(listed, hasGroups)
  const isUser = async (id: string, tenant: string | undefined): Promise<boolean> =>
    isUserId(id) && await findIn(repository, id, tenant) !== null
  const requirePrecondition = preconditionCheck(isUser, requireIfMatch)
  const deletions = createDeletions({ ...options, scopeOf, trash: options.trash ?? null, requirePrecondition })
  const revert = createReversal({ ...options, scopeOf, requirePrecondition })

  /** What writes read, and who says nothing else, is what is stored now. */
  const primary: UserReads = repository.users

  /** For reads alone: where they are read. */
  async function readsFor (standby: boolean): Promise<UserReads> {
    return standby ? await repository.standbys?.reads() ?? primary : primary
  }

  async function get (id: string, { reads = primary, atLeast, tenant }: GetCall = {}): Promise<UserRecord> {
    const user = isUserId(id) ? await fromStorage(() => reads.find(id, atLeast)) : null
    if (user === null || !belongsTo(user, tenant)) throw userNotFound()
    return user
  }

  async function isActive (id: string, tenant?: string): Promise<boolean> {
    return isUserId(id) && (await fromStorage(() => findIn(repository, id, tenant)))?.status === 'active'
  }

  /** `ownerOf`: finds whose idempotency key it is; by default the actor's. */
  async function create (
    input: unknown,
    options: CreateOptions,
    call: KeyedCall = FROM_PROCESS
  ): Promise<Creation> {
    const { ownerOf, context, priorFaults, tenant } = call
    const { body, faults: ofTenant } = splitTenant(input, tenants, tenant)
    const checked = checkCreate(body, fields)
    throwFaults([...priorFaults, ...createOptionsFaults(options), ...ofTenant], checked)
    const { idempotencyKey } = options
    const { user, keys } = newUserOf(checked)
    const idempotency = idempotencyKey === undefined
      ? null
      : idempotencyOf(idempotencyKey, input, ownerOf === undefined ? context.actor : await ownerOf(), idempotencyTtl)
    const event = makeEvent('user.created', context)
    const write = { type: 'create', user, keys, event } as const
    const { outcome, replayed } = idempotency === null
      ? { outcome: await fromStorage(() => repository.users.writeOne(write, scopeOf(call))), replayed: false }
      : await writeAlone(repository, write, scopeOf(call), idempotency)
    const creation = { user: doneOf(outcome).user, replayed }
    if (!replayed) publish('user.created', creation.user, context, event)
    return creation
  }

  async function change (
    id: string,
    patch: unknown,
    options: WriteOptions,
    whole: boolean,
    call: Call = FROM_PROCESS
  ): Promise<UserRecord> {
    const { context, priorFaults, tenant } = call
    const checked = checkUpdate(patch, id, whole, fields, tenants)
    throwFaults([...priorFaults, ...writeOptionsFaults(options)], checked)
    if (!isUserId(id)) throw userNotFound()
    if (requireIfMatch) await requirePrecondition(id, options, tenant)
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
    }, scopeOf(call)))
    if (outcome.code === 'refused') throw validationFailed(refused)
    const { user, changed, types } = doneOf(outcome)
    if (!changed) return user
    for (const [type, recorded] of publishedTypes('user.updated', types, event)) publish(type, user, context, recorded)
    return user
  }

  async function list (
    query: Readonly<Record<string, unknown>>,
    { reads = primary, group, ...call }: UsersListCall = {}
  ): Promise<ListedPage<UserRecord>> {
    const asked = group === undefined ? query : { ...query, group: group.id }
    // All members of a tenant's group belong to the tenant, and are found without a look at it.
    const isOfGroup = group !== undefined && group.tenant === call.tenant
    const checked = checkListQuery(asked, isOfGroup ? { ...call, tenant: undefined } : call)
    return readUserPage(checked, (page) => fromStorage(() => reads.list(checked.filter, page)))
  }

  /** Users by a query without pages, and conditions that no parameter has, from any place of the list. */
  async function find (
    query: Readonly<Record<string, unknown>>, conditions: UserConditions,
    { limit, from }: { limit: number, from: { offset: number } | { after: string } }, call: ReadCall
  ): Promise<Page<UserRecord>> {
    const { filter, order, sort } = checkWalkQuery(query, call)
    const asked = { ...filter, ...conditions }
    const page = sort === undefined || 'after' in from ? { order, limit, from } : { order, limit, from, sort }
    return fromStorage(() => primary.list(asked, page))
  }

  async function * iterate (
    query: Readonly<Record<string, unknown>>,
    { reads = primary, ...call }: UsersReadCall = {}
  ): AsyncGenerator<UserRecord, void, undefined> {
    const checked = checkWalkQuery(query, call)
    yield * walkUsers(checked, pageSize.max, (page) => fromStorage(() => reads.list(checked.filter, page)))
  }

  /**
   * Checks the query, and returns the function that reads its users from one snapshot, in parts. The store waits while
   * nobody asks for the next part, and frees what it holds when the generator is left.
   */
  function snapshot (
    query: Readonly<Record<string, unknown>>,
    call: ReadCall = {}
  ): (reads?: UserReads) => AsyncGenerator<UserRecord[], void, undefined> {
    const checked = checkWalkQuery(query, call)
    const { order, filter, sort } = checked
    return (reads = primary) => partsOf((onPart) => fromStorage(() =>
      reads.walk(filter, order, asAsked(checked, onPart), sort)))
  }

  return { readsFor, get, isActive, create, change, ...deletions, revert, list, find, iterate, snapshot }
}
