import { setImmediate as turn } from 'node:timers/promises'
import { knexStorage } from '../../../adapters/knex/index.ts'
import { accepts } from '../../../lib/storage/storage-rules.ts'
import type { StorageInTransaction, UserWrite } from '../../../lib/storage/storage.ts'
import { transactionsOf } from '../kit.ts'
import { sqliteHost } from '../sqlite.ts'
import { ALL, EVERYONE, leak, logLeak, ONE, outcomeLeak, putsAway, writeLeak } from './leaks.ts'
import type { Mistake } from './plant.ts'

const ANY = { ifVersion: null, unlessVersion: [] } as const

/** Stores that purge users with a mistake. */
const purging: Mistake[] = [
  writeLeak('a purge of a user that is put away leaves it there', (write) => write.type === 'purge'
    ? { ...write, type: 'delete' }
    : write),
  writeLeak('only users that are put away are purged', (write) => write.type === 'purge'
    ? { ...write, putAwayBefore: write.putAwayBefore ?? '9' }
    : write),
  writeLeak('a purge takes a user that was put away later', (write) =>
    write.type === 'purge' && write.putAwayBefore !== null ? { ...write, putAwayBefore: '9' } : write),
  writeLeak('a purge takes a user that was restored', (write) => write.type === 'purge'
    ? { ...write, putAwayBefore: null }
    : write),
  writeLeak('a guard does not keep a user from being purged', (write) => write.type === 'purge'
    ? { ...write, guard: ANY }
    : write),
  leak('a purge takes only one of two with an id', (right) => ({
    async writeUsers (writes, options) {
      const given = await Promise.all(writes.map(async (write): Promise<UserWrite> => {
        if (write.type !== 'purge' || await right.trash?.find(write.id) === null) return write
        return { ...write, putAwayBefore: write.putAwayBefore ?? '9' }
      }))
      return right.writeUsers(given, options)
    }
  })),
  outcomeLeak('a purge does not tell the types of its events', 'purge', ({ code, changed, user }) =>
    ({ code, changed, user })),
  writeLeak('a purge that is to erase leaves the history', (write) => write.type === 'purge'
    ? { ...write, erase: false }
    : write),
  leak('the purge of a user that is not put away has one event', (right) => ({
    async writeUsers (writes, options) {
      const given = await Promise.all(writes.map(async (write): Promise<UserWrite> =>
        write.type === 'purge' && await right.findUser(write.id) !== null ? { ...write, type: 'delete' } : write))
      return right.writeUsers(given, options)
    }
  })),
  logLeak('the event of a purge has values', (log) => ({
    async read (request: Parameters<typeof log.read>[0]) {
      const page = await log.read(request)
      return page && {
        ...page,
        events: page.events.map((event) => event.type === 'user.purged'
          ? { ...event, data: { ...event.data, name: 'User 1' } }
          : event)
      }
    }
  })),
  leak('an atomic call that is undone has purged', (right) => ({
    async writeUsers (writes, options) {
      const result = await right.writeUsers(writes, options)
      const isUndone = options.atomic && result.outcomes.some(({ code }) => code !== 'done')
      for (const write of isUndone ? writes : []) if (write.type === 'purge') await right.writeUsers([write], ONE)
      return result
    }
  })),
  leak('what is to be purged is chosen before it is', (right) => ({
    async writeUsers (writes, options) {
      const [write] = writes
      if (write?.type !== 'purge' || writes.length > 1) return right.writeUsers(writes, options)
      const away = await right.trash?.find(write.id) ?? null
      if (away === null || away.deletedAt > (write.putAwayBefore ?? '9')) return right.writeUsers(writes, options)
      await turn()
      return right.writeUsers([{ ...write, putAwayBefore: null }], options)
    }
  })),
  leak('the guard of a deletion is checked before it', (right) => ({
    async writeUsers (writes, options) {
      const [write] = writes
      if (write === undefined || !putsAway(write) || writes.length > 1) return right.writeUsers(writes, options)
      const user = await right.findUser(write.id)
      if (user === null || !accepts(write.guard, user)) return right.writeUsers(writes, options)
      await turn()
      return right.writeUsers([{ ...write, guard: ANY }], options)
    }
  }))
]

/** Stores with tenants or transactions. */
const others: Mistake[] = [
  leak('the trash of all tenants is one', ({ trash }) => trash === undefined
    ? {}
    : {
        trash: {
          find: (id) => trash.find(id),
          list: ({ offset, limit }) => trash.list({ offset, limit }),
          expired: (before, limit) => trash.expired(before, limit)
        }
      }),
  leak('whoever is put away stays when its tenant is removed', (right) => ({
    tenants: {
      list: async (page) => await right.tenants?.list(page) ?? { items: [], total: 0 },
      async remove (tenant, limit) {
        const { total } = await right.listUsers({ ...EVERYONE, tenant }, ALL)
        const { total: keys } = await right.listApiKeys({ ...ALL, tenant })
        return total + keys === 0 ? 0 : await right.tenants?.remove(tenant, limit) ?? 0
      },
      assign: async (tenant, request) =>
        await right.tenants?.assign(tenant, request) ?? { assigned: 0, refused: [], next: null }
    }
  })),
  writeLeak('a user of another tenant can be restored and purged', (write) => {
    if (write.type !== 'restore' && write.type !== 'purge') return write
    const { tenant, ...rest } = write
    return rest
  }),
  {
    title: 'in a transaction nobody is put away',
    create: () => {
      const host = sqliteHost(':memory:')
      const right = knexStorage(host)
      const joinTransaction = (transaction: unknown): StorageInTransaction => {
        const inside = right.joinTransaction(transaction)
        return {
          ...inside,
          writeUsers: (writes, options) => inside.writeUsers(writes.map((write): UserWrite => {
            if (!putsAway(write)) return write
            const { putAway, ...rest } = write
            return rest
          }), options)
        }
      }
      return { storage: { ...right, joinTransaction }, begin: transactionsOf(host), destroy: () => host.destroy() }
    }
  }
]

export const trashPurges: Mistake[] = [...purging, ...others]
