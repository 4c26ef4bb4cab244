// What a write of a group means on rows, for every store, and how it is made.

import { createKeyedQueue } from '../core/keyed-queue.ts'
import { derivedId } from '../core/ids.ts'
import { pauseBefore } from './attempts.ts'
import { memberEvents, memberIdsOf, membershipOf, membershipsIn, nextGroup, rowsWith } from './group-members.ts'
import { groupEvent } from './recorded-events.ts'
import type { EventRecord, GroupChange, GroupRecord, NewEvent, Page, PageRequest, VersionGuard } from './records.ts'
import { membershipId } from './selection.ts'
import type { Row, RowWrite, Storage } from './storage.ts'
import { accepts, belongsTo } from './storage-rules.ts'
import { onlyOf } from './users-together.ts'

/** Who joins and who leaves. Of one who does both, the last word is `remove`. */
export interface MembersAsked {
  add?: readonly string[]
  remove?: readonly string[]
  /** In place of both: exactly these are members afterwards. */
  all?: readonly string[]
}

/** A change of a group, as the write meets it. */
export interface GroupChanges {
  name?: { value: string, key: string }
  externalId?: string | null
  members?: MembersAsked
}

/** A write of a group, as data. */
export type GroupWrite =
  | { type: 'create', group: GroupRecord, members: readonly string[], event: NewEvent | null }
  | {
    type: 'update'
    id: string
    changes: GroupChanges
    updatedAt: string
    guard: VersionGuard
    event: NewEvent | null
    /** A group of another tenant, or of none, is `not_found`. */
    tenant?: string | undefined
  }
  /** Its members are members of it no more, and stay users. */
  | { type: 'delete', id: string, guard: VersionGuard, event: NewEvent | null, tenant?: string | undefined }

/** What became of a write. All but `done` have changed nothing. */
export type GroupOutcome =
  /**
   * `group`: after it; of a deletion the last state. `isChanged`: its own values are others. `members`: who has joined
   * and left; null: nobody.
   */
  | { code: 'done', group: GroupRecord, isChanged: boolean, members: GroupChange | null }
  | { code: 'not_found' | 'name_taken' | 'version_mismatch' }
  /** These are no users of the group's tenant. */
  | { code: 'members_unknown', ids: string[] }

/** Which groups a list has. All that is given must hold. */
export interface GroupFilter {
  nameKey?: string
  externalId?: string
  tenant?: string | undefined
}

interface Decision { outcome: GroupOutcome, writes: RowWrite[], events: EventRecord[] }

const READS_MAX = 5
const refused = (outcome: GroupOutcome): Decision => ({ outcome, writes: [], events: [] })

export type GroupStore = ReturnType<typeof createGroupStore>

