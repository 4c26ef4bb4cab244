import type { Outcome, RowWrite } from '../../../lib/storage/storage.ts'
import { lists as usersLists } from './users-wrappers.ts'
import { ALL, lists, type Mistake, OK, right, units, writes } from './wrappers.ts'

const pages = (name: string): string => `list: pages of ${name}`

const isMembership = ({ in: of, was }: RowWrite): boolean => of === 'memberships' && was === null

/** Most likely mistakes with groups and their members. */
export const groupMistakes: Mistake[] = [
  lists(pages('memberships'), 'a page of one group has those of others', async (list, query, of) => {
    const { of: group, ...others } = query
    return list(of === 'memberships' && group !== undefined ? others : query)
  }),
  writes('commit: the name of a group is taken', 'every group may have every name', (write) => {
    if (write.in !== 'userGroups' || write.put === null) return write
    const { record } = write.put
    return { ...write, put: { ...write.put, record: { ...record, nameKey: `${record.nameKey}${record.id}` } } }
  }),
  units('commit: a membership is not added without its user', 'a user takes its memberships along', async (
    storage, unit
  ) => {
    for (const { in: of, put, was } of unit.writes) {
      if (of !== 'users' || put !== null || was === null) continue
      const { items } = await storage.list('memberships', {
        where: { member: 'member', values: [was.record.id] }, page: ALL
      })
      await right(storage, {
        writes: items.map((row) => ({ in: 'memberships', put: null, was: row })), events: [], rewrites: []
      })
    }
    return right(storage, unit)
  }),
  units('commit: a membership that is added while its user is removed', 'who adds it is not told', async (
    storage, unit
  ) => {
    const outcome = await right(storage, unit)
    return unit.writes.every(isMembership) ? OK : outcome
  }),
  units('commit: many memberships of one unit', 'each is made alone', async (storage, unit): Promise<Outcome> => {
    if (!unit.writes.every(isMembership)) return right(storage, unit)
    for (const [at, write] of unit.writes.entries()) {
      const outcome = await right(storage, { writes: [write], events: [], rewrites: [] })
      if (outcome.code !== 'ok') return { code: 'changed', at }
    }
    return OK
  }),
  usersLists('users.list, users.walk: a group has its members', 'an unknown group has everybody', async (
    list, filter, page
  ) => {
    const { group, ...others } = filter
    const found = await list(filter, page)
    return group !== undefined && !group.startsWith('grp_') ? list(others, page) : found
  })
]
