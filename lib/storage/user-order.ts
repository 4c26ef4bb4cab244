/** The orders of lists of users, and conditions on them, for stores that decide them in JavaScript. */

import type { UserKeys, UserRecord } from './records.ts'
import type {
  SortedPageRequest, UserConditions, UserPlace, UserRange, UserSort, UserValue
} from './user-selection.ts'

/** How many code points of a text count in an order. */
export const SORT_LENGTH = 256

/** What is ordered: a user with its keys. */
export interface OrderedUser {
  user: UserRecord
  keys: UserKeys
}

function valueIn ({ fields }: Pick<UserRecord, 'fields'>, name: string): UserValue | null {
  const value = Object.hasOwn(fields, name) ? fields[name] : null
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}

/** The beginning of a text that counts in an order. */
function beginning (text: string): string {
  return text.length <= SORT_LENGTH ? text : [...text].slice(0, SORT_LENGTH).join('')
}

/** The value that a user has in an order; null: none. */
export function sortValue ({ user, keys }: OrderedUser, sort: UserSort): UserValue | null {
  if (sort === 'updatedAt') return user.updatedAt
  if (typeof sort === 'string') return keys[sort]
  const value = valueIn(user, sort.field)
  return typeof value === 'string' ? beginning(value) : value
}

const OUTSIDE = /[\ud800-\uffff]/
const number = new DataView(new ArrayBuffer(8))

/** JavaScript compares UTF-16 units, so that surrogates come before U+E000: they change places. */
function byCodePoint (text: string): string {
  if (!OUTSIDE.test(text)) return text
  return text.replaceAll(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0)
    return String.fromCharCode(code < 0xe000 ? code + 0x2000 : code - 0x800)
  })
}

/** The bits of a number as text that sorts as numbers do. */
function byNumber (value: number): string {
  // There is no -0 in JSON.
  number.setFloat64(0, value + 0)
  const bits = number.getBigUint64(0)
  const sorted = bits >> 63n === 1n ? ~bits & 0xffff_ffff_ffff_ffffn : bits | 1n << 63n
  return sorted.toString(16).padStart(16, '0')
}

/** A text for a value. Compared as JavaScript compares texts, such texts have the order of their values. */
export function sortKey (value: UserValue): string {
  switch (typeof value) {
    case 'boolean': return value ? 'b1' : 'b0'
    case 'number': return `n${byNumber(value)}`
    default: return `t${byCodePoint(value)}`
  }
}

/** The text of a place. It sorts places with a value; NUL is in no text. */
export function placeKey ({ value, id }: UserPlace): string {
  return value === null ? id : `${sortKey(value)}\0${id}`
}

/** The users of a page in an order, of all that match. For lists that are short, or stores that need not be fast. */
export function sortedPage<Item extends OrderedUser> (
  items: Iterable<Item>,
  { order, limit, from, sort }: SortedPageRequest
): Item[] {
  const sign = order === 'asc' ? 1 : -1
  const places = Array.from(items, (item) => {
    const value = sortValue(item, sort)
    return { item, isLast: value === null, key: placeKey({ value, id: item.user.id }) }
  })
  places.sort((a, b) => a.isLast === b.isLast ? (a.key < b.key ? -sign : sign) : a.isLast ? 1 : -1)
  const last = 'behind' in from ? { isLast: from.behind.value === null, key: placeKey(from.behind) } : null
  const isBehind = ({ isLast, key }: { isLast: boolean, key: string }): boolean => {
    if (last === null) return true
    if (isLast !== last.isLast) return isLast
    return order === 'asc' ? key > last.key : key < last.key
  }
  const start = 'offset' in from ? from.offset : 0
  return places.filter(isBehind).slice(start, start + limit).map(({ item }) => item)
}

function isWithin (value: UserValue | null, { gte, gt, lte, lt }: UserRange): boolean {
  const bounds = [gte, gt, lte, lt].filter((bound) => bound !== undefined)
  if (value === null || bounds.some((bound) => typeof bound !== typeof value)) return false
  const key = sortKey(value)
  return (gte === undefined || key >= sortKey(gte)) && (gt === undefined || key > sortKey(gt)) &&
    (lte === undefined || key <= sortKey(lte)) && (lt === undefined || key < sortKey(lt))
}

/** True if a user meets the conditions. */
export function meets (
  { user, keys }: OrderedUser, { ids, emailKeys, anyOf, exists, ranges }: UserConditions
): boolean {
  return (ids === undefined || ids.includes(user.id)) &&
    (emailKeys === undefined || emailKeys.includes(keys.emailKey)) &&
    Object.entries(anyOf ?? {}).every(([name, values]) => values.some((value) => value === valueIn(user, name))) &&
    Object.entries(exists ?? {}).every(([name, is]) => (valueIn(user, name) !== null) === is) &&
    (ranges ?? []).every((range) =>
      isWithin(typeof range.of === 'string' ? user[range.of] : valueIn(user, range.of.field), range))
}
