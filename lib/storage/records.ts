/** The values that a storage takes and gives. `storage.ts` has the rules for them. */

import type { Json, JsonObject } from '../core/json.ts'
import type { PageRequest } from '../core/paging.ts'
import type { UserConditions } from './user-selection.ts'

export type { Json, JsonObject }
export type { Page, PageRequest } from '../core/paging.ts'
export type * from './user-selection.ts'
export type * from './webhook-records.ts'

/** Whether a user may be let in: what a host asks in its own sign-in. */
export type UserStatus = 'active' | 'suspended'

/** A user, as stored. */
export interface UserRecord {
  /** `usr_…`, made by the caller. Sorting ids byte by byte sorts users by creation. */
  id: string
  name: string
  /** As sent, trimmed. */
  email: string
  /** The host's own fields. The store keeps the order of members, and reads them only for a filter. At most 16 KiB. */
  fields: JsonObject
  status: UserStatus
  /** Why it has this status, for people: 1 to 200 code points. null: nobody has said. */
  statusReason: string | null
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
export interface UserChanges {
  name?: { value: string, key: string, words?: Words }
  email?: { value: string, key: string, words?: Words }
  /** All fields; they replace the ones before. */
  fields?: JsonObject
  /** The words of these fields, which replace those before. */
  fieldWords?: Words
  status?: UserStatus
  statusReason?: string | null
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

/** Who caused a change. */
export interface Actor {
  type: string
  id: string
  /** What it was called then; null: it had no name. */
  name: string | null
}

/** What a write records in the same step. The store adds whose it is, the record after it, and what was before. */
export interface NewEvent {
  /** `evt_…`, made by the caller. */
  id: string
  /** Such as `user.updated`. */
  type: string
  timestamp: string
  /** Who caused the change; null: the host, in process. */
  actor: Actor | null
  requestId: string | null
}

/** A recorded change. */
export interface EventRecord extends NewEvent {
  /** The id of the user or key that was changed; of a rotation, that of the successor. */
  subject: string
  /**
   * The `UserRecord`, or the `ApiKeyRecord` without `digest`, after the change; of a deletion the last state. Erased:
   * `name`, `email`, `statusReason` and each member of `fields` are null.
   */
  data: JsonObject
  /**
   * For a change of a user: the previous values of the members of `name`, `email`, `fields`, `status` and
   * `statusReason` that changed. After an erasure all but `status` are null.
   */
  before: JsonObject | null
  /** The tenant of the user, key or webhook. Absent: it belongs to none. */
  tenant?: string
}

/** Which recorded events are read. All that is asked for must hold. */
export interface EventsRequest {
  /** Those behind the event with this id, in the order that is asked for; null: from its beginning. */
  after: string | null
  /** At most this many. */
  limit: number
  /** Only those of these types, of which there may be none; null: all. */
  types: readonly string[] | null
  /** `asc`, the default: in the order of commits. `desc`: that order reversed, the newest first. */
  order?: 'asc' | 'desc'
  /** Only those of the user, key or webhook with this id. */
  subject?: string
  /** Only those of changes that an actor with this id made. */
  actor?: string
  /** Only those whose `timestamp` is this one or later: in UTC with milliseconds, as all are. */
  since?: string
  /** Only those whose `timestamp` is earlier than this one. */
  until?: string
  /** Only those of this tenant. */
  tenant?: string
}

/** What is left of the pruned events of one type. */
export interface PrunedEvents {
  type: string
  /** The id of the last one. */
  id: string
  /** The greatest id of all events, of any type, up to that one in the order of the log. */
  greatestId: string
}

/** A part of the event log, and whether more follows at this moment. */
export interface EventsPage {
  events: EventRecord[]
  more: boolean
  /**
   * The id of the last event that was passed: where more follows the last one of `events`, else the last one of the log
   * at this moment, of whatever type. In the order `desc` the last one of the log, on
   * the first page alone. null: there is none.
   */
  position: string | null
  /** In the order `desc`, of a `subject`: how many events are asked for, those on other pages too. */
  total?: number
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
