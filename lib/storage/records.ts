/** The values that a storage takes and gives. `storage.ts` has the rules for them. */

import type { Json, JsonObject } from '../core/json.ts'
import type { PageRequest } from '../core/paging.ts'
import type { NewEvent } from './event-records.ts'
import type { UserConditions } from './user-selection.ts'

export type { Json, JsonObject }
export type { Page, PageRequest } from '../core/paging.ts'
export type * from './event-records.ts'
export type * from './user-selection.ts'
export type * from './webhook-records.ts'

/** Whether a user may be let in: what a host asks in its own sign-in. */
export type UserStatus = 'active' | 'suspended'

/** The members of a user that are compared as they are: a new one needs a column, a check and a description. */
export interface UserMembers {
  status: UserStatus
  /** Why it has this status, for people: 1 to 200 code points. null: nobody has said. */
  statusReason: string | null
}

/** A user, as stored. */
export interface UserRecord extends UserMembers {
  /** `usr_…`, made by the caller. Sorting ids byte by byte sorts users by creation. */
  id: string
  name: string
  /** As sent, trimmed. */
  email: string
  /** The host's own fields. The store keeps the order of members, and reads them only for a filter. At most 16 KiB. */
  fields: JsonObject
  /** 1 for a new user, one more with every change. */
  version: number
  createdAt: string
  updatedAt: string
  /** The tenant that the user belongs to, which never changes once it is there. Absent: it belongs to none. */
  tenant?: string
}

/** The words of a member: at most 254, each once. {@link UserKeys} says what a word is. */
export type Words = readonly string[]

/**
 * The keys and words that a user is found by, computed by the caller: a store compares them byte by byte and folds no
 * case. A word has 1 to 64 code points: `a` to `z`, digits, and any that is not ASCII. Absent words are none.
 */
export interface UserKeys {
  /** Unique among the users of a tenant, and among those that belong to none. */
  emailKey: string
  /** 1 to 254 code points. */
  nameKey: string
  nameWords?: Words
  emailWords?: Words
  /** Those of the fields that the host has searched. */
  fieldWords?: Words
}

/** New values of a user; an absent member stays as it is. New values without words have none. */
export interface UserChanges extends Partial<UserMembers> {
  name?: { value: string, key: string, words?: Words }
  email?: { value: string, key: string, words?: Words }
  /** All fields; they replace the ones before. */
  fields?: JsonObject
  /** The words of these fields, which replace those before. */
  fieldWords?: Words
}

/** Which versions of a record a write may change. */
export interface VersionGuard {
  /** The version must be one of these. `null`: any version; an empty list: none. */
  ifVersion: readonly number[] | null
  /** The version must be none of these. */
  unlessVersion: readonly number[]
}

/** Which users a list has; `null` members do not filter. */
export interface UserFilter extends UserConditions {
  /** Exactly this e-mail key. */
  emailKey: string | null
  /** The words of a search: all words of one of these lists begin words of the user. No list is empty. */
  words: ReadonlyArray<Words> | null
  /** Each named field has this value, of this type; `{}` does not filter. `open` was asked for the names. */
  fields: Readonly<Record<string, string | number | boolean>>
  /** The user has this status. Absent: any. */
  status?: UserStatus
  /** The user belongs to this tenant. Absent: to any, or none. */
  tenant?: string
  /** The user is a member of the group with this id. Absent: of any, or none. */
  group?: string
}

/** A page of what one tenant has. Without `tenant` of everything. */
export interface TenantPageRequest extends PageRequest {
  tenant?: string
}

/** What a host needs of the schema beside the tables. */
export interface SchemaRequirements {
  /**
   * Names of fields that lists are filtered by. Each needs an index. Letters, digits and `_`, at most 63, and no digit
   * first.
   */
  filterable?: readonly string[]
  /**
   * Names of fields, of the same form, whose value at most one user of a tenant has, or of those that belong to none.
   * Any number of users may lack the field, or have null. Lists are filtered by them too.
   */
  unique?: readonly string[]
  /** What users are found by beside name and address. With another key `open` makes the words of all users anew. */
  searchable?: Searchable
}

