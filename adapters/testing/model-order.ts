import type {
  Page, SortedPageRequest, UserConditions, UserKeys, UserPlace, UserRange, UserRecord, UserSort
} from '../../lib/storage/storage.ts'
import { keysOf } from './user-keys.ts'

type Entry = { user: UserRecord, keys: UserKeys }
type Value = UserPlace['value']

const TYPES = ['boolean', 'number', 'string']

function fieldOf (user: UserRecord, name: string): Value {
  const value: unknown = Object.hasOwn(user.fields, name) ? user.fields[name] : null
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}

/** The place of a user in an order. */
export function placeIn (user: UserRecord, keys: UserKeys, sort: UserSort): UserPlace {
  const { id, updatedAt } = user
  if (typeof sort === 'string') return { id, value: { ...keys, updatedAt }[sort] }
  const value = fieldOf(user, sort.field)
  return { id, value: typeof value === 'string' ? Array.from(value).slice(0, 256).join('') : value }
}

/** Which of two values is less, as a number below or above 0. */
function compare (a: NonNullable<Value>, b: NonNullable<Value>): number {
  if (typeof a !== typeof b) return TYPES.indexOf(typeof a) - TYPES.indexOf(typeof b)
  return typeof a === 'string' ? Buffer.compare(Buffer.from(a), Buffer.from(String(b))) : Number(a) - Number(b)
}

function comparePlaces (a: UserPlace, b: UserPlace, order: 'asc' | 'desc'): number {
  if (a.value === null || b.value === null) {
    const lacks = Number(a.value === null) - Number(b.value === null)
    if (lacks !== 0) return lacks
  }
  const byValue = a.value === null || b.value === null ? 0 : compare(a.value, b.value)
  const ascending = byValue === 0 ? Number(a.id > b.id) - Number(a.id < b.id) : byValue
  return order === 'asc' ? ascending : -ascending
}

/** A part of a list in an order. */
export function pageInOrder (all: readonly Entry[], { order, limit, from, sort }: SortedPageRequest): Page<UserRecord> {
  const placed = all.map(({ user, keys }) => ({ user, place: placeIn(user, keys, sort) }))
    .sort((a, b) => comparePlaces(a.place, b.place, order))
  const rest = 'offset' in from
    ? placed.slice(from.offset)
    : placed.filter(({ place }) => comparePlaces(place, from.behind, order) > 0)
  return { items: structuredClone(rest.slice(0, limit).map(({ user }) => user)), total: all.length }
}

function isWithin (user: UserRecord, { of, gte, gt, lte, lt }: UserRange): boolean {
  const value = typeof of === 'string' ? user[of] : fieldOf(user, of.field)
  const follows = (bound: string | number | undefined, holds: (difference: number) => boolean) =>
    bound === undefined || (value !== null && typeof value === typeof bound && holds(compare(value, bound)))
  return follows(gte, (difference) => difference >= 0) && follows(gt, (difference) => difference > 0) &&
    follows(lte, (difference) => difference <= 0) && follows(lt, (difference) => difference < 0)
}

/** True if a user meets the conditions. */
export function meetsAll (
  user: UserRecord,
  { ids, emailKeys, anyOf = {}, exists = {}, ranges = [] }: UserConditions
): boolean {
  return (ids === undefined || ids.includes(user.id)) &&
    (emailKeys === undefined || emailKeys.includes(keysOf(user).emailKey)) &&
    Object.entries(anyOf).every(([name, values]) => values.some((value) => fieldOf(user, name) === value)) &&
    Object.entries(exists).every(([name, is]) => is === (fieldOf(user, name) !== null)) &&
    ranges.every((range) => isWithin(user, range))
}
