// What a write of a user means, for every store: from the rows that it meets to the rows that it leaves.

import {
  deletionBefore, erased, LIVE_PURGE, purgeEvent, updateEvents, updateTypes, userEvent, withoutActorName
} from './recorded-events.ts'
import { type Groups, joining, leaving, type MemberChange } from './group-members.ts'
import type { Keys, Rewrite, Row, RowWrite } from './storage.ts'
import { StorageError } from './storage-error.ts'
import { accepts, belongsTo, changedKeys } from './storage-rules.ts'
import type { EventRecord, NewEvent, UserChanges, UserKeys, UserRecord } from './records.ts'
import { copyOfUser } from './user-members.ts'
import type { UserWrite, WordsOf, WriteOutcome } from './user-writes.ts'

/** The rows of a user that a write meets. */
export interface UserRows {
  user: Row<'users'> | null
  /** The one that is put away. */
  away: Row<'trash'> | null
  /** The memberships of the user. */
  memberships?: ReadonlyArray<Row<'memberships'>>
  /** The groups of these, and of who is put away, as far as they are there. */
  groups?: Groups
}

/** What a write makes of the rows. */
export interface UserDecision {
  outcome: WriteOutcome
  writes: RowWrite[]
  events: EventRecord[]
  rewrites: Rewrite[]
  /** Who joins and leaves groups by it. */
  members?: MemberChange[]
}

type Of<Type extends UserWrite['type']> = UserWrite & { type: Type }

const later = (a: string, b: string): string => a < b ? b : a

function refused (outcome: WriteOutcome): UserDecision {
  return { outcome, writes: [], events: [], rewrites: [] }
}

const NOT_FOUND = { code: 'not_found' } as const
const OTHER_VERSION = { code: 'version_mismatch' } as const

/** All keys and words of a user. */
function allKeys (keys: UserKeys): Keys {
  const { nameKey, emailKey, nameWords = [], emailWords = [], fieldWords = [] } = keys
  return { nameKey, emailKey, nameWords, emailWords, fieldWords }
}

const recorded = (event: NewEvent | null, user: UserRecord): EventRecord[] =>
  event === null ? [] : [userEvent(event, user)]

/** Takes the values of a user out of its events, and its name out of those of changes that it made. */
export function erasure (id: string, isMeant: (event: EventRecord) => boolean): Rewrite[] {
  return [
    { of: { subject: id }, make: (event) => isMeant(event) ? erased(event) : event },
    { of: { actor: id }, make: (event) => event.subject !== id && isMeant(event) ? withoutActorName(event) : event }
  ]
}

const erasureOf = (erase: boolean, { id, tenant }: UserRecord): Rewrite[] =>
  erase ? erasure(id, (event) => event.tenant === tenant) : []

function create (
  { user, keys, event, joins }: Of<'create'>, { user: there, groups }: UserRows, wordsOf: WordsOf | undefined
): UserDecision {
  if (there !== null) {
    // An import gives the ids of another system, and every id is unique: a fault of the row, not of the store.
    if (!belongsTo(there.record, user.tenant)) return refused({ code: 'field_taken', field: 'id' })
    throw new StorageError('fault', 'another user has the id')
  }
  const all = allKeys(wordsOf === undefined ? keys : { ...keys, fieldWords: wordsOf(user.fields) })
  const joined = joining(user, joins, groups)
  return {
    outcome: { code: 'done', changed: true, user },
    writes: [{ in: 'users', put: { record: user, keys: all, of: null }, was: null }, ...joined.writes],
    events: recorded(event, user),
    rewrites: [],
    members: joined.members
  }
}

/** The user after changes; null: every given value is stored already. */
function changed (before: UserRecord, changes: UserChanges, updatedAt: string): UserRecord | null {
  const { name, email, fields, fieldWords: _, ...members } = changes
  const keepsFields = fields === undefined || JSON.stringify(fields) === JSON.stringify(before.fields)
  const others = Object.entries(members).filter(([, value]) => value !== undefined)
  const isSame = keepsFields && (name?.value ?? before.name) === before.name &&
    (email?.value ?? before.email) === before.email &&
    others.every(([member, value]) => value === Reflect.get(before, member))
  if (isSame) return null
  const user = copyOfUser(before, keepsFields ? before.fields : fields)
  if (name !== undefined) user.name = name.value
  if (email !== undefined) user.email = email.value
  user.version++
  // The clock of the writer before may be ahead.
  user.updatedAt = later(updatedAt, before.updatedAt)
  return others.length === 0 ? user : Object.assign(user, Object.fromEntries(others))
}

