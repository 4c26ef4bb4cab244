// Mistakes that show one tenant what another has: in a store, and in our rules on its rows.
import { type Repository, repositoryOf } from '../../lib/storage/repository.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import type { UserWrite } from '../../lib/storage/user-writes.ts'
import { aroundCommit, usersIn } from './around.ts'
import { everyone, firstPage } from './records.ts'

type Leak = (storage: Storage) => void

const withoutTenant = <Asked extends { tenant?: unknown }>({ tenant, ...asked }: Asked): Omit<Asked, 'tenant'> => asked

/** A mistake in the rows that a store lists. */
const listing = (of: string): Leak => (storage) => {
  const { list } = storage
  storage.list = (name, query) => list(name, name === of ? withoutTenant(query) : query)
}

const inRules = (plant: (repository: Repository) => void): Leak => (storage) => plant(repositoryOf(storage))

/** A write of a caller that is bound to a tenant, as the mistake makes it: a new user belongs to the tenant. */
const ofAnyone = (write: UserWrite): boolean => write.type !== 'create'

export const leaks: Readonly<Record<string, Leak>> = {
  'a list has the users of all tenants' ({ users }) {
    const { list } = users
    users.list = (filter, page) => list(withoutTenant(filter), page)
  },
  'the total of a tenant is that of all' ({ users }) {
    const { list } = users
    users.list = async (filter, page) =>
      ({ ...await list(filter, page), total: (await list(withoutTenant(filter), page)).total })
  },
  'all users are read, whatever the tenant' ({ users }) {
    const { walk } = users
    users.walk = (filter, order, onPart, sort) => walk(withoutTenant(filter), order, onPart, sort)
  },
  'addresses are unique among all tenants' (storage) {
    aroundCommit(storage, 'users', async (call, units) => {
      for (const { email } of usersIn(units, 'added')) {
        const { total } = await storage.users.list({ ...everyone, emailKey: email.toLowerCase() }, firstPage(1))
        if (total > 0) return Object([{ code: 'taken', at: 0, member: 'emailKey' }])
      }
      return call()
    })
  },
  'a list has the keys of all tenants': listing('apiKeys'),
  'a list has the endpoints of all tenants': listing('webhooks'),
  'a list has the deleted users of all tenants': listing('trash'),
  'the log has the events of all tenants' ({ log }) {
    const read = log.read.bind(log)
    log.read = (request) => read(withoutTenant(request))
  },
  'a history is that of any tenant' ({ log }) {
    const history = log.history.bind(log)
    log.history = (subject, page) => history(subject, withoutTenant(page))
  },
  'how old an event is depends on those of all' ({ log }) {
    const before = log.before.bind(log)
    log.before = (id) => before(id)
  },
  'a write reaches the users of other tenants': inRules(({ users }) => {
    const { writeOne } = users
    users.writeOne = (write, scope = {}) => writeOne(write, ofAnyone(write) ? withoutTenant(scope) : scope)
  }),
  'a batch reaches the users of other tenants': inRules(({ users }) => {
    const { write } = users
    users.write = (writes, options) =>
      write(writes, writes.every(ofAnyone) ? { ...options, tenant: undefined } : options)
  }),
  'idempotency keys of tenants meet': inRules(({ users }) => {
    const { write } = users
    users.write = (writes, { tenant, ...options }) => write(writes.map((each) => each.type === 'create'
      ? { ...each, user: { ...each.user, ...(tenant !== undefined && { tenant }) } }
      : each), options)
  }),
  'the keys of other tenants are found': inRules(({ apiKeys }) => {
    const { find } = apiKeys
    apiKeys.find = (by) => find(by)
  }),
  'the keys of other tenants are revoked and rotated': inRules(({ apiKeys }) => {
    const { find, write } = apiKeys
    apiKeys.find = (by) => find(by)
    apiKeys.write = (asked, tenant) => write(asked, asked.type === 'create' ? tenant : undefined)
  }),
  'the deleted users of other tenants are found': inRules(({ trash }) => {
    const { find } = trash
    trash.find = (id) => find(id)
  }),
  'the endpoints of other tenants are found': inRules(({ webhooks }) => {
    const { find } = webhooks
    webhooks.find = (id) => find(id)
  }),
  'the endpoints of other tenants are changed': inRules(({ webhooks }) => {
    const { find, change } = webhooks
    webhooks.find = (id) => find(id)
    webhooks.change = (id, delivery, decide) => change(id, delivery, decide)
  }),
  'the endpoints of other tenants are removed': inRules(({ webhooks }) => {
    const { remove } = webhooks
    webhooks.remove = (id) => remove(id)
  }),
  'deliveries to endpoints of other tenants are shown': inRules(({ webhooks }) => {
    const { deliveriesOf } = webhooks
    webhooks.deliveriesOf = (events) => deliveriesOf(events)
  }),
  'another tenant erases the events of a user': inRules(({ events }) => {
    const { erase } = events
    events.erase = (userId) => erase(userId)
  })
}
