// The operations of SCIM without HTTP: what a client asks for as parameters, and what it is answered.

import type { Call } from '../core/context.ts'
import { UsersError } from '../core/errors.ts'
import { isGroupId, isUserId } from '../core/ids.ts'
import { isObject, type JsonObject } from '../core/json.ts'
import type { GroupRecord, Page, UserRecord } from '../storage/storage.ts'
import { type BulkParts, runBulk } from './bulk.ts'
import { COUNT_MAX, COUNT_USUAL } from './discovery.ts'
import { scimError } from './errors.ts'
import { parsePath } from './filter.ts'
import { type ScimGroups, shownMembers } from './groups.ts'
import type { Mapping } from './mapping.ts'
import { createResources, isSelected, listOf, type Selection, selectionOf } from './resources.ts'
import type { Answered, Query, ScimType } from './types.ts'
import type { ScimPage, ScimSort, ScimUsers } from './users.ts'

const MEMBERS_READ = 5

function wholeIn (value: unknown, name: string, usual: number): number {
  if (value === undefined || value === null) return usual
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number
  throw scimError('invalidValue', `${name} must be a whole number.`)
}

const cursorOf = (id: string): string => Buffer.from(`after:${id}`).toString('base64url')

function afterIn (cursor: string, isId: (text: string) => boolean): string {
  const text = Buffer.from(cursor, 'base64url').toString()
  const id = text.slice('after:'.length)
  if (text === `after:${id}` && isId(id)) return id
  throw scimError('invalidCursor', 'This is no cursor of this list.')
}

interface Asked { filter: string | undefined, page: ScimPage, sort: ScimSort | null, startIndex: number | null }

/** Where a list begins, and what it is sorted by (RFC 7644 section 3.4.2, RFC 9865). `isId`: what it is a list of. */
function askedIn (
  { filter, startIndex, count, cursor, sortBy, sortOrder }: Query, isId: (text: string) => boolean
): Asked {
  const limit = Math.min(Math.max(wholeIn(count, 'count', COUNT_USUAL), 0), COUNT_MAX)
  const first = Math.max(wholeIn(startIndex, 'startIndex', 1), 1)
  const sort = typeof sortBy === 'string' && sortBy !== ''
    ? { attribute: parsePath(sortBy), descending: String(sortOrder).toLowerCase() === 'descending' }
    : null
  if (cursor !== undefined && cursor !== null && (sort !== null || startIndex !== undefined)) {
    throw scimError('invalidValue', 'A cursor goes with neither startIndex nor sortBy.')
  }
  const text = filter === undefined || filter === null || filter === '' ? undefined : String(filter)
  if (cursor === undefined || cursor === null) {
    return { filter: text, sort, page: { limit, from: { offset: first - 1 } }, startIndex: first }
  }
  const from = cursor === '' ? { offset: 0 } : { after: afterIn(String(cursor), isId) }
  // One more shows whether more follow.
  return { filter: text, sort, page: { limit: limit + 1, from }, startIndex: null }
}

/** The resources of a page, as a list. `show`: null, if there is no such resource any more. */
async function shownList<Item extends { id: string }> (
  { items, total }: Page<Item>, { page, startIndex }: Asked, show: (item: Item) => Promise<JsonObject | null>
): Promise<JsonObject> {
  const own = startIndex === null ? items.slice(0, page.limit - 1) : items
  const resources: JsonObject[] = []
  for (const item of own) {
    const resource = await show(item)
    if (resource !== null) resources.push(resource)
  }
  const left = total - (own.length - resources.length)
  if (startIndex !== null) return listOf(resources, left, { startIndex })
  const last = items.length > own.length ? own.at(-1) : undefined
  return listOf(resources, left, last === undefined ? {} : { nextCursor: cursorOf(last.id) })
}

export type ScimServer = ReturnType<typeof createScimServer>

