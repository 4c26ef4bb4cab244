// Mistakes that show one tenant what another has: in a store, and in our rules on its rows.
import { type Repository, repositoryOf } from '../../lib/storage/repository.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { aroundCommit, usersIn } from './around.ts'
import { everyone, firstPage } from './records.ts'

type Leak = (storage: Storage) => void

const withoutTenant = <Asked extends { tenant?: unknown }>({ tenant, ...asked }: Asked): Omit<Asked, 'tenant'> => asked

const inRules = (plant: (repository: Repository) => void): Leak => (storage) => plant(repositoryOf(storage))

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
  'addresses are unique among all tenants' (storage) {
    aroundCommit(storage, 'users', async (call, units) => {
      for (const { email } of usersIn(units, 'added')) {
        const { total } = await storage.users.list({ ...everyone, emailKey: email.toLowerCase() }, firstPage(1))
        if (total > 0) return Object([{ code: 'taken', at: 0, member: 'emailKey' }])
      }
      return call()
    })
  },
  'lists of rows have those of all tenants' (storage) {
    const { list } = storage
    storage.list = (name, query) => list(name, withoutTenant(query))
  },
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
    // A new user belongs to the tenant.
    users.writeOne = (write, scope = {}) => writeOne(write, write.type === 'create' ? scope : withoutTenant(scope))
  }),
  'idempotency keys of tenants meet': inRules(({ users }) => {
    const { write } = users
    users.write = (writes, { tenant, ...options }) => write(writes.map((each) => each.type === 'create'
      ? { ...each, user: { ...each.user, ...(tenant !== undefined && { tenant }) } }
      : each), options)
  }),
  'the keys of other tenants are revoked and rotated': inRules(({ apiKeys }) => {
    const { find, write } = apiKeys
    apiKeys.find = (by) => find(by)
    apiKeys.write = (asked, tenant) => write(asked, asked.type === 'create' ? tenant : undefined)
  }),
  'the endpoints of other tenants are changed': inRules(({ webhooks }) => {
    const { find, change } = webhooks
    webhooks.find = (id) => find(id)
    webhooks.change = (id, delivery, decide) => change(id, delivery, decide)
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
