import { type Claim, unclaimed } from '../core/claim.ts'
import { type Call, FROM_PROCESS as CALL_FROM_PROCESS, type ReadCall } from '../core/context.ts'
import { UsersError } from '../core/errors.ts'
import { isGroupId, isUserId, newId } from '../core/ids.ts'
import { type ListedPage, type PageSize, readPage } from '../core/paging.ts'
import { searchKey } from '../core/search-key.ts'
import { splitTenant } from '../core/tenant.ts'
import type { GroupOutcome, GroupWrite, MembersAsked } from '../storage/group-loop.ts'
import type { MakeEvent } from '../storage/recorded-events.ts'
import type { Repository } from '../storage/repository.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { GroupChange, GroupRecord, NewEvent, Page, PageRequest } from '../storage/storage.ts'
import type { Context } from '../core/context.ts'
import { throwFaults, findIn, userNotFound } from '../users/write-checks.ts'
import { guardOf, type WriteOptions, writeOptionsFaults } from '../users/write-options.ts'
import { type GroupData, type GroupEventType, toGroup } from '../storage/group.ts'
import { checkGroupInput, checkGroupPatch, checkMembers, groupQueryChecks, unknownMembers } from './rules.ts'

/** What is told of a change. */
export type ToldGroup = { [Type in GroupEventType]: { type: Type, data: GroupData[Type] } }[GroupEventType]

/** Publishes a change, with the group after it. */
export type PublishGroup = (told: ToldGroup, context: Context, recorded: NewEvent | null) => void

export interface GroupsServiceOptions {
  repository: Repository
  pageSize: PageSize
  requireIfMatch: boolean
  /** The option: only callers that are bound to a tenant make groups. */
  tenants: boolean
  publish: PublishGroup
  makeEvent: MakeEvent
}

/** Where a call comes from. `claim`: claims its `Idempotency-Key`. */
export interface GroupCall extends Call { claim?: Claim }

export const FROM_PROCESS: GroupCall = CALL_FROM_PROCESS

type Query = Readonly<Record<string, unknown>>

const START = { offset: 0 } as const

const notFound = (): UsersError => new UsersError('group_not_found')

/** Publishes a change of members. */
export function publishMembers (publish: PublishGroup, change: GroupChange, context: Context): void {
  const { group, added, removed, event } = change
  publish({ type: 'group.members_changed', data: { ...toGroup(group), added, removed } }, context, event)
}

export type GroupsService = ReturnType<typeof createGroupsService>