/** Makes what writes and reads groups on a store. */
export function createGroupStore (store: Storage) {
  const inTurn = createKeyedQueue()

  /** Who joins and leaves of those who are asked for, with the rows for it; or who is no user of the tenant. */
  async function decideMembers (
    { record: { id, tenant } }: Row<'userGroups'>, { add = [], remove = [], all }: MembersAsked
  ) {
    const there = all === undefined
      ? await rowsWith(store, 'memberships', [...add, ...remove].map((user) => membershipId(id, user)))
      : new Map((await membershipsIn(store, id)).map((row) => [row.record.id, row]))
    const wanted = new Set(all ?? add)
    const leaving = all === undefined ? remove : [...there.values()].map(({ record: { member } }) => member)
    const left = new Set(leaving.filter((user) => all === undefined || !wanted.has(user)))
    const added = [...wanted].filter((user) => !left.has(user) && !there.has(membershipId(id, user)))
    const removed = [...left].flatMap((user) => there.get(membershipId(id, user)) ?? [])
    const users = await rowsWith(store, 'users', added)
    const unknown = added.filter((user) => {
      const record = users.get(user)?.record
      return record === undefined || record.tenant !== tenant
    })
    const writes: RowWrite[] = [
      ...removed.map((was) => ({ in: 'memberships', put: null, was } as const)),
      ...added.map((user) => ({ in: 'memberships', put: membershipOf(id, user), was: null } as const))
    ]
    return { added, removed: removed.map(({ record: { member } }) => member), unknown, writes }
  }

  async function create ({ group, members, event }: GroupWrite & { type: 'create' }): Promise<Decision> {
    const row: Row<'userGroups'> = { record: group, keys: null, of: null }
    const asked = await decideMembers(row, { add: members })
    if (asked.unknown.length > 0) return refused({ code: 'members_unknown', ids: asked.unknown })
    const record = { ...group, members: asked.added.length }
    const change = changeOf(record, asked, event)
    return {
      outcome: { code: 'done', group: record, isChanged: true, members: change },
      writes: [{ in: 'userGroups', put: { ...row, record }, was: null }, ...asked.writes],
      events: [...event === null ? [] : [groupEvent(event, record)], ...change === null ? [] : memberEvents(change)]
    }
  }

  function changeOf (
    group: GroupRecord, { added, removed }: { added: string[], removed: string[] }, event: NewEvent | null
  ): GroupChange | null {
    if (added.length + removed.length === 0) return null
    const own = event && { ...event, id: derivedId(event.id, group.id), type: 'group.members_changed' }
    return { group, added, removed, event: own }
  }

  async function update (
    { changes, updatedAt, guard, event }: GroupWrite & { type: 'update' }, was: Row<'userGroups'>
  ): Promise<Decision> {
    const { record: before } = was
    if (!accepts(guard, before)) return refused({ code: 'version_mismatch' })
    const { name, externalId, members = {} } = changes
    const asked = await decideMembers(was, members)
    if (asked.unknown.length > 0) return refused({ code: 'members_unknown', ids: asked.unknown })
    const own = {
      ...(name !== undefined && name.value !== before.name && { name: name.value, nameKey: name.key }),
      ...(externalId !== undefined && externalId !== before.externalId && { externalId })
    }
    const isChanged = Object.keys(own).length > 0
    const count = before.members + asked.added.length - asked.removed.length
    if (!isChanged && asked.writes.length === 0) {
      return refused({ code: 'done', group: before, isChanged: false, members: null })
    }
    const put = nextGroup(was, { ...own, members: count }, updatedAt)
    const change = changeOf(put.record, asked, event)
    return {
      outcome: { code: 'done', group: put.record, isChanged, members: change },
      // The group first: of concurrent changes of it all but one end here, and hold no row of a member.
      writes: [{ in: 'userGroups', put, was }, ...asked.writes],
      events: [
        ...event === null || !isChanged ? [] : [groupEvent(event, put.record)],
        ...change === null ? [] : memberEvents(change)
      ]
    }
  }

  function remove ({ guard, event }: GroupWrite & { type: 'delete' }, was: Row<'userGroups'>): Decision {
    if (!accepts(guard, was.record)) return refused({ code: 'version_mismatch' })
    return {
      outcome: { code: 'done', group: was.record, isChanged: true, members: null },
      writes: [{ in: 'userGroups', put: null, was }],
      events: event === null ? [] : [groupEvent(event, was.record)]
    }
  }

  async function decide (write: GroupWrite): Promise<Decision> {
    if (write.type === 'create') return create(write)
    const [was = null] = await store.find('userGroups', [{ id: write.id }])
    if (was === null || !belongsTo(was.record, write.tenant)) return refused({ code: 'not_found' })
    return write.type === 'update' ? update(write, was) : remove(write, was)
  }

  async function writeNow (write: GroupWrite): Promise<GroupOutcome> {
    const since = performance.now()
    for (let attempt = 0; ; attempt++) {
      if (attempt > 0) await pauseBefore(attempt, since)
      const { outcome, ...made } = await decide(write)
      if (made.writes.length === 0) return outcome
      const { code } = onlyOf(await store.commit([{ ...made, rewrites: [] }]))
      if (code === 'ok') return outcome
      if (code === 'taken') return { code: 'name_taken' }
    }
  }

  async function find (id: string, tenant?: string): Promise<GroupRecord | null> {
    const [row = null] = await store.find('userGroups', [{ id }])
    return row === null || !belongsTo(row.record, tenant) ? null : row.record
  }

  return {
    find,

    /** Makes a write. Writers of one group wait for each other here, and need not meet in the store. */
    write: (write: GroupWrite): Promise<GroupOutcome> =>
      write.type === 'create' ? writeNow(write) : inTurn(write.id, () => writeNow(write)),

    /** A page of groups, by their ids or by name, with their exact number. */
    async list (
      { nameKey, externalId, tenant }: GroupFilter, page: PageRequest, byName = false
    ): Promise<Page<GroupRecord>> {
      const [member, value] = nameKey === undefined ? ['externalId', externalId] : ['nameKey', nameKey]
      const { items, total } = await store.list('userGroups', {
        ...(tenant !== undefined && { tenant }),
        ...(value !== undefined && { where: { member, values: [value] } }),
        ...(byName && { by: 'nameKey' }),
        page
      })
      return { items: items.map(({ record }) => record), total }
    },

    /** A page of the groups of a user, by their ids, with their exact number. */
    async ofUser (user: string, page: PageRequest): Promise<Page<GroupRecord>> {
      // Behind all ids of the group's members, or before them.
      const end = page.order === 'asc' ? '\u{10ffff}' : ''
      const from = 'after' in page.from ? { after: membershipId(page.from.after, end) } : page.from
      for (let attempt = 1; ; attempt++) {
        const { items, total } = await store.list('memberships', {
          where: { member: 'member', values: [user] }, page: { ...page, from }
        })
        const groups = await rowsWith(store, 'userGroups', items.map(({ of }) => of ?? ''))
        const found = items.flatMap(({ of }) => groups.get(of ?? '')?.record ?? [])
        // A group that is deleted between the two reads has no members either.
        if (found.length === items.length) return { items: found, total }
        if (attempt === READS_MAX) return { items: found, total: total - (items.length - found.length) }
      }
    },

    /** Whether a user is a member. */
    async has (group: string, user: string): Promise<boolean> {
      const [row = null] = await store.find('memberships', [{ id: membershipId(group, user) }])
      return row !== null
    },

    memberIds: (group: string): Promise<string[]> => memberIdsOf(store, group)
  }
}