function update (
  { changes, updatedAt, guard, event, joins, tenant }: Of<'update'>,
  { user: was, memberships, groups }: UserRows,
  wordsOf: WordsOf | undefined
): UserDecision {
  if (was === null || !belongsTo(was.record, tenant)) return refused(NOT_FOUND)
  const { record: before, keys } = was
  if (!accepts(guard, before)) return refused(OTHER_VERSION)
  // A copy: it may be changed by who decides.
  const asked = typeof changes === 'function' ? changes(copyOfUser(before)) : changes
  if ('refused' in asked) return refused({ code: 'refused', reason: asked.refused })
  const user = changed(before, asked, updatedAt)
  const joined = joining(before, joins, groups, memberships)
  if (user === null) {
    return { outcome: { code: 'done', changed: false, user: before }, ...joined, events: [], rewrites: [] }
  }
  const words = asked.fields === undefined ? undefined : wordsOf?.(asked.fields)
  const keysAfter = changedKeys(keys, words === undefined ? asked : { ...asked, fieldWords: words })
  return {
    outcome: {
      code: 'done',
      changed: true,
      user,
      ...(user.status !== before.status && { types: updateTypes(before, user) })
    },
    writes: [{ in: 'users', put: { record: user, keys: keysAfter, of: null }, was }, ...joined.writes],
    events: event === null ? [] : updateEvents(event, before, user),
    rewrites: [],
    members: joined.members
  }
}

function remove (write: Of<'delete'>, { user: was, away, memberships }: UserRows): UserDecision {
  const { guard, event, erase, putAway, tenant } = write
  if (was === null || !belongsTo(was.record, tenant)) return refused(NOT_FOUND)
  const { record: user, keys } = was
  if (!accepts(guard, user)) return refused(OTHER_VERSION)
  const { writes, members } = leaving(memberships)
  const groups = members.map(({ group }) => group)
  const kept = putAway === undefined ? [] : [{ ...user, ...putAway, ...(groups.length > 0 && { groups }) }]
  return {
    outcome: { code: 'done', changed: true, user },
    // At every moment the user is somewhere, also for triggers of the host's.
    writes: [
      ...kept.map((record) => ({ in: 'trash', put: { record, keys, of: null }, was: away } as const)),
      ...writes,
      { in: 'users', put: null, was }
    ],
    events: recorded(event, user),
    rewrites: erasureOf(erase, user),
    members
  }
}

/** The user of a row in the trash. */
export function userIn ({ record: { deletedAt, deletedBy, groups, ...user } }: Row<'trash'>): UserRecord {
  return user
}

function restore (
  { updatedAt, guard, event, tenant }: Of<'restore'>, { user: there, away, groups }: UserRows
): UserDecision {
  if (away === null || !belongsTo(away.record, tenant)) return refused(NOT_FOUND)
  if (!accepts(guard, away.record)) return refused(OTHER_VERSION)
  if (there !== null) return refused({ code: 'field_taken', field: 'id' })
  const before = userIn(away)
  const user = { ...before, version: before.version + 1, updatedAt: later(updatedAt, before.updatedAt) }
  const joined = joining(user, away.record.groups, groups)
  return {
    outcome: { code: 'done', changed: true, user },
    writes: [
      { in: 'users', put: { record: user, keys: away.keys, of: null }, was: null },
      { in: 'trash', put: null, was: away },
      ...joined.writes
    ],
    events: recorded(event, user),
    rewrites: [],
    members: joined.members
  }
}

function purge ({ guard, event, erase, tenant, putAwayBefore }: Of<'purge'>, rows: UserRows): UserDecision {
  const isMeant = (record: UserRecord): boolean => belongsTo(record, tenant)
  const live = putAwayBefore === null && rows.user !== null && isMeant(rows.user.record) ? rows.user : null
  const isAway = rows.away !== null && isMeant(rows.away.record) &&
    (putAwayBefore === null || rows.away.record.deletedAt <= putAwayBefore)
  const away = isAway ? rows.away : null
  const user = live?.record ?? (away === null ? null : userIn(away))
  if (user === null) return refused(NOT_FOUND)
  if (!accepts(guard, user)) return refused(OTHER_VERSION)
  const left = live === null ? { writes: [], members: [] } : leaving(rows.memberships)
  const goesToo = away !== null && away.record.tenant === user.tenant ? away : null
  return {
    outcome: { code: 'done', changed: true, user, ...(live !== null && { types: [...LIVE_PURGE] }) },
    writes: [
      ...left.writes,
      ...live === null ? [] : [{ in: 'users', put: null, was: live } as const],
      ...goesToo === null ? [] : [{ in: 'trash', put: null, was: goesToo } as const]
    ],
    events: event === null
      ? []
      : [...live === null ? [] : [userEvent(deletionBefore(event), user)], purgeEvent(event, user)],
    rewrites: erasureOf(erase, user),
    members: left.members
  }
}

/**
 * Decides what a write makes of the rows of its user. `wordsOf`: where own fields are searched.
 * @throws StorageError `fault` if a new user has the id of one
 */
export function decideUser (write: UserWrite, rows: UserRows, wordsOf?: WordsOf): UserDecision {
  switch (write.type) {
    case 'create': return create(write, rows, wordsOf)
    case 'update': return update(write, rows, wordsOf)
    case 'delete': return remove(write, rows)
    case 'restore': return restore(write, rows)
    case 'purge': return purge(write, rows)
  }
}
