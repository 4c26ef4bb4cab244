// How tenants are removed and given users, on rows, for every store.

import { isUserId } from '../core/ids.ts'
import { changedGroups, leaving, memberIdsOf, membershipsOf, rowsWith } from './group-members.ts'
import { forgotten, isErased } from './recorded-events.ts'
import type { EventRecord, Page, PageRequest, TenantRecord } from './records.ts'
import type { CollectionName, Rewrite, Row, Storage, RowWrite, Unit } from './storage.ts'

/** A user who stays without a tenant, because a user of that tenant has the address or a unique value already. */
export type UnassignedUser = { id: string, code: 'email_taken' } | { id: string, code: 'field_taken', field: string }

/** Which step of `assign` is asked for. */
export interface AssignmentRequest {
  /** `next` of the step before; null: this is the first step. */
  after: string | null
  /** At most about how many users to look at. */
  limit: number
}

/** What a step of `assign` did. */
export interface AssignmentStep {
  /** How many users belong to the tenant by this step. */
  assigned: number
  refused: UnassignedUser[]
  /** Where the next step goes on; null: this was the last. */
  next: string | null
}

export type TenantStore = ReturnType<typeof createTenantStore>

const EVENTS_TOGETHER = 1000
const GROUPS_TOGETHER = 100

const unitOf = (writes: RowWrite[], rewrites: Rewrite[] = []): Unit => ({ writes, events: [], rewrites })
const page = (limit: number) => ({ order: 'asc', limit, from: { offset: 0 } } as const)

/** Gives events that belong to no tenant to one. */
const assigned = (of: Rewrite['of'], tenant: string): Rewrite =>
  ({ of, make: (event) => event.tenant === undefined ? { ...event, tenant } : event })

