// Groups as SCIM has them, on the service of groups alone.

import type { Call } from '../core/context.ts'
import { UsersError } from '../core/errors.ts'
import { isUserId } from '../core/ids.ts'
import { isObject, type JsonObject } from '../core/json.ts'
import type { GroupsService } from '../groups/service.ts'
import type { MembersAsked } from '../storage/group-loop.ts'
import type { GroupRecord, Page } from '../storage/storage.ts'
import type { WriteOptions } from '../users/write-options.ts'
import { scimError } from './errors.ts'
import { conjuncts, type FilterValue, namedValues, parseFilter } from './filter.ts'
import { type Change, member, readChanges } from './patch.ts'
import type { ScimPage, ScimSort } from './users.ts'

const ID_SHOWN = 100

/** What a client asks of a group. */
interface Asked { name?: unknown, externalId?: unknown, add: Set<string>, remove: Set<string>, all: Set<string> | null }

/** The ids in a list of members. */
function idsIn (value: unknown): string[] {
  return [value].flat().filter((each) => each !== undefined && each !== null).map((each: unknown) => {
    const id = isObject(each) ? member(each, 'value') : each
    if (typeof id !== 'string') throw scimError('invalidValue', 'A member must have a value, the id of a user.')
    return id
  })
}

function join (asked: Asked, ids: readonly string[]): void {
  for (const id of ids) {
    asked.all?.add(id)
    asked.add.add(id)
    asked.remove.delete(id)
  }
}

function leave (asked: Asked, ids: readonly string[]): void {
  for (const id of ids) {
    asked.all?.delete(id)
    asked.add.delete(id)
    asked.remove.add(id)
  }
}

function replaceAll (asked: Asked, ids: readonly string[]): void {
  asked.all = new Set(ids)
  asked.add.clear()
  asked.remove.clear()
}

/** Takes over a value of a group by its name. Others have no place. */
function assign (asked: Asked, name: string, value: unknown, isAdded: boolean): void {
  if (name === 'displayname') asked.name = value
  else if (name === 'externalid') asked.externalId = value
  else if (name === 'members') isAdded ? join(asked, idsIn(value)) : replaceAll(asked, idsIn(value))
}

function apply (asked: Asked, { op, path, value }: Change): void {
  if (path === null) {
    for (const [key, each] of Object.entries(Object(value))) assign(asked, key.toLowerCase(), each, op === 'add')
    return
  }
  const { name, sub, filter } = path
  const named = filter === null ? null : namedValues(filter, (each) => each.name === 'value')
  if (filter !== null && (named === null || name !== 'members')) {
    throw scimError('invalidPath', 'Only members have a filter, which is value eq "…".')
  }
  if (name === 'members' && (sub !== '' || (named !== null && op === 'replace'))) {
    throw scimError('mutability', 'What a member is never changes: members are added and removed.')
  }
  const ids = (named ?? []).filter((each) => typeof each === 'string')
  if (op !== 'remove') {
    if (named !== null) join(asked, ids)
    else assign(asked, name, value, op === 'add')
  } else if (name === 'displayname') {
    throw scimError('mutability', 'displayName is required.')
  } else if (name === 'externalid') {
    asked.externalId = null
  } else if (name === 'members') {
    if (named !== null) leave(asked, ids)
    else if (value === undefined || value === null) replaceAll(asked, [])
    else leave(asked, idsIn(value))
  }
}

const nothing = (): Asked => ({ add: new Set(), remove: new Set(), all: null })

const membersOf = ({ add, remove, all }: Asked): MembersAsked | undefined => all !== null
  ? { all: [...all] }
  : add.size + remove.size === 0 ? undefined : { add: [...add], remove: [...remove] }

const bodyOf = ({ name, externalId }: Asked): object =>
  ({ ...(name !== undefined && { name }), ...(externalId !== undefined && { externalId }) })

