import { createHash } from 'node:crypto'
import type { Fault, FaultReason } from '../core/fault.ts'
import { isUserId } from '../core/ids.ts'
import { isObject } from '../core/json.ts'
import { readMoment } from '../core/moments.ts'
import { choiceParameter, type Parameter } from '../core/parameters.ts'
import { searchKey } from '../core/search-key.ts'
import { emailKeyOf, hasAtMost, isStorable } from '../core/text.ts'
import { SORT_LENGTH, sortValue } from '../storage/user-order.ts'
import type { UserFilter, UserPlace, UserRecord, UserSort } from '../storage/storage.ts'

/** The order of creation, which is that of ids. */
const CREATION = 'createdAt'

const SORTS = { updatedAt: 'updatedAt', name: 'nameKey', email: 'emailKey' } as const

/** An order of users, as a client names it. */
export interface UserOrder {
  /** Such as `-name`. */
  name: string
  order: 'asc' | 'desc'
  /** Undefined: the order of creation. */
  sort: UserSort | undefined
}

/** Declares the order of a list. `filters`: the fields that lists are filtered by. */
export function sortParameter (filters: ReadonlyMap<string, Parameter>): Parameter {
  const names = [CREATION, ...Object.keys(SORTS), ...filters.keys()]
  return choiceParameter(names.flatMap((name) => [name, `-${name}`]), 'What to sort by: creation, last change, ' +
    'name (ignoring case and accents), address, or a field. A leading `-` means descending. Users with the same ' +
    'value are in creation order, and users without a value come last.')
}

/** Declares where a walk in an order continues. */
export const cursorParameter: Parameter = {
  schema: {
    type: 'string',
    description: 'Continues a list in any order except `createdAt`; taken from its `Link`. Not together with ' +
      '`page` or `after`.'
  },
  problem: (value) => typeof value === 'string' ? null : { code: 'type', detail: 'must be a string' }
}

/** Reads an order. One that is none has a fault already, and counts as that of creation. */
export function readOrder (sort: unknown, filters: ReadonlyMap<string, Parameter>): UserOrder {
  const name = typeof sort === 'string' ? sort : CREATION
  const [order, key] = name.startsWith('-') ? ['desc' as const, name.slice(1)] : ['asc' as const, name]
  if (key === 'name' || key === 'email' || key === 'updatedAt') return { name, order, sort: SORTS[key] }
  return { name, order, sort: filters.has(key) ? { field: key } : undefined }
}

/** The place of a user in an order. */
export function placeOf (user: UserRecord, sort: UserSort): UserPlace {
  // What they are stored with is made of them in the same way.
  const keys = { nameKey: searchKey(user.name), emailKey: emailKeyOf(user.email) }
  return { value: sortValue({ user, keys }, sort), id: user.id }
}

/** A short text that tells lists apart: by their filters and the tenant that they are of. */
export function listDigest (filter: UserFilter): string {
  return createHash('sha256').update(JSON.stringify(filter)).digest('base64url').slice(0, 12)
}

/** The order of a walk, and the digest of its list. */
export interface Walk extends Pick<UserOrder, 'name'> {
  list: string
}

/** The text by which a walk continues behind a place. */
export function cursorOf ({ name, list }: Walk, { value, id }: UserPlace): string {
  return Buffer.from(JSON.stringify({ sort: name, list, value, id })).toString('base64url')
}

/** In the order of creation, the id alone says the place. */
function hasValue (value: unknown, sort: UserSort | undefined): value is UserPlace['value'] {
  if (sort === undefined) return value === null
  if (typeof value === 'string') {
    if (!isStorable(value) || !hasAtMost(value, SORT_LENGTH)) return false
    const time = sort === 'updatedAt' ? readMoment(value) : null
    return sort !== 'updatedAt' || (time !== null && new Date(time).toISOString() === value)
  }
  return typeof sort !== 'string' && (value === null || typeof value === 'number' || typeof value === 'boolean')
}

/** The place that a cursor of this order holds, and the digest of its list; null: it is none. */
function readCursor (text: string, { name, order, sort }: UserOrder): { place: UserPlace, list: string } | null {
  if (sort === undefined && order === 'asc') return null
  try {
    const read: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (!isObject(read)) return null
    const { list, value, id } = read
    if (typeof list !== 'string' || typeof id !== 'string' || !isUserId(id) || !hasValue(value, sort)) return null
    // As it is written here, and by nobody else: of this order, and without anything more.
    return cursorOf({ name, list }, { value, id }) === text ? { place: { value, id }, list } : null
  } catch {
    return null
  }
}

/** A cursor that continues no list in this order, or another list. */
export const NO_CURSOR: FaultReason = {
  code: 'format',
  detail: 'must be a cursor from a Link of this list, with the same filters and the same order (not sort=createdAt)'
}

/** Where a list begins, in an order other than that of creation too. */
export type UserStart = { page: number } | { after: string } | { cursor: string, place: UserPlace, list: string }

/** Reads where a list begins, and adds what is wrong with it to `faults`. */
export function readStart (query: Readonly<Record<string, unknown>>, order: UserOrder, faults: Fault[]): UserStart {
  const { page, after, cursor } = query
  const exclusive = (parameter: string, other: string) =>
    faults.push({ parameter, code: 'exclusive', detail: `cannot be used together with ${other}` })
  if (after !== undefined && page !== undefined) exclusive('after', 'page')
  if (cursor !== undefined && page !== undefined) exclusive('cursor', 'page')
  if (cursor !== undefined && after !== undefined) exclusive('cursor', 'after')
  if (after !== undefined && order.sort !== undefined) {
    faults.push({ parameter: 'after', code: 'exclusive', detail: 'follows creation order: with sort, use cursor' })
  }
  if (typeof cursor === 'string') {
    const read = readCursor(cursor, order)
    if (read === null) faults.push({ parameter: 'cursor', ...NO_CURSOR })
    else return { cursor, ...read }
  }
  return typeof after === 'string' ? { after } : { page: Number(page ?? 1) }
}