/** The own fields that users are found by. The key is another one if the words of the same fields are others. */
export interface Searchable {
  /** At most 8,000 characters. */
  key: string
  wordsOf (fields: JsonObject): Words
}

/** Takes a part of what is read. The reader waits for it, and ends if it rejects. */
export type OnUsers = (users: UserRecord[]) => Promise<void>

/** At most `max` requests in `window` seconds. Both are whole numbers of at most 32 bits. */
export interface KeyRateLimit { max: number, window: number }

/** The record of an API key. It holds no secret: `digest` can't be reversed. */
export interface ApiKeyRecord {
  /** `key_…`, made by the caller, sortable by creation. */
  id: string
  name: string
  scopes: string[]
  /** The public beginning of the key's text (`uk_` and 12 characters), unique. Keys are looked up by it. */
  start: string
  digest: string
  createdAt: string
  expiresAt: string | null
  revokedAt: string | null
  lastUsedAt: string | null
  /** The id of the key that this one replaces. */
  rotatedFrom: string | null
  /** The moment of its latest rotation. */
  rotatedAt: string | null
  /** Lifetime in seconds that the key was created with; null: unlimited. Its successor gets the same. */
  lifetime: number | null
  /** The tenant that the key belongs to, which never changes. Absent: it belongs to none. */
  tenant?: string
  /** Who answers for the key, for people: 1 to 200 code points. It never changes. Absent: nobody is named. */
  owner?: string
  /**
   * The networks that the key works from, 1 to 100 in CIDR form: ASCII without spaces. A store that lost them would let
   * the key work from anywhere. They never change. Absent: from any.
   */
  addresses?: string[]
  /** The key's own limit of requests, which never changes. Absent: that of every key. */
  rateLimit?: KeyRateLimit
}

/** A group of users. */
export interface GroupRecord {
  /** `grp_…`, made by the caller, sortable by creation. */
  id: string
  /** 1 to 200 code points. */
  name: string
  /** What the name is compared by: 1 to 254 code points. Unique among the groups of a tenant, and those of none. */
  nameKey: string
  /** What another system calls it: 1 to 255 code points. null: nothing. */
  externalId: string | null
  /** How many members it has, as its writers keep it. */
  members: number
  /** 1 for a new group, one more with every change of it or of its members. */
  version: number
  createdAt: string
  updatedAt: string
  /** The tenant that the group belongs to, which never changes. Absent: it belongs to none. */
  tenant?: string
}

/** What a write has changed of the members of a group. `event`: what was recorded of it first. */
export interface GroupChange { group: GroupRecord, added: string[], removed: string[], event: NewEvent | null }

/** A user in a group. */
export interface MembershipRecord {
  /** The id of the group, `/`, and that of the user. */
  id: string
  /** 1: it never changes. */
  version: number
  /** The id of the user. */
  member: string
}

/** Identifies repetitions of a call that writes users. */
export interface Idempotency {
  /** Digest of the caller and its key: 43 characters of base64url. */
  key: string
  /** Digest of the request. The same key with another fingerprint is the caller's mistake. */
  fingerprint: string
  now: string
  /**
   * From this moment on the key is free again: a record counts while its `expiresAt` is later than the reader's `now`.
   */
  expiresAt: string
  /** Is kept with the outcomes. */
  note: Json
}

/** A tenant that has a user or a key. */
export interface TenantRecord {
  /** Its name: 1 to 64 of `a-z`, `0-9`, `_`, `-`, a letter or digit first. */
  id: string
  /** How many users it has. */
  users: number
}

/** How often an API key was used on a day. */
export interface DayUses {
  /** In UTC: `2026-01-31`. */
  day: string
  /** 1 or more, a safe integer. */
  uses: number
}