function askedIn (resource: unknown): Asked {
  if (!isObject(resource)) throw scimError('invalidSyntax', 'The body must be an object.')
  const asked = nothing()
  for (const [key, value] of Object.entries(resource)) assign(asked, key.toLowerCase(), value, false)
  return asked
}

/** Makes a change of members. One who is no user is named by the id, since clients have no list of ours. */
async function naming<Made> (ids: readonly string[] | undefined, change: Promise<Made>): Promise<Made> {
  try {
    return await change
  } catch (error) {
    const [, at] = /^\/add\/(\d+)$/.exec(error instanceof UsersError ? error.errors?.[0]?.pointer ?? '' : '') ?? []
    const id = at === undefined ? undefined : ids?.[Number(at)]
    if (id === undefined) throw error
    throw scimError('invalidValue', `members has ${JSON.stringify(id.slice(0, ID_SHOWN))}, which is no id of a user.`)
  }
}

export type ScimGroups = ReturnType<typeof createScimGroups>

const unserved = () => scimError('invalidFilter', 'This server finds groups by eq with id, displayName, externalId ' +
  'and members, joined by and.')

/** Makes what SCIM does with groups. */
export function createScimGroups (groups: GroupsService) {
  /** Groups that a filter names, which are few, or a page of all of them. */
  async function list (
    filter: string | undefined, page: ScimPage, sort: ScimSort | null, call: Call
  ): Promise<Page<GroupRecord>> {
    const byName = sort?.attribute.name === 'displayname'
    const order = sort?.descending === true ? 'desc' : 'asc'
    if (filter === undefined) return groups.find({}, { ...page, order }, call, byName)
    const wanted = new Map<string, FilterValue>()
    for (const part of conjuncts(parseFilter(filter))) {
      const of = part.op === 'has' ? part.of[0] : part
      if (!('attribute' in part) || of.op !== 'eq') throw unserved()
      const { name } = part.attribute
      if (part.op === 'has' && of.attribute.name !== 'value') throw unserved()
      if (!['id', 'displayname', 'externalid', 'members'].includes(name)) throw unserved()
      if (wanted.has(name) && wanted.get(name) !== of.value) return { items: [], total: 0 }
      wanted.set(name, of.value)
    }
    const { id, displayname, externalid, members } = Object.fromEntries(wanted)
    return groups.find({
      ...(id !== undefined && { id: String(id) }),
      ...(displayname !== undefined && { name: String(displayname) }),
      ...(externalid !== undefined && { externalId: String(externalid) }),
      ...(members !== undefined && { user: String(members) })
    }, { ...page, order }, call, byName)
  }

  return {
    list,
    get: (id: string, call: Call): Promise<GroupRecord> => groups.get(id, call.tenant),
    members: groups.memberIds,

    async create (resource: unknown, call: Call): Promise<GroupRecord> {
      const asked = askedIn(resource)
      const ids = [...asked.all ?? []]
      const { group } = await naming(ids, groups.create(bodyOf(asked), call, ids))
      return group
    },

    replace (id: string, resource: unknown, options: WriteOptions, call: Call): Promise<GroupRecord> {
      const asked = askedIn(resource)
      if (asked.name === undefined) throw scimError('invalidValue', 'displayName is required.')
      const all = [...asked.all ?? []]
      return naming(all, groups.change(id, { externalId: null, ...bodyOf(asked) }, { all }, options, call))
    },

    patch (id: string, body: unknown, options: WriteOptions, call: Call): Promise<GroupRecord> {
      const asked = nothing()
      for (const change of readChanges(body)) apply(asked, change)
      const members = membersOf(asked)
      return naming(members?.all ?? members?.add, groups.change(id, bodyOf(asked), members, options, call))
    },

    remove: (id: string, options: WriteOptions, call: Call): Promise<void> => groups.remove(id, options, call)
  }
}

/** The members of a group as they are shown. Ids that are no users of ours can't be. */
export const shownMembers = (ids: readonly string[], users: string): JsonObject[] =>
  ids.filter(isUserId).map((value) => ({ value, type: 'User', $ref: `${users}/${value}` }))
