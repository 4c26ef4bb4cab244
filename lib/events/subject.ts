import { isUserId } from '../core/ids.ts'
import { takes } from '../storage/group-members.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { Repository } from '../storage/repository.ts'
import type { EventRecord } from '../storage/storage.ts'
import { belongsTo } from '../storage/storage-rules.ts'
import type { DeletedUser } from '../storage/trash.ts'
import { type Delivery, toDelivery } from '../storage/webhook.ts'
import type { Presenter } from '../users/presenter.ts'
import type { DeletedUser as ShownDeletedUser, User } from '../users/types.ts'
import { userNotFound } from '../users/write-checks.ts'
import type { LoggedEvent } from './types.ts'

// Read as many events at a time, and then their deliveries.
const PART = 100

/** A delivery that carried an event of a user, and where it went. */
export interface SubjectDelivery extends Delivery {
  /** The webhook's id, and the origin of its URL: what is behind that may be secret. */
  webhook: { id: string, origin: string }
}

/** A group of a person. */
export interface SubjectGroup { id: string, name: string }

/** What is stored of a person. */
export interface Subject<Fields = object> {
  /** The user, or the deleted one that can be restored. null: only events are left. */
  user: User<Fields> | ShownDeletedUser<Fields> | null
  /** The groups that the user is in, or would be in again if restored. */
  groups: SubjectGroup[]
  /** The history, newest first: that of the person who has the id now, or had it last. */
  events: LoggedEvent[]
  /** The deliveries that carried an event of it, and are still kept. */
  deliveries: SubjectDelivery[]
}

/** A part of what is stored of a person. The first one has the user and the groups. */
export type SubjectPart = Partial<Subject>

/**
 * Makes the function that reads all that is stored of a person. It gives the user and the groups first, then events and
 * the deliveries that carried them, in parts: a history may be long. It throws UsersError alone, before the first part.
 */
export function createSubjects (
  { users, trash, groups, events, webhooks }: Repository,
  presenter: Pick<Presenter, 'user' | 'deletedUser'>,
  present: (record: EventRecord) => LoggedEvent
): (id: string, tenant?: string) => AsyncGenerator<SubjectPart, void, undefined> {
  async function originOf (webhook: string, tenant: string | undefined): Promise<string> {
    const record = await webhooks.find(webhook, tenant)
    return record === null ? '' : new URL(record.url).origin
  }

  async function deliveriesOf (
    records: readonly EventRecord[], origins: Map<string, string>, tenant: string | undefined
  ) {
    const deliveries = await webhooks.deliveriesOf(records.map(({ id }) => id), tenant)
    return Promise.all(deliveries.map(async (delivery): Promise<SubjectDelivery> => {
      const { webhook: id } = delivery
      const origin = origins.get(id) ?? await originOf(id, tenant)
      origins.set(id, origin)
      return { ...toDelivery(delivery), webhook: { id, origin } }
    }))
  }

  async function groupsOf (id: string): Promise<SubjectGroup[]> {
    const found: SubjectGroup[] = []
    for (let after = ''; ;) {
      const page = await groups.ofUser(id, { order: 'asc', limit: PART, from: { after } })
      found.push(...page.items.map(({ id, name }) => ({ id, name })))
      if (page.items.length < PART) return found
      after = page.items.at(-1)?.id ?? ''
    }
  }

  async function groupsToRejoin ({ user, groups: ids = [] }: DeletedUser): Promise<SubjectGroup[]> {
    const found: SubjectGroup[] = []
    for (const each of ids) {
      const group = await groups.find(each)
      if (group !== null && takes(group, user)) found.push({ id: each, name: group.name })
    }
    return found
  }

  async function find (id: string, tenant: string | undefined): Promise<Pick<Subject, 'user' | 'groups'>> {
    const user = await users.find(id)
    if (user !== null && belongsTo(user, tenant)) return { user: presenter.user(user), groups: await groupsOf(id) }
    const away = await trash.find(id, tenant)
    if (away === null) return { user: null, groups: [] }
    return { user: presenter.deletedUser(away), groups: await groupsToRejoin(away) }
  }

  return async function * (id, tenant) {
    if (!isUserId(id)) throw userNotFound()
    const origins = new Map<string, string>()
    const of = tenant === undefined ? {} : { tenant }
    const first = await fromStorage(() => find(id, tenant))
    const { user } = first
    // What is recorded meanwhile moves the others back: none is given twice.
    const given = new Set<string>()
    let isOver = false
    // An import can give the id of a purged user to another person, whose first event is a creation.
    function isOfThisPerson ({ id, type }: EventRecord): boolean {
      if (type === 'user.purged' && (user !== null || given.size > 0)) isOver = true
      if (isOver || given.has(id)) return false
      given.add(id)
      isOver = type === 'user.created'
      return true
    }
    for (let offset = 0; ; offset += PART) {
      const page = await fromStorage(() => events.history(id, { offset, limit: PART, ...of }))
      if (offset === 0 && user === null && page.total === 0) throw userNotFound()
      const records = page.items.filter(isOfThisPerson)
      const deliveries = await fromStorage(() => deliveriesOf(records, origins, tenant))
      yield { ...(offset === 0 && first), events: records.map(present), deliveries }
      if (isOver || page.items.length < PART) return
    }
  }
}

/** All that is stored of a person, as one object. */
export async function wholeSubject (parts: AsyncIterable<SubjectPart>): Promise<Subject> {
  const subject: Subject = { user: null, groups: [], events: [], deliveries: [] }
  for await (const { user = subject.user, groups = [], events = [], deliveries = [] } of parts) {
    subject.user = user
    subject.groups.push(...groups)
    subject.events.push(...events)
    subject.deliveries.push(...deliveries)
  }
  return subject
}
