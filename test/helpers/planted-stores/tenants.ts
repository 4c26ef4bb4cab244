import type { UserWrite } from '../../../lib/storage/storage.ts'
import { leak, logLeak } from './leaks.ts'
import type { Mistake } from './plant.ts'
import { assign } from './tenants-assignment.ts'

/** A value without its tenant. */
function bare<Value extends { tenant?: string }> ({ tenant, ...rest }: Value): Omit<Value, 'tenant'> {
  return rest
}

const withoutTenant = (write: UserWrite): UserWrite =>
  write.type === 'create' ? write : Object(bare(write))

/** Stores that mix up tenants, each in one way in which isolation is lost. */
export const tenants: Mistake[] = [
  leak('a list has the users of all tenants', (right) => ({
    listUsers: (filter, page) => right.listUsers(Object(bare(filter)), page)
  })),
  leak('the total of a tenant is that of all', (right) => ({
    async listUsers (filter, page) {
      const { items } = await right.listUsers(filter, page)
      return { items, total: (await right.listUsers(Object(bare(filter)), page)).total }
    }
  })),
  leak('all users are read, whatever the tenant', (right) => ({
    readUsers: (filter, order, onPart) => right.readUsers(Object(bare(filter)), order, onPart)
  })),
  leak('addresses are unique among all tenants', (right) => ({
    async writeUsers (writes, options) {
      const [only] = writes
      if (only?.type === 'create') {
        const { emailKey } = only.keys
        const filter = { emailKey, words: null, fields: {} }
        const { items } = await right.listUsers(filter, { order: 'asc', limit: 1, from: { offset: 0 } })
        const first = items[0]
        if (first !== undefined && first.tenant !== only.user.tenant) {
          return { outcomes: [{ code: 'email_taken' }], note: null, replayed: false }
        }
      }
      return right.writeUsers(writes, options)
    }
  })),
  leak('a write reaches the users of other tenants', (right) => ({
    writeUsers: (writes, options) => right.writeUsers(writes.map(withoutTenant), options)
  })),
  leak('a write that changes nothing tells of the users of other tenants', (right) => ({
    writeUsers: (writes, options) => right.writeUsers(writes.map((write) =>
      write.type === 'update' && Object.keys(write.changes).length === 0 ? withoutTenant(write) : write), options)
  })),
  leak('the tenant of a user is lost', (right) => ({
    async findUser (id) {
      const user = await right.findUser(id)
      return user === null ? null : bare(user)
    }
  })),
  leak('the tenant of a key is lost', (right) => ({
    async findApiKey (by) {
      const key = await right.findApiKey(by)
      return key === null ? null : bare(key)
    }
  })),
  leak('a list has the keys of all tenants', (right) => ({
    listApiKeys: (page) => right.listApiKeys(Object(bare(page)))
  })),
  leak('the key that must stay may be of another tenant', (right) => ({
    async writeApiKey (write) {
      if (write.type !== 'revoke' || write.keepOneWith.length === 0) return right.writeApiKey(write)
      const { items } = await right.listApiKeys({ order: 'asc', limit: 99, from: { offset: 0 } })
      const others = items.filter(({ id, scopes, revokedAt }) =>
        id !== write.id && revokedAt === null && write.keepOneWith.every((scope) => scopes.includes(scope)))
      return right.writeApiKey(others.length === 0 ? write : { ...write, keepOneWith: [] })
    }
  })),
  leak('the first key of a tenant is that of the store', (right) => ({
    async writeApiKey (write) {
      const { total } = await right.listApiKeys({ order: 'asc', limit: 1, from: { offset: 0 } })
      return write.type === 'create' && write.onlyFirst && total > 0
        ? { code: 'done', changed: false, key: null }
        : right.writeApiKey(write)
    }
  })),
  leak('a tenant without users is no tenant', (right) => ({
    tenants: {
      async list (page) {
        const { items = [], total = 0 } = await right.tenants?.list(page) ?? {}
        const left = items.filter(({ users }) => users > 0)
        return { items: left, total: total - items.length + left.length }
      },
      remove: async (tenant, limit) => await right.tenants?.remove(tenant, limit) ?? 0,
      assign: (tenant, request) => assign(right, tenant, request)
    }
  })),
  leak('the users of a removed tenant stay', (right) => ({
    tenants: {
      list: async (page) => await right.tenants?.list(page) ?? { items: [], total: 0 },
      async remove (tenant) {
        const { items } = await right.listApiKeys({ order: 'asc', limit: 99, from: { offset: 0 }, tenant })
        return items.length === 0 ? 0 : await right.tenants?.remove(tenant, 1) ?? 0
      },
      assign: (tenant, request) => assign(right, tenant, request)
    }
  })),
  logLeak('the feed has the events of all tenants', (log) => ({
    read: (request: Parameters<typeof log.read>[0]) => log.read(Object(bare(request)))
  })),
  logLeak('an actor has the events of all tenants', (log) => ({
    read: (request: Parameters<typeof log.read>[0]) =>
      log.read(request.actor === undefined ? request : Object(bare(request)))
  })),
  logLeak('newest first has the events of all tenants', (log) => ({
    read: (request: Parameters<typeof log.read>[0]) =>
      log.read(request.order === 'desc' ? Object(bare(request)) : request)
  })),
  logLeak('the event of another tenant is a place in the feed', (log) => ({
    async read (request: Parameters<typeof log.read>[0]) {
      const own = await log.read(request)
      if (own !== null) return own
      const all = await log.read(Object(bare(request)))
      return all && { ...all, events: all.events.filter(({ tenant }) => tenant === request.tenant) }
    }
  })),
  logLeak('the tenant of an event is lost', (log) => ({
    async read (request: Parameters<typeof log.read>[0]) {
      const page = await log.read(request)
      return page && { ...page, events: page.events.map(bare) }
    }
  })),
  logLeak('the history of a user is for every tenant', (log) => ({
    history: (subject: string, page: Parameters<typeof log.history>[1]) => log.history(subject, Object(bare(page)))
  })),
  logLeak('another tenant erases the events of a user', (log) => ({ erase: (userId: string) => log.erase(userId) })),
  leak('a list has the endpoints of all tenants', ({ webhooks }) => webhooks === undefined
    ? {}
    : { webhooks: { ...webhooks, list: (page) => webhooks.list(Object(bare(page))) } }),
  leak('the tenant of an endpoint is lost', ({ webhooks }) => webhooks === undefined
    ? {}
    : { webhooks: { ...webhooks, insert: (webhook) => webhooks.insert(Object(bare(webhook))) } }),
  leak('the tenant of an endpoint is lost when it is found', ({ webhooks }) => webhooks === undefined
    ? {}
    : {
        webhooks: {
          ...webhooks,
          async find (id) {
            const webhook = await webhooks.find(id)
            return webhook === null ? null : bare(webhook)
          }
        }
      }),
  leak('the tenant of an endpoint is lost when it is changed', ({ webhooks }) => webhooks === undefined
    ? {}
    : {
        webhooks: {
          ...webhooks,
          change: (id, delivery, decide) => webhooks.change(id, delivery, (...given) => {
            const change = decide(...given)
            return change?.webhook === undefined ? change : { ...change, webhook: bare(change.webhook) }
          })
        }
      }),
  logLeak('the tenant of an event that is found is lost', (log) => ({
    async find (id: string) {
      const event = await log.find(id)
      return event === null ? null : bare(event)
    }
  })),
  logLeak('the history of a tenant has what another one recorded of the same id', (log) => ({
    history: async (subject: string, page: Parameters<typeof log.history>[1]) => {
      const own = await log.history(subject, page)
      return own.total === 0 ? own : log.history(subject, { offset: page.offset, limit: page.limit })
    }
  })),
  leak('a deletion erases what other tenants have recorded of the same id', (right) => ({
    async writeUsers (writes, options) {
      const result = await right.writeUsers(writes, options)
      for (const write of writes) {
        if (write.type === 'delete' && write.erase) await right.eventLog?.erase(write.id)
      }
      return result
    }
  })),
  leak('a tenant begins after the newest event of all', ({ webhooks }) => webhooks === undefined
    ? {}
    : { webhooks: { ...webhooks, eventBefore: (id) => webhooks.eventBefore(id) } }),
  leak('the endpoints of a removed tenant stay', ({ tenants, webhooks }) => tenants === undefined
    ? {}
    : {
        tenants: {
          list: (page) => tenants.list(page),
          assign: (tenant, request) => tenants.assign(tenant, request),
          async remove (tenant, limit) {
            const { items = [] } = await webhooks?.list({ order: 'asc', limit: 99, from: { offset: 0 }, tenant }) ?? {}
            const count = await tenants.remove(tenant, limit)
            const gone = await webhooks?.find(String(items[0]?.id)) === null
            for (const each of gone ? items : []) await webhooks?.insert(each)
            return gone ? 0 : count
          }
        }
      })
]
