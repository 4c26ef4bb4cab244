// A store of rows as the services of today call it.

import { erasure, userIn } from './decide-users.ts'
import { createKeyWrites, keyIn } from './key-loop.ts'
import type { KeyUses, KeyUseStore } from './key-use-store.ts'
import type { EventRecord } from './records.ts'
import type { Row, RowStore } from './rows.ts'
import type { EventLog } from './event-log.ts'
import type { Storage } from './storage.ts'
import { belongsTo } from './storage-rules.ts'
import { createTenantStore } from './tenant-loop.ts'
import type { DeletedUser, Trash } from './trash.ts'
import { createUserWrites, pauseBefore } from './user-loop.ts'
import { createWebhookStore } from './webhook-loop.ts'

const PRUNED_TOGETHER = 1000

const first = (limit: number) => ({ order: 'asc', limit, from: { offset: 0 } } as const)

function deletedIn (row: Row<'trash'>): DeletedUser {
  const { deletedAt, deletedBy } = row.record
  return { user: userIn(row), deletedAt, deletedBy }
}

function trashOf (store: RowStore): Trash {
  return {
    async find (id) {
      const [row] = await store.find('trash', [{ id }])
      return row == null ? null : deletedIn(row)
    },
    async list ({ offset, limit, tenant }) {
      const page = { order: 'desc', limit, from: { offset } } as const
      const of = tenant === undefined ? {} : { tenant }
      const { items, total } = await store.list('trash', { by: 'deletedAt', page, ...of })
      return { items: items.map(deletedIn), total }
    },
    async expired (moment, limit) {
      const { items } = await store.list('trash', {
        upTo: { member: 'deletedAt', value: moment }, by: 'deletedAt', page: first(limit)
      })
      return items.map(({ record: { id } }) => id)
    }
  }
}

function eventLogOf ({ log }: RowStore): EventLog {
  return {
    read: (request) => log.read(request),
    history: (subject, page) => log.history(subject, page),
    find: (id) => log.find(id),
    async erase (userId, tenant) {
      let count = 0
      const isMeant = (event: EventRecord): boolean => belongsTo(event, tenant)
      for (const { of, make } of erasure(userId, isMeant)) {
        await log.rewrite({
          of,
          make (event) {
            if (isMeant(event) && ('subject' in of || event.subject !== userId)) count++
            return make(event)
          }
        }, Infinity)
      }
      return count
    },
    prune: (moment, limit) => log.prune(moment, limit),
    pruned: () => log.pruned()
  }
}

function keyUsesOf (store: RowStore): KeyUseStore {
  async function add ({ key, day, uses }: KeyUses): Promise<void> {
    const id = `${key}/${day}`
    const since = performance.now()
    for (let attempt = 0; ; attempt++) {
      await pauseBefore(attempt, since)
      const [was = null] = await store.find('keyUses', [{ id }])
      const [owner] = await store.find('apiKeys', [{ id: key }])
      if (owner == null) return
      const record = { id, version: (was?.record.version ?? 0) + 1, day, uses: (was?.record.uses ?? 0) + uses }
      const writes = [{ in: 'keyUses', put: { record, keys: null, of: key }, was } as const]
      const [outcome] = await store.commit([{ writes, events: [], rewrites: [] }])
      if (outcome?.code === 'ok') return
    }
  }

  return {
    async add (all) {
      await Promise.all(all.map(add))
    },
    async list (key) {
      const { items } = await store.list('keyUses', { of: key, page: first(PRUNED_TOGETHER) })
      return items.map(({ record: { day, uses } }) => ({ day, uses }))
    },
    async prune (day, limit) {
      const { items } = await store.list('keyUses', {
        upTo: { member: 'day', value: day, isBelow: true }, page: first(limit)
      })
      const made = await store.commit(items.map((was) =>
        ({ writes: [{ in: 'keyUses', put: null, was }], events: [], rewrites: [] })))
      return made.filter(({ code }) => code === 'ok').length
    }
  }
}

/** What every store of rows has. */
type Whole = Storage & Required<Pick<Storage, 'eventLog' | 'webhooks' | 'trash' | 'tenants' | 'keyUses'>>

/** A store of rows as the services of today call it. `remembers`: as of `createUserWrites`. */
export function storageOn (store: RowStore, remembers = 0): Whole {
  const writeUsers = createUserWrites(store, remembers)
  const writeApiKey = createKeyWrites(store)
  return {
    name: store.name,
    check: (needs = {}) => store.open(needs, { migrate: false }),
    migrate: (needs = {}) => store.open(needs, { migrate: true }),
    close: () => store.close(),
    writeUsers,
    findUser: (id) => store.findUser(id),
    listUsers: (filter, page) => store.listUsers(filter, page),
    readUsers: (filter, order, onPart, sort) => store.walkUsers(filter, order, onPart, sort),
    writeApiKey,
    async findApiKey (by) {
      const [row] = await store.find('apiKeys', [by])
      return row == null ? null : keyIn(row)
    },
    async listApiKeys ({ tenant, ...page }) {
      const { items, total } = await store.list('apiKeys', { page, ...(tenant !== undefined && { tenant }) })
      return { items: items.map(keyIn), total }
    },
    async prune (now) {
      while (true) {
        const { items } = await store.list('idempotency', {
          upTo: { member: 'expiresAt', value: now }, page: first(PRUNED_TOGETHER)
        })
        await store.commit(items.map((was) =>
          ({ writes: [{ in: 'idempotency', put: null, was }], events: [], rewrites: [] })))
        if (items.length < PRUNED_TOGETHER) return
      }
    },
    eventLog: eventLogOf(store),
    webhooks: createWebhookStore(store),
    trash: trashOf(store),
    tenants: createTenantStore(store),
    keyUses: keyUsesOf(store)
  }
}
