// What it means for groups that users join and leave them, whichever write is the reason.

import { derivedId } from '../core/ids.ts'
import { groupEvent } from './recorded-events.ts'
import type { EventRecord, GroupChange, GroupRecord, NewEvent, UserRecord } from './records.ts'
import { membershipId } from './selection.ts'
import type { Row, RowWrite, Storage } from './storage.ts'

/** A user who joins a group, or leaves it. */
export interface MemberChange { group: string, user: string, joins: boolean }

/** Groups by their ids. */
export type Groups = ReadonlyMap<string, Row<'userGroups'>>

// An event with more ids would be larger than what a receiver accepts.
const IDS_IN_EVENT = 1000
const READ_TOGETHER = 1000

const later = (a: string, b: string): string => a < b ? b : a

export const membershipOf = (group: string, user: string): Row<'memberships'> =>
  ({ record: { id: membershipId(group, user), version: 1, member: user }, keys: null, of: group })

/** True if a group takes a user: it is still there, and not another tenant's by now. */
export const takes = (group: GroupRecord | null | undefined, { tenant }: { tenant?: string }): boolean =>
  group != null && (group.tenant === undefined || group.tenant === tenant)

/** What it takes that a user is in these groups too. `there`: the memberships that it has. */
export function joining (
  user: UserRecord, ids: readonly string[] = [], groups: Groups = new Map(),
  there: ReadonlyArray<Row<'memberships'>> = []
): { writes: RowWrite[], members: MemberChange[] } {
  const joined = [...new Set(ids)].filter((id) =>
    takes(groups.get(id)?.record, user) && !there.some(({ of }) => of === id))
  return {
    writes: joined.map((id) => ({ in: 'memberships', put: membershipOf(id, user.id), was: null })),
    members: joined.map((group) => ({ group, user: user.id, joins: true }))
  }
}

/** What becomes of the groups of a user who goes. */
export function leaving (memberships: ReadonlyArray<Row<'memberships'>> = []): {
  writes: RowWrite[], members: MemberChange[]
} {
  return {
    writes: memberships.map((was) => ({ in: 'memberships', put: null, was })),
    members: memberships.map(({ of, record }) => ({ group: of ?? '', user: record.member, joins: false }))
  }
}

/** A group after a change, as the row that replaces it. */
export function nextGroup (was: Row<'userGroups'>, changes: Partial<GroupRecord>, at: string): Row<'userGroups'> {
  const { record } = was
  // The clock of the writer before may be ahead.
  const updatedAt = later(at, record.updatedAt)
  return { ...was, record: { ...record, ...changes, version: record.version + 1, updatedAt } }
}

/** The events of a change of members: none has more ids than a receiver accepts. */
export function memberEvents ({ group, added, removed, event }: GroupChange): EventRecord[] {
  if (event === null) return []
  const ids = [...added.map((id) => ({ id, joins: true })), ...removed.map((id) => ({ id, joins: false }))]
  const parts = Array.from({ length: Math.ceil(ids.length / IDS_IN_EVENT) }, (_, i) =>
    ids.slice(i * IDS_IN_EVENT, (i + 1) * IDS_IN_EVENT))
  return parts.map((part, i) => groupEvent(i === 0 ? event : { ...event, id: derivedId(event.id, String(i)) }, group, {
    added: part.flatMap(({ id, joins }) => joins ? id : []),
    removed: part.flatMap(({ id, joins }) => joins ? [] : id)
  }))
}

/**
 * What a write of users makes of their groups: the rows that come before its own, and its events behind them. `event`:
 * that of the write, of whose id those of the groups are made.
 */
export function changedGroups (changes: readonly MemberChange[], groups: Groups, event: NewEvent | null) {
  const net = new Map<string, Map<string, boolean | null>>()
  for (const { group, user, joins } of changes) {
    const users = net.get(group) ?? new Map<string, boolean | null>()
    const before = users.get(user)
    // Who leaves and joins again in one step has done nothing.
    users.set(user, before === undefined || before === null ? joins : before === joins ? joins : null)
    net.set(group, users)
  }
  const made: { writes: RowWrite[], events: EventRecord[], changes: GroupChange[] } =
    { writes: [], events: [], changes: [] }
  // In one order, so that writers do not wait for each other crosswise.
  for (const [id, users] of [...net].sort(([a], [b]) => a < b ? -1 : 1)) {
    const was = groups.get(id)
    const added = [...users].flatMap(([user, joins]) => joins === true ? user : [])
    const removed = [...users].flatMap(([user, joins]) => joins === false ? user : [])
    if (was === undefined || added.length + removed.length === 0) continue
    const members = was.record.members + added.length - removed.length
    const put = nextGroup(was, { members }, event?.timestamp ?? new Date().toISOString())
    const own = event && { ...event, id: derivedId(event.id, id), type: 'group.members_changed' }
    const change: GroupChange = { group: put.record, added, removed, event: own }
    made.writes.push({ in: 'userGroups', put, was })
    made.events.push(...memberEvents(change))
    made.changes.push(change)
  }
  return made
}

/** The memberships of users. */
export async function membershipsOf (store: Storage, users: readonly string[]): Promise<Array<Row<'memberships'>>> {
  const rows: Array<Row<'memberships'>> = []
  for (let after = ''; ;) {
    const { items } = await store.list('memberships', {
      where: { member: 'member', values: users }, page: { order: 'asc', limit: READ_TOGETHER, from: { after } }
    })
    rows.push(...items)
    if (items.length < READ_TOGETHER) return rows
    after = items.at(-1)?.record.id ?? ''
  }
}

/** The memberships of a group, in the order of its members. */
export async function membershipsIn (store: Storage, group: string): Promise<Array<Row<'memberships'>>> {
  const rows: Array<Row<'memberships'>> = []
  for (let after = ''; ;) {
    const page = { order: 'asc', limit: READ_TOGETHER, from: { after } } as const
    const { items } = await store.list('memberships', { of: group, page })
    rows.push(...items)
    if (items.length < READ_TOGETHER) return rows
    after = items.at(-1)?.record.id ?? ''
  }
}

/** The ids of the members of a group, in their order. */
export const memberIdsOf = async (store: Storage, group: string): Promise<string[]> =>
  (await membershipsIn(store, group)).map(({ record: { member } }) => member)

/** The rows of a collection with these ids that are there. */
export async function rowsWith<Name extends 'users' | 'userGroups' | 'memberships'> (
  store: Storage, name: Name, ids: Iterable<string>
): Promise<Map<string, Row<Name>>> {
  const all = [...new Set(ids)]
  const found = new Map<string, Row<Name>>()
  for (let at = 0; at < all.length; at += READ_TOGETHER) {
    const rows = await store.find(name, all.slice(at, at + READ_TOGETHER).map((id) => ({ id })))
    for (const row of rows) if (row !== null) found.set(row.record.id, row)
  }
  return found
}
