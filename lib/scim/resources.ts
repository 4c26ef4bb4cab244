// Resources and lists as they are answered.

import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { GroupRecord, UserRecord } from '../storage/storage.ts'
import { scimError } from './errors.ts'
import { type AttributeName, parsePath } from './filter.ts'
import type { Mapping } from './mapping.ts'
import { ENTERPRISE_KEY, ENTERPRISE_SCHEMA, GROUP_SCHEMA, USER_SCHEMA } from './schemas.ts'

/** Which attributes an answer has (RFC 7644 section 3.9): those, or all but those; null: all. */
export interface Selection { only: readonly AttributeName[] | null, without: readonly AttributeName[] }

const NAMES_MAX = 100
const ALWAYS = ['id', 'schemas', 'meta']
const CORE = [USER_SCHEMA.toLowerCase(), GROUP_SCHEMA.toLowerCase()]

function namesIn (text: unknown): AttributeName[] {
  const names = (Array.isArray(text) ? text : String(text).split(',')).map((each: unknown) => String(each).trim())
  if (names.length > NAMES_MAX) throw scimError('tooMany', `At most ${NAMES_MAX} attributes are named.`)
  return names.filter((name) => name !== '').map((name) => parsePath(name))
}

const isUnset = (value: unknown): boolean => value === undefined || value === null ||
  (Array.isArray(value) && value.length === 0)

/** @throws UsersError with `invalidPath` for what is no name of an attribute */
export const selectionOf = (attributes: unknown, excluded: unknown): Selection => ({
  only: isUnset(attributes) ? null : namesIn(attributes),
  without: isUnset(excluded) ? [] : namesIn(excluded)
})

/** True if an answer has an attribute, or a part of it. */
export function isSelected ({ only, without }: Selection, name: string): boolean {
  const isThis = (each: AttributeName): boolean => each.name === name.toLowerCase()
  if (only !== null) return only.some(isThis)
  return !without.some((each) => isThis(each) && each.sub === '')
}

function pick (value: Json, subs: readonly string[], isOnly: boolean): Json {
  if (Array.isArray(value)) return value.map((each: Json) => pick(each, subs, isOnly))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => subs.includes(name.toLowerCase()) === isOnly))
}

function selected (resource: JsonObject, selection: Selection, schemas: readonly string[]): JsonObject {
  const { only, without } = selection
  const isOf = (each: AttributeName): boolean => each.schema === '' || schemas.includes(each.schema)
  const kept: Array<[string, Json]> = []
  for (const [name, value] of Object.entries(resource)) {
    if (name === ENTERPRISE_SCHEMA && isObject(value)) {
      const isNamed = (only ?? without).some((each) => each.schema === ENTERPRISE_KEY && each.name === '')
      const own = isNamed ? only === null ? {} : value : selected(value, selection, [ENTERPRISE_KEY])
      if (Object.keys(own).length > 0) kept.push([name, own])
      continue
    }
    const isAlways = ALWAYS.includes(name) && (name !== 'meta' || only === null)
    const named = (only ?? without).filter((each) => each.name === name.toLowerCase() && isOf(each))
    const subs = named.map(({ sub }) => sub)
    if (isAlways && name !== 'meta') kept.push([name, value])
    else if (named.length === 0 ? only === null : only !== null && subs.includes('')) kept.push([name, value])
    else if (named.length > 0 && !subs.includes('')) kept.push([name, pick(value, subs, only !== null)])
  }
  return Object.fromEntries(kept)
}

/** An entity tag, which is also the version of a resource. */
export const tagOf = (version: number): string => `"${version}"`

function metaOf (
  resourceType: string, { createdAt, updatedAt, version }: UserRecord | GroupRecord, location: string
): JsonObject {
  return { resourceType, created: createdAt, lastModified: updatedAt, location, version: tagOf(version) }
}

/** Makes what shows users and groups. `base`: the path of the SCIM server, with its origin. */
export function createResources (mapping: Mapping) {
  return {
    user (user: UserRecord, selection: Selection, base: string): JsonObject {
      const { schemas = [], ...attributes } = mapping.toAttributes(user)
      const meta = metaOf('User', user, `${base}/Users/${user.id}`)
      return selected({ schemas, id: user.id, ...attributes, meta }, selection, CORE)
    },

    /** `members`: null, if they are not asked for. */
    group (group: GroupRecord, members: JsonObject[] | null, selection: Selection, base: string): JsonObject {
      return selected({
        schemas: [GROUP_SCHEMA],
        id: group.id,
        ...(group.externalId !== null && { externalId: group.externalId }),
        displayName: group.name,
        ...(members !== null && members.length > 0 && { members }),
        meta: metaOf('Group', group, `${base}/Groups/${group.id}`)
      }, selection, CORE)
    }
  }
}

export const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'

/** A list (RFC 7644 section 3.4.2). `startIndex`: absent with a cursor. */
export function listOf (
  resources: readonly JsonObject[], total: number,
  { startIndex, nextCursor }: { startIndex?: number, nextCursor?: string }
): JsonObject {
  return {
    schemas: [LIST_SCHEMA],
    totalResults: total,
    ...(startIndex !== undefined && { startIndex }),
    itemsPerPage: resources.length,
    ...(nextCursor !== undefined && { nextCursor }),
    Resources: resources
  }
}
