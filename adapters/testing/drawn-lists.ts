import type { UserConditions, UserFilter, UserPageRequest, UserSort, UserValue } from '../../lib/storage/storage.ts'
import { having } from './list-values.ts'
import { everyone, idOf, timeOf } from './values.ts'

/** Draws one item of a list. */
type One = <Item>(items: readonly Item[]) => Item
/** Draws a whole number from 0 to less than this. */
type Below = (n: number) => number

const FILTERS = [{ plan: 'pro' }, { plan: '' }, { seats: 1 }, { seats: 0 }, { active: false }, { plan: '1', seats: 0 }]
const SORTS: readonly UserSort[] =
  ['nameKey', 'emailKey', 'updatedAt', { field: 'plan' }, { field: 'seats' }, { field: 'active' }]
// Of each type of value, since fields have any; some that no user has.
const PLACES: readonly UserValue[] = ['', '1', 'a', 'ann', 'pro', 'Pro', 'ß', -1, 0, 1, false, true]
const WORDS = [['a'], ['an'], ['ann', 'x'], ['x', 'a'], ['s'], ['ß'], ['zz'], ['a', 'zz']]

const userId = (below: Below): string => idOf('usr', below(7))

function drawnConditions (keys: readonly string[], one: One, below: Below): UserConditions {
  const moment = (): string => timeOf(below(60))
  return one<() => UserConditions>([
    () => ({ ids: [userId(below), userId(below)] }),
    () => ({ ids: [] }),
    () => ({ emailKeys: [one(keys), one(keys)] }),
    () => ({ anyOf: one([{ plan: ['pro', 'Pro'] }, { seats: [0, 1] }, { active: [true] }, { plan: ['', 'none'] }]) }),
    () => ({ exists: one([{ plan: true }, { plan: false }, { seats: false }, { active: true, seats: true }]) }),
    () => ({ ranges: [{ of: one(['createdAt', 'updatedAt']), gte: moment() }] }),
    () => ({ ranges: [{ of: one(['createdAt', 'updatedAt']), gt: moment(), lte: moment() }] }),
    () => ({ ranges: [{ of: { field: 'seats' }, ...one([{ gt: 0 }, { lte: 0 }, { gte: 0, lt: 1 }]) }] }),
    () => ({ ranges: [{ of: { field: 'plan' }, ...one([{ gte: 'pro' }, { lt: 'Pro' }, { gt: '', lte: 'pro' }]) }] })
  ])()
}

function drawnMatches (emailKeys: readonly string[], one: One, below: Below): UserFilter {
  return one<() => UserFilter>([
    () => everyone,
    () => ({ ...everyone, emailKey: one(emailKeys) }),
    () => having(...one(WORDS)),
    () => ({ ...everyone, words: [one(WORDS), one(WORDS)] }),
    () => ({ ...everyone, fields: one(FILTERS) }),
    () => ({ ...everyone, status: one(['active', 'suspended']) }),
    () => ({ ...having(one(['a', 'an'])), status: 'suspended' }),
    () => ({ ...having(one(['a', 'an'])), emailKey: one(emailKeys), fields: one(FILTERS) }),
    () => ({ ...everyone, ...drawnConditions(emailKeys, one, below) }),
    () => ({
      ...having(one(['a', 's'])),
      ...drawnConditions(emailKeys, one, below),
      ...drawnConditions(emailKeys, one, below)
    })
  ])()
}

function drawnFilter (emailKeys: readonly string[], one: One, below: Below): UserFilter {
  const filter = drawnMatches(emailKeys, one, below)
  return below(3) === 0 ? { ...filter, tenant: one(['acme', 'beta', 'none']) } : filter
}

function drawnPage (one: One, below: Below): UserPageRequest {
  const part = { order: one(['asc', 'desc'] as const), limit: 1 + below(5) }
  const offset = { offset: below(6) }
  if (below(2) === 0) return { ...part, from: one([offset, { after: userId(below) }]) }
  const sort = one(SORTS)
  const keys = PLACES.filter((value) => typeof value === 'string')
  const ofText = sort === 'updatedAt' ? [timeOf(below(60))] : keys
  const values = typeof sort === 'string' ? ofText : [null, ...PLACES]
  return { ...part, sort, from: one([offset, { behind: { value: one(values), id: userId(below) } }]) }
}

/** Draws a list of users: some of all, in any order, and any part of them. */
export function drawnList (emailKeys: readonly string[], one: One, below: Below): [UserFilter, UserPageRequest] {
  return [drawnFilter(emailKeys, one, below), drawnPage(one, below)]
}