/** Makes the operations of a SCIM server. `groups`: null, if the mount has none. */
export function createScimServer (mapping: Mapping, users: ScimUsers, groups: ScimGroups | null) {
  const resources = createResources(mapping)
  const chosen = ({ attributes, excludedAttributes }: Query): Selection => selectionOf(attributes, excludedAttributes)

  const showUser = (user: UserRecord, query: Query, base: string): Answered => ({
    value: resources.user(user, chosen(query), base), version: user.version, location: `${base}/Users/${user.id}`
  })

  const ofUsers: ScimType = {
    async list (query, base, call) {
      const selection = chosen(query)
      const asked = askedIn(query, isUserId)
      const page = await users.list(asked.filter, asked.page, asked.sort, call)
      return shownList(page, asked, async (user) => resources.user(user, selection, base))
    },
    get: async (id, query, base, call) => showUser(await users.get(id, call), query, base),
    create: async (resource, query, base, call) => showUser(await users.create(resource, call), query, base),
    replace: async (id, resource, query, options, base, call) =>
      showUser(await users.replace(id, resource, options, call), query, base),
    patch: async (id, body, query, options, base, call) =>
      showUser(await users.patch(id, body, options, call), query, base),
    remove: users.remove
  }

  function groupsOf (own: ScimGroups): ScimType {
    /** A group with the members that it has in this version. */
    async function showGroup (group: GroupRecord, query: Query, base: string, call: Call): Promise<Answered> {
      const selection = chosen(query)
      let shown = group
      let members: string[] | null = null
      for (let attempt = 0; isSelected(selection, 'members') && attempt < MEMBERS_READ; attempt++) {
        const version = shown.version
        members = await own.members(group.id)
        shown = await own.get(group.id, call)
        if (shown.version === version) break
      }
      const list = members && shownMembers(members, `${base}/Users`)
      return {
        value: resources.group(shown, list, selection, base),
        version: shown.version,
        location: `${base}/Groups/${group.id}`
      }
    }
    return {
      async list (query, base, call) {
        const asked = askedIn(query, isGroupId)
        const page = await own.list(asked.filter, asked.page, asked.sort, call)
        return shownList(page, asked, async (group) => {
          try {
            return (await showGroup(group, query, base, call)).value
          } catch (error) {
            if (error instanceof UsersError && error.code === 'group_not_found') return null
            throw error
          }
        })
      },
      get: async (id, query, base, call) => showGroup(await own.get(id, call), query, base, call),
      create: async (resource, query, base, call) => showGroup(await own.create(resource, call), query, base, call),
      replace: async (id, resource, query, options, base, call) =>
        showGroup(await own.replace(id, resource, options, call), query, base, call),
      async patch (id, body, query, options, base, call) {
        const group = await own.patch(id, body, options, call)
        // A change of one member need not answer all of them (RFC 7644 section 3.5.2).
        if (query['attributes'] !== undefined) return showGroup(group, query, base, call)
        return { value: null, version: group.version, location: `${base}/Groups/${id}` }
      },
      remove: own.remove
    }
  }

  const ofGroups = groups === null ? ofUsers : groupsOf(groups)
  const of = (type: 'User' | 'Group'): ScimType => type === 'User' ? ofUsers : ofGroups

  /** Searches all types of resources (RFC 7644 section 3.4.2.1). A type without the attributes has nobody. */
  async function search (query: Query, base: string, call: Call): Promise<JsonObject> {
    const { page: { limit }, startIndex } = askedIn(query, isUserId)
    if (startIndex === null) throw scimError('invalidValue', 'A search of all types of resources has no cursors.')
    const found: JsonObject[] = []
    const refused: unknown[] = []
    let total = 0
    const types = groups === null ? [ofUsers] : [ofUsers, ofGroups]
    for (const type of types) {
      const from = { startIndex: Math.max(startIndex - total, 1), count: limit - found.length }
      try {
        const { totalResults, Resources: resources } = await type.list({ ...query, ...from }, base, call)
        total += Number(totalResults)
        found.push(...Object(resources))
      } catch (error) {
        if (!(error instanceof UsersError) || error.code !== 'validation_failed') throw error
        refused.push(error)
      }
    }
    if (refused.length === types.length) throw refused[0]
    return listOf(found, total, { startIndex })
  }

  return {
    mapping,
    of,
    search,
    listed: (all: readonly JsonObject[]): JsonObject => listOf(all, all.length, { startIndex: 1 }),
    bulk: (body: unknown, admit: BulkParts['admit'], base: string, call: Call): Promise<JsonObject> =>
      runBulk(isObject(body) ? body : {}, {
        types: { Users: ofUsers, ...groups !== null && { Groups: ofGroups } }, admit, base, call
      })
  }
}
