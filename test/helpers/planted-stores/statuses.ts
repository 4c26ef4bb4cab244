import type { UserChanges, UserFilter, UserWrite } from '../../../lib/storage/storage.ts'
import { leak, logLeak, outcomeLeak, writeLeak } from './leaks.ts'
import { LoggedStore, plantLogged } from './logged-store.ts'
import { type Mistake, plant, plantJoinable } from './plant.ts'
import { PlainStore } from './plain-store.ts'

type Updated = Parameters<LoggedStore['updateOf']>

const namesStatus = (write: UserWrite): boolean =>
  write.type === 'update' && Object.keys(write.changes).some((name) => name.startsWith('status'))

/** A mistake in a filter by status. */
function filterLeak (
  title: string, method: 'listUsers' | 'readUsers', isWrong: (filter: UserFilter) => boolean
): Mistake {
  const wrong = (filter: UserFilter): UserFilter => {
    const { status, ...rest } = filter
    return isWrong(filter) ? rest : filter
  }
  return leak(title, (right) => method === 'listUsers'
    ? { listUsers: (filter, page) => right.listUsers(wrong(filter), page) }
    : { readUsers: (filter, order, onPart) => right.readUsers(wrong(filter), order, onPart) })
}

/** Stores with a mistake in the status of users. */
export const statuses: Mistake[] = [
  writeLeak('the reason of a new user is lost', (write) => write.type === 'create'
    ? { ...write, user: { ...write.user, statusReason: null } }
    : write),
  writeLeak('a new user is active', (write) => write.type === 'create'
    ? { ...write, user: { ...write.user, status: 'active' } }
    : write),
  plantJoinable('an update of the status is lost', class extends PlainStore {
    override changedRow (...[row, { status, statusReason, ...rest }, at]: Parameters<PlainStore['changedRow']>) {
      return super.changedRow(row, rest, at)
    }
  }),
  plant('an update of the status loses the reason', class extends PlainStore {
    override changedRow (...given: Parameters<PlainStore['changedRow']>) {
      const { user, keys } = super.changedRow(...given)
      return { user: given[1].status === undefined ? user : { ...user, statusReason: null }, keys }
    }
  }),
  plant('a status that is stored already is a change', class extends PlainStore {
    override isStored (...[row, changes]: [Parameters<PlainStore['isStored']>[0], UserChanges]) {
      return super.isStored(row, changes) && changes.status === undefined
    }
  }),
  plant('no reason counts as no change', class extends PlainStore {
    override sameStatus (...[changes, user]: Parameters<PlainStore['sameStatus']>) {
      return super.sameStatus({ ...changes, statusReason: changes.statusReason ?? user.statusReason }, user)
    }
  }),
  writeLeak('a guard does not keep a status from being changed', (write) =>
    namesStatus(write) && write.type === 'update'
      ? { ...write, guard: { ifVersion: null, unlessVersion: [] } }
      : write),
  leak('an update of the status reads the user, and writes it later', (right) => ({
    async writeUsers (writes, options) {
      const [write] = writes
      const isAlone = write?.type === 'update' && writes.length === 1 && typeof write.changes !== 'function'
      const user = isAlone && namesStatus(write) ? await right.findUser(write.id) : null
      await null
      if (user === null || write?.type !== 'update' || typeof write.changes === 'function') {
        return right.writeUsers(writes, options)
      }
      await new Promise((resolve) => setImmediate(resolve))
      const { name } = user
      const changes = { name: { value: name, key: name.toLowerCase() }, ...write.changes }
      return right.writeUsers([{ ...write, changes }], options)
    }
  })),
  filterLeak('a list of one status has all', 'listUsers', () => true),
  filterLeak('a search in one status finds all', 'listUsers', ({ words }) => words !== null),
  filterLeak('an address is found in any status', 'listUsers', ({ emailKey }) => emailKey !== null),
  filterLeak('fields are found in any status', 'listUsers', ({ fields }) => Object.keys(fields).length > 0),
  filterLeak('a suspended user is no active one in a list, but the others are', 'listUsers', ({ status }) =>
    status === 'active'),
  leak('the total of one status is that of all', (right) => ({
    async listUsers ({ status, ...filter }, page) {
      const { total } = await right.listUsers(filter, page)
      return status === undefined
        ? await right.listUsers(filter, page)
        : { items: (await right.listUsers({ ...filter, status }, page)).items, total }
    }
  })),
  leak('a suspended user is in no list', (right) => ({
    listUsers: (filter, page) => right.listUsers({ status: 'active', ...filter }, page)
  })),
  filterLeak('users of all statuses are read', 'readUsers', () => true),
  outcomeLeak('a change of the status does not tell its types', 'update', ({ code, changed, user }) =>
    ({ code, changed, user })),
  outcomeLeak('a change of the status tells of one of two events', 'update', ({ types, ...outcome }) =>
    ({ ...outcome, ...(types !== undefined && { types: types.slice(0, 1) }) })),
  plantLogged('a change of the status is an update like others', class extends LoggedStore {
    override updateOf (...given: Updated) {
      return super.updateOf(...given).slice(0, 1).map((event) => ({ ...event, type: 'user.updated' }))
    }
  }),
  plantLogged('the event of a status is lost beside that of other members', class extends LoggedStore {
    override updateOf (...given: Updated) {
      return super.updateOf(...given).slice(0, 1)
    }
  }),
  plantLogged('the event of a status comes before that of other members', class extends LoggedStore {
    override updateOf (...given: Updated) {
      return super.updateOf(...given).reverse()
    }
  }),
  plantLogged('two events of one change have one id', class extends LoggedStore {
    override updateOf (...given: Updated) {
      return super.updateOf(...given).map((event) => ({ ...event, id: given[0].id }))
    }
  }),
  plantLogged('an event says nothing of a reason that there was not', class extends LoggedStore {
    override updateOf (...given: Updated) {
      return super.updateOf(...given).map((event) => {
        const { statusReason, ...before } = event.before ?? {}
        return statusReason === null ? { ...event, before } : event
      })
    }
  }),
  logLeak('an erasure leaves the reason of a status', (log) => ({
    async read (request: Parameters<typeof log.read>[0]) {
      const page = await log.read(request)
      return page && {
        ...page,
        events: page.events.map((event) => event.data['name'] === null && event.data['status'] === 'suspended'
          ? { ...event, data: { ...event.data, statusReason: 'unpaid' } }
          : event)
      }
    }
  })),
  logLeak('an erasure takes the status too', (log) => ({
    async read (request: Parameters<typeof log.read>[0]) {
      const page = await log.read(request)
      return page && {
        ...page,
        events: page.events.map((event) => event.data['name'] === null && event.before !== null
          ? { ...event, data: { ...event.data, status: null } }
          : event)
      }
    }
  }))
]
