/** Lists of users in plain JavaScript, as the interface describes them: what a store gives is compared with these. */

import type {
  Page, UserFilter, UserPageRequest, UserPlace, UserRange, UserRecord, UserSort, UserValue, Words
} from '../../../lib/storage/storage.ts'
import type { UserRow } from './put.ts'

type Order = UserPageRequest['order']

const TYPES = ['boolean', 'number', 'string']

function fieldOf ({ fields }: UserRecord, name: string): UserValue | null {
  const value: unknown = Object.hasOwn(fields, name) ? fields[name] : null
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}

/** The place of a user in an order. Default: the order of ids. */
export function placeOf ({ record, keys }: UserRow, sort: UserSort | undefined): UserPlace {
  const { id, updatedAt } = record
  if (sort === undefined) return { id, value: null }
  if (typeof sort === 'string') return { id, value: { ...keys, updatedAt }[sort] }
  const value = fieldOf(record, sort.field)
  return { id, value: typeof value === 'string' ? Array.from(value).slice(0, 256).join('') : value }
}

/** Which of two values is less, as a number below or above 0. */
function compare (a: UserValue, b: UserValue): number {
  if (typeof a !== typeof b) return TYPES.indexOf(typeof a) - TYPES.indexOf(typeof b)
  return typeof a === 'string' ? Buffer.compare(Buffer.from(a), Buffer.from(String(b))) : Number(a) - Number(b)
}

function comparePlaces (a: UserPlace, b: UserPlace, order: Order): number {
  const lacks = Number(a.value === null) - Number(b.value === null)
  if (lacks !== 0) return lacks
  const byValue = a.value === null || b.value === null ? 0 : compare(a.value, b.value)
  const ascending = byValue === 0 ? Number(a.id > b.id) - Number(a.id < b.id) : byValue
  return order === 'asc' ? ascending : -ascending
}

function isWithin (record: UserRecord, { of, gte, gt, lte, lt }: UserRange): boolean {
  const value = typeof of === 'string' ? record[of] : fieldOf(record, of.field)
  const holds = (bound: UserValue | undefined, isRight: (difference: number) => boolean) => bound === undefined ||
    (value !== null && typeof value === typeof bound && isRight(compare(value, bound)))
  return holds(gte, (difference) => difference >= 0) && holds(gt, (difference) => difference > 0) &&
    holds(lte, (difference) => difference <= 0) && holds(lt, (difference) => difference < 0)
}

function hasWords ({ keys: { nameWords = [], emailWords = [], fieldWords = [] } }: UserRow, words: Words): boolean {
  const all = [...nameWords, ...emailWords, ...fieldWords]
  return words.every((beginning) => all.some((word) => word.startsWith(beginning)))
}

function matches (row: UserRow, filter: UserFilter): boolean {
  const { record, keys } = row
  const { emailKey, words, fields, status, tenant, ids, emailKeys, anyOf = {}, exists = {}, ranges = [] } = filter
  return (emailKey === null || keys.emailKey === emailKey) &&
    (words === null || words.some((each) => hasWords(row, each))) &&
    Object.entries(fields).every(([name, value]) => fieldOf(record, name) === value) &&
    (status === undefined || record.status === status) &&
    (tenant === undefined || record.tenant === tenant) &&
    (ids === undefined || ids.includes(record.id)) &&
    (emailKeys === undefined || emailKeys.includes(keys.emailKey)) &&
    Object.entries(anyOf).every(([name, values]) => values.some((value) => fieldOf(record, name) === value)) &&
    Object.entries(exists).every(([name, is]) => is === (fieldOf(record, name) !== null)) &&
    ranges.every((range) => isWithin(record, range))
}

/** The users that match, in an order. */
export function plainWalk (
  rows: readonly UserRow[], filter: UserFilter, order: Order, sort?: UserSort
): Array<{ record: UserRecord, place: UserPlace }> {
  return rows.filter((row) => matches(row, filter)).map((row) => ({ record: row.record, place: placeOf(row, sort) }))
    .sort((a, b) => comparePlaces(a.place, b.place, order))
}

/** A page of them. */
export function plainList (rows: readonly UserRow[], filter: UserFilter, page: UserPageRequest): Page<UserRecord> {
  const { order, limit, sort, from } = page
  const all = plainWalk(rows, filter, order, sort)
  const start = 'behind' in from ? from.behind : 'after' in from ? { value: null, id: from.after } : null
  const rest = start === null ? all : all.filter(({ place }) => comparePlaces(place, start, order) > 0)
  const first = 'offset' in from ? from.offset : 0
  return { items: rest.slice(first, first + limit).map(({ record }) => record), total: all.length }
}
