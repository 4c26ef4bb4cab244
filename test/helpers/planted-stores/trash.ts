import type { DeletedUser, UserWrite } from '../../../lib/storage/storage.ts'
import { leak, putsAway, trashLeak, writeLeak } from './leaks.ts'
import type { Mistake } from './plant.ts'

/** Stores that put users away, or list them, with a mistake. */
export const trash: Mistake[] = [
  writeLeak('a user that is put away is deleted for good', (write) => {
    if (!putsAway(write)) return write
    const { putAway, ...rest } = write
    return rest
  }),
  leak('a user that is put away is still found', (right) => ({
    findUser: async (id) => await right.findUser(id) ?? (await right.trash?.find(id))?.user ?? null
  })),
  leak('a user that is put away is still counted', (right) => ({
    async listUsers (filter, page) {
      const { items, total } = await right.listUsers(filter, page)
      const isWhole = filter.emailKey === null && filter.words === null && filter.status === undefined
      const { total: away = 0 } = isWhole ? await right.trash?.list({ offset: 0, limit: 1 }) ?? {} : {}
      return { items, total: total + away }
    }
  })),
  leak('a user that is put away is still read', (right) => ({
    async readUsers (filter, order, onPart) {
      await right.readUsers(filter, order, onPart)
      const { items = [] } = await right.trash?.list({ offset: 0, limit: 99 }) ?? {}
      const left = items.filter(({ user }) => filter.fields['plan'] === 'pro' && user.fields['plan'] === 'pro')
      if (left.length > 0) await onPart(left.map(({ user }) => user))
    }
  })),
  leak('a user that is put away holds its address', (right) => ({
    async writeUsers (writes, options) {
      const { items = [] } = await right.trash?.list({ offset: 0, limit: 999 }) ?? {}
      const isHeld = writes.some((write) => write.type === 'create' &&
        items.some(({ user }) => user.email.toLowerCase() === write.keys.emailKey && user.tenant === write.user.tenant))
      if (isHeld) return { outcomes: writes.map(() => ({ code: 'email_taken' })), note: null, replayed: false }
      return right.writeUsers(writes, options)
    }
  })),
  leak('a user that is put away holds its unique values', (right) => ({
    async writeUsers (writes, options) {
      const { items = [] } = await right.trash?.list({ offset: 0, limit: 999 }) ?? {}
      const field = 'legacyId'
      const isHeld = writes.some((write) => write.type === 'create' && write.user.fields[field] !== undefined &&
        items.some(({ user }) => user.fields[field] === write.user.fields[field]))
      if (isHeld) return { outcomes: writes.map(() => ({ code: 'field_taken', field })), note: null, replayed: false }
      return right.writeUsers(writes, options)
    }
  })),
  writeLeak('a guard does not keep a user from being put away', (write) => putsAway(write)
    ? { ...write, guard: { ifVersion: null, unlessVersion: [] } }
    : write),
  leak('a user does not take the place of another one that is put away', (right) => ({
    async writeUsers (writes, options) {
      const given = await Promise.all(writes.map(async (write): Promise<UserWrite> => {
        if (!putsAway(write) || await right.trash?.find(write.id) === null) return write
        const { putAway, ...rest } = write
        return rest
      }))
      return right.writeUsers(given, options)
    }
  })),
  writeLeak('nobody is said to have put a user away', (write) => write.type === 'delete' && write.putAway !== undefined
    ? { ...write, putAway: { ...write.putAway, deletedBy: null } }
    : write),
  trashLeak('a user that is put away is given as a live one', (trash) => ({
    async find (id) {
      const found = await trash.find(id)
      return found === null ? null : { ...found, user: { ...found.user, version: found.user.version + 1 } }
    }
  })),
  trashLeak('the list of those that are put away begins with the oldest', (trash) => ({
    async list ({ offset, limit, ...rest }) {
      const { items, total } = await trash.list({ offset: 0, limit: 999, ...rest })
      return { items: items.reverse().slice(offset, offset + limit), total }
    }
  })),
  trashLeak('those of one moment are listed by the smallest id', (trash) => ({
    async list ({ offset, limit, ...rest }) {
      const { items, total } = await trash.list({ offset: 0, limit: 999, ...rest })
      const place = ({ deletedAt, user: { id } }: DeletedUser): string => id + deletedAt
      const sorted = items.sort((a, b) => a.deletedAt === b.deletedAt ? (place(a) < place(b) ? -1 : 1) : 0)
      return { items: sorted.slice(offset, offset + limit), total }
    }
  })),
  trashLeak('the total of those that are put away is that of the page', (trash) => ({
    async list (request) {
      const { items } = await trash.list(request)
      return { items, total: items.length }
    }
  })),
  trashLeak('what was put away at the moment itself has not expired', (trash) => ({
    async expired (before, limit) {
      const ids = await trash.expired(before, limit)
      const found = await Promise.all(ids.map((id) => trash.find(id)))
      return ids.filter((_id, i) => (found[i]?.deletedAt ?? '') < before)
    }
  })),
  trashLeak('what has expired is given with the latest first', (trash) => ({
    expired: async (before, limit) => (await trash.expired(before, 999)).reverse().slice(0, limit)
  }))
]