/** Makes the tenants of a store. One is there as long as it has a user or a key. */
export function createTenantStore (store: Storage) {
  const count = (outcomes: ReadonlyArray<{ code: string }>): number =>
    outcomes.filter(({ code }) => code === 'ok').length

  async function dropUsers (tenant: string, limit: number): Promise<number> {
    const { items } = await store.users.list({ emailKey: null, words: null, fields: {}, tenant }, page(limit))
    const rows = await store.find('users', items.map(({ id }) => ({ id })))
    // Groups of no tenant keep users whom it was given. Of those in one group, a step drops one.
    const memberships = items.length === 0 ? [] : await membershipsOf(store, items.map(({ id }) => id))
    const groups = await rowsWith(store, 'userGroups', memberships.map(({ of }) => of ?? ''))
    return count(await store.commit(rows.flatMap((was) => {
      if (was === null || was.record.tenant !== tenant) return []
      const left = leaving(memberships.filter(({ record }) => record.member === was.record.id))
      const { writes } = changedGroups(left.members, groups, null)
      return [unitOf([...writes, ...left.writes, { in: 'users', put: null, was }])]
    })))
  }

  async function drop<Name extends Exclude<CollectionName, 'users'>> (
    name: Name, tenant: string, limit: number, dropOf: (was: Row<Name>) => RowWrite
  ): Promise<number> {
    const { items } = await store.list(name, { tenant, page: page(limit) })
    return count(await store.commit(items.map((was) => unitOf([dropOf(was)]))))
  }

  const steps: Array<(tenant: string, limit: number) => Promise<number>> = [
    (tenant, limit) => drop('apiKeys', tenant, limit, (was) => ({ in: 'apiKeys', put: null, was })),
    // Before its users, whom a group keeps.
    (tenant, limit) => drop('userGroups', tenant, limit, (was) => ({ in: 'userGroups', put: null, was })),
    dropUsers,
    (tenant, limit) => drop('trash', tenant, limit, (was) => ({ in: 'trash', put: null, was })),
    (tenant, limit) => store.log.rewrite({ of: { tenant }, make: forgotten }, limit),
    (tenant, limit) => drop('webhooks', tenant, limit, (was) => ({ in: 'webhooks', put: null, was }))
  ]

  /** Gives groups with their events, unless one has members who stay, or a name that is taken in the tenant. */
  async function assignGroups (tenant: string): Promise<void> {
    for (let after = ''; ;) {
      const { items } = await store.list('userGroups', {
        tenant: null, page: { order: 'asc', limit: GROUPS_TOGETHER, from: { after } }
      })
      const meant: Array<Row<'userGroups'>> = []
      for (const was of items) {
        const members = await memberIdsOf(store, was.record.id)
        const users = await rowsWith(store, 'users', members)
        if (members.every((id) => users.get(id)?.record.tenant === tenant)) meant.push(was)
      }
      // One that is changed meanwhile stays, until the assignment is asked for again.
      await store.commit(meant.map((was) => unitOf(
        [{ in: 'userGroups', put: { ...was, record: { ...was.record, tenant } }, was }],
        [assigned({ subject: was.record.id }, tenant)]
      )))
      if (items.length < GROUPS_TOGETHER) return
      after = items.at(-1)?.record.id ?? ''
    }
  }

  /** Gives the deleted users and their events. */
  async function assignRest (tenant: string): Promise<void> {
    while (true) {
      const { items } = await store.list('trash', { tenant: null, page: page(EVENTS_TOGETHER) })
      if (items.length === 0) break
      await store.commit(items.map((was) =>
        unitOf([{ in: 'trash', put: { ...was, record: { ...was.record, tenant } }, was }])))
    }
    const isMeant = (event: EventRecord): boolean => isUserId(event.subject) && !isErased(event)
    const subjects = new Set<string>()
    const note = (event: EventRecord): EventRecord => {
      if (isMeant(event)) subjects.add(event.subject)
      return event
    }
    await store.log.rewrite({ of: { tenant: null }, make: note }, Infinity)
    const ids = [...subjects]
    for (let at = 0; at < ids.length; at += EVENTS_TOGETHER) {
      const part = ids.slice(at, at + EVENTS_TOGETHER)
      const there = await store.find('users', part.map((id) => ({ id })))
      for (const id of part.filter((_, i) => there[i] === null)) {
        await store.log.rewrite(assigned({ subject: id }, tenant), Infinity)
      }
    }
  }

  return {
    /** A page of the tenants, ordered by name, with their exact number. */
    list: (asked: PageRequest): Promise<Page<TenantRecord>> => store.listTenants(asked),

    /**
     * Deletes what a tenant has, at most about `limit` records in one step: its API keys first, then groups, users,
     * with their idempotency keys, and webhooks. Its events stay, as `forgotten` makes them: so nobody who reads the
     * log loses the place. Returns how many records it was; 0: nothing of the tenant is left. Called again after a
     * crash, it goes on.
     */
    async remove (tenant: string, limit: number): Promise<number> {
      let done = 0
      for (const step of steps) if (done < limit) done += await step(tenant, limit - done)
      return done
    },

    /**
     * Gives users who belong to no tenant to one, with their events, each in one atomic step; also the events of users
     * who were deleted, unless they are erased. A step looks at the next users by id, so no step takes longer because
     * there are many. `version` and `updatedAt` stay, no event is recorded, and events keep their places in the log.
     * Users whose address or unique value is taken in the tenant stay as they are, and hold up nobody else. The last
     * step gives groups that have no members elsewhere. Keys and webhooks stay without a tenant. Many callers may do it
     * concurrently, beside writes; after a crash, the first step may be asked for again.
     */
    async assign (tenant: string, { after, limit }: AssignmentRequest): Promise<AssignmentStep> {
      const from = after === null ? { offset: 0 } : { after }
      const { items } = await store.users.list(
        { emailKey: null, words: null, fields: {} }, { order: 'asc', limit, from }
      )
      const step: AssignmentStep = { assigned: 0, refused: [], next: null }
      for (let left = items.filter((user) => user.tenant === undefined).map(({ id }) => id); left.length > 0;) {
        const rows = (await store.find('users', left.map((id) => ({ id }))))
          .filter((row) => row !== null && row.record.tenant === undefined)
        const meant = rows.flatMap((row) => row === null ? [] : [row])
        const made = await store.commit(meant.map((was) => unitOf(
          [{ in: 'users', put: { ...was, record: { ...was.record, tenant } }, was }],
          [assigned({ subject: was.record.id }, tenant)]
        )))
        step.assigned += count(made)
        left = []
        for (const [i, outcome] of made.entries()) {
          const id = meant[i]?.record.id ?? ''
          if (outcome.code === 'changed') left.push(id)
          if (outcome.code !== 'taken') continue
          const refused: UnassignedUser = typeof outcome.member === 'object'
            ? { id, code: 'field_taken', field: outcome.member.field }
            : { id, code: 'email_taken' }
          step.refused.push(refused)
        }
      }
      const last = items.at(-1)
      if (last !== undefined && items.length === limit) return { ...step, next: last.id }
      await assignGroups(tenant)
      await assignRest(tenant)
      return step
    }
  }
}