/** The operations on groups, without HTTP. They take unchecked input and throw only UsersError. */
export function createGroupsService (options: GroupsServiceOptions) {
  const { repository, pageSize, requireIfMatch, tenants, publish, makeEvent } = options
  const { groups } = repository
  const check = groupQueryChecks(pageSize)

  async function find (id: string, tenant?: string): Promise<GroupRecord> {
    const record = isGroupId(id) ? await fromStorage(() => groups.find(id, tenant)) : null
    if (record === null) throw notFound()
    return record
  }

  function doneOf (outcome: GroupOutcome, add: readonly string[]): GroupOutcome & { code: 'done' } {
    switch (outcome.code) {
      case 'done': return outcome
      case 'not_found': throw notFound()
      case 'version_mismatch': throw new UsersError('precondition_failed')
      case 'members_unknown': throw unknownMembers(add, outcome.ids)
      case 'name_taken':
        throw new UsersError('name_taken', { errors: [{ pointer: '/name', code: 'taken', detail: 'must be unique' }] })
    }
  }

  async function write (
    write: GroupWrite, type: Exclude<GroupEventType, 'group.members_changed'>, { context }: Call,
    add: readonly string[] = []
  ): Promise<GroupRecord> {
    const outcome = doneOf(await fromStorage(() => groups.write(write)), add)
    if (outcome.isChanged) publish({ type, data: toGroup(outcome.group) }, context, write.event)
    if (outcome.members !== null) publishMembers(publish, outcome.members, context)
    return outcome.group
  }

  async function requireMatch (id: string, { ifMatch }: WriteOptions, tenant: string | undefined): Promise<void> {
    if (!requireIfMatch || ifMatch !== undefined) return
    await find(id, tenant)
    throw new UsersError('precondition_required')
  }

  /** Changes a group and its members in one step. `members`: who is asked for. */
  async function change (
    id: string, input: unknown, members: MembersAsked | undefined, options: WriteOptions, call: Call
  ): Promise<GroupRecord> {
    const changes = checkGroupPatch(input, [...call.priorFaults, ...writeOptionsFaults(options)])
    if (!isGroupId(id)) throw notFound()
    await requireMatch(id, options, call.tenant)
    return write({
      type: 'update',
      id,
      changes: { ...changes, ...(members !== undefined && { members }) },
      updatedAt: new Date().toISOString(),
      guard: guardOf(options),
      event: makeEvent('group.updated', call.context),
      tenant: call.tenant
    }, 'group.updated', call, members?.all ?? members?.add)
  }

  async function changeMembers (id: string, members: MembersAsked, call: Call): Promise<GroupRecord> {
    if (!isGroupId(id)) throw notFound()
    return write({
      type: 'update',
      id,
      changes: { members },
      updatedAt: new Date().toISOString(),
      guard: { ifVersion: null, unlessVersion: [] },
      event: makeEvent('group.updated', call.context),
      tenant: call.tenant
    }, 'group.updated', call, members.add)
  }

  /** Groups by what names them: few are found by an id or a user, and any page of the others. */
  async function findGroups (
    { id, user, name, externalId }: { id?: string, user?: string, name?: string, externalId?: string },
    page: PageRequest, { tenant }: Pick<Call, 'tenant'>, byName: boolean
  ): Promise<Page<GroupRecord>> {
    if (id !== undefined) {
      const group = isGroupId(id) ? await groups.find(id, tenant) : null
      const isFound = group !== null && (name === undefined || group.nameKey === searchKey(name)) &&
        (externalId === undefined || group.externalId === externalId) &&
        (user === undefined || await groups.has(id, user))
      const isOnPage = 'after' in page.from ? id > page.from.after : page.from.offset === 0
      return { items: isFound && isOnPage && page.limit > 0 ? [group] : [], total: isFound ? 1 : 0 }
    }
    if (user !== undefined) {
      // More conditions are of one group of the tenant, which is found by its name.
      if (name === undefined && externalId === undefined) {
        const isThere = isUserId(user) && await findIn(repository, user, tenant) !== null
        return isThere ? groups.ofUser(user, page) : { items: [], total: 0 }
      }
      const { items: [first] } = await groups.list({ ...named(name, externalId), tenant }, { ...page, from: START })
      return first === undefined
        ? { items: [], total: 0 }
        : findGroups({ id: first.id, user, ...(externalId !== undefined && { externalId }) }, page, { tenant }, byName)
    }
    const found = await groups.list({ ...named(name, externalId), tenant }, page, byName)
    if (name === undefined || externalId === undefined) return found
    const items = found.items.filter((group) => group.externalId === externalId)
    return { items, total: items.length }
  }

  const named = (name: string | undefined, externalId: string | undefined) => name !== undefined
    ? { nameKey: searchKey(name.trim().normalize('NFC')) }
    : externalId === undefined ? {} : { externalId }

  return {
    get: find,

    /** As `findGroups`, for a caller that has checked what it asks for. */
    find: (...asked: Parameters<typeof findGroups>): Promise<Page<GroupRecord>> =>
      fromStorage(() => findGroups(...asked)),

    /** The ids of all members of a group. */
    memberIds: (id: string): Promise<string[]> => fromStorage(() => groups.memberIds(id)),

    async create (
      input: unknown, call: GroupCall = FROM_PROCESS, members: readonly string[] = []
    ): Promise<{ group: GroupRecord, isFirst: boolean }> {
      const { context, priorFaults, tenant, claim = unclaimed } = call
      const { body, faults } = splitTenant(input, tenants, tenant)
      const { name, externalId } = checkGroupInput(body, [...priorFaults, ...faults])
      const { note: id, isFirst } = await claim(['group', input], newId('grp'))
      const known = isFirst ? null : await fromStorage(() => groups.find(id, tenant))
      if (known !== null) return { group: known, isFirst: false }
      const now = new Date().toISOString()
      const group: GroupRecord = {
        id,
        name: name.value,
        nameKey: name.key,
        externalId,
        members: 0,
        version: 1,
        createdAt: now,
        updatedAt: now,
        ...(tenant !== undefined && { tenant })
      }
      const event = makeEvent('group.created', context)
      return { group: await write({ type: 'create', group, members, event }, 'group.created', call, members), isFirst }
    },

    async list (query: Query, { priorFaults = [], tenant }: ReadCall = {}): Promise<ListedPage<GroupRecord>> {
      const checked = check.list(query, priorFaults)
      const filter = { ...checked.filter, tenant }
      const listed = await readPage(checked, (page) => fromStorage(() => groups.list(filter, page, checked.byName)))
      const { limit, start } = checked
      return checked.byName ? { ...listed, query: { limit, start } } : listed
    },

    change,

    async remove (id: string, options: WriteOptions, call: Call = FROM_PROCESS): Promise<void> {
      const { context, priorFaults, tenant } = call
      throwFaults([...priorFaults, ...writeOptionsFaults(options)], {})
      if (!isGroupId(id)) throw notFound()
      await requireMatch(id, options, tenant)
      const event = makeEvent('group.deleted', context)
      await write({ type: 'delete', id, guard: guardOf(options), event, tenant }, 'group.deleted', call)
    },

    /** Adds a user, or removes one. It may be so already. */
    async setMember (id: string, user: string, isMember: boolean, call: Call = FROM_PROCESS): Promise<void> {
      throwFaults(call.priorFaults, {})
      const known = isUserId(user) ? user : null
      await find(id, call.tenant)
      if (known === null) throw userNotFound()
      try {
        await changeMembers(id, isMember ? { add: [known] } : { remove: [known] }, call)
      } catch (error) {
        throw error instanceof UsersError && error.code === 'validation_failed' ? userNotFound() : error
      }
    },

    async changeMembers (id: string, input: unknown, call: Call = FROM_PROCESS): Promise<GroupRecord> {
      return changeMembers(id, checkMembers(input, call.priorFaults), call)
    },

    /** The groups of a user, of the caller's tenant alone. */
    async ofUser (
      user: string, query: Query, { priorFaults = [], tenant }: ReadCall = {}
    ): Promise<ListedPage<GroupRecord>> {
      const paging = check.ofUser(query, priorFaults)
      if (!isUserId(user) || await fromStorage(() => findIn(repository, user, tenant)) === null) throw userNotFound()
      return readPage(paging, (page) => fromStorage(() => groups.ofUser(user, page)))
    }
  }
}
