import type { ReadCall } from '../core/context.ts'
import { validationFailed } from '../core/errors.ts'
import { type FaultReason, unknownParameters } from '../core/fault.ts'
import { GROUP_ID, USER_ID } from '../core/ids.ts'
import { EMAIL_MAX } from '../core/limits.ts'
import { type PageSize, pagingParameters, type PagingQuery } from '../core/paging.ts'
import {
  flagParameter, idParameter, type Parameter, parameterFaults, type Parameters, searchParameter, wordParameter
} from '../core/parameters.ts'
import { checkEmail } from '../core/text.ts'
import { searchedWords } from '../core/words.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import type { UserFilter, UserStatus } from '../storage/storage.ts'
import { withFolded } from './folded-filters.ts'
import {
  conditionParameters, emailsParameter, hasConditions, idsParameter, readConditions, withKnownFilters
} from './list-filters.ts'
import {
  cursorParameter, listDigest, NO_CURSOR, readOrder, readStart, sortParameter, type UserOrder, type UserStart
} from './list-order.ts'
import { isStatus, STATUSES } from './status.ts'
import type { Bounds, FieldConditions, FieldFilter, UserFields } from './types.ts'

function emailProblem (value: unknown): FaultReason | null {
  if (typeof value !== 'string') return { code: 'type', detail: 'must be a string' }
  const checked = checkEmail(value)
  return 'code' in checked ? checked : null
}

const email: Parameter = {
  schema: {
    type: 'string',
    format: 'email',
    maxLength: EMAIL_MAX,
    description: 'Only the user with this address. Case is ignored.'
  },
  problem: emailProblem
}

const q = searchParameter('Only users for whom each word given here begins a word of the name, the address or a ' +
  'searchable field. Order, case and accents do not matter.')

const status = wordParameter(STATUSES, 'Only users with this status.')

const group = idParameter(GROUP_ID, 'Only members of this group. Needs the scope `groups:read` too.')

/**
 * Declares the parameters of a list of users. `filters`: the filterable fields of the host's own. `hasGroups`: users
 * can be in groups.
 */
export function userListParameters (
  size: PageSize, filters: ReadonlyMap<string, Parameter>, hasGroups: boolean
): Parameters {
  const { page, limit, after } = pagingParameters(size, USER_ID)
  return {
    page,
    limit,
    sort: sortParameter(filters),
    after,
    cursor: cursorParameter,
    email,
    q,
    status,
    ids: idsParameter,
    ...hasGroups && { group },
    'email[in]': emailsParameter(emailProblem),
    ...Object.fromEntries(filters),
    ...conditionParameters(filters)
  }
}

const NO_PAGES: PageSize = { default: 1, max: 1 }

/** Parameters of a list that a walk over all users has not: it has no pages of the caller's. */
const PAGES = ['page', 'limit', 'after', 'cursor']

/** Declares the parameters that select users and their order, without pages. */
export function userSelectionParameters (filters: ReadonlyMap<string, Parameter>, hasGroups: boolean): Parameters {
  const all = Object.entries(userListParameters(NO_PAGES, filters, hasGroups))
  return Object.fromEntries(all.filter(([name]) => !PAGES.includes(name)))
}

/** The names of parameters that no filterable field may have: those of lists, and of exports beside them. */
export const LIST_PARAMETERS: readonly string[] =
  [...Object.keys(userListParameters(NO_PAGES, new Map(), true)), 'format', 'columns', 'select']

/** Which users, and in which order, in process and over HTTP; with the fields of the option `fields.filterable`. */
export type SelectionQuery<Fields = UserFields> = UserSelection & FieldFilter<Fields> & FieldConditions<Fields> & {
  /** With `-` in descending order. Users with the same value are in the order of creation. By default `createdAt`. */
  sort?: Turned<'createdAt' | 'updatedAt' | 'name' | 'email' | (keyof FieldFilter<Fields> & string)>
}

type Turned<Name extends string> = Name | `-${Name}`

/** Parameters of a list, in process and over HTTP. */
export type ListQuery<Fields = UserFields> = SelectionQuery<Fields> & Omit<PagingQuery, 'sort'> & {
  /** Continues a list in any order except `createdAt`; taken from its `Link`. Not together with `page` or `after`. */
  cursor?: string
}

interface UserSelection extends Bounds<'createdAt' | 'updatedAt', string> {
  /** Only the user with this e-mail address. Case is ignored. */
  email?: string
  /** Only users with these e-mail addresses, at most 100. Case is ignored. */
  'email[in]'?: readonly string[]
  /**
   * Only users for whom each word given here begins a word of the name, the e-mail address or a field that the option
   * `fields.searchable` names. Order, case and accents do not matter. 2 to 254 characters;
   * 1 of Han, Hangul or kana is enough.
   */
  q?: string
  /** Only users with this status. */
  status?: UserStatus
  /** Only users with these ids, at most 100: in this order, unless `sort` is given. */
  ids?: readonly string[]
  /** Only members of the group with this id, with the option `groups`. */
  group?: string
}

/** A list's parameters after the check: complete and normalised. */
export interface CheckedListQuery extends CheckedWalkQuery {
  limit: number
  start: UserStart
  /** Tells the list from those with other filters, or of another tenant. */
  list: () => string
}

/** The parameters of a walk after the check. */
export interface CheckedWalkQuery extends UserOrder {
  filter: UserFilter
  /** The ids in the order that was asked for; null: the list has another one. */
  asked: readonly string[] | null
}

function filterOf (
  query: Readonly<Record<string, unknown>>,
  { filters, folded, searchesNumbers }: ListedFields
): UserFilter {
  const { email, q, status, group } = query
  const checked = typeof email === 'string' ? checkEmail(email) : null
  const fields: Record<string, string | number | boolean> = {}
  for (const name of filters.keys()) {
    const value = Object.hasOwn(query, name) ? query[name] : undefined
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') fields[name] = value
  }
  const filter: UserFilter = {
    emailKey: checked !== null && 'key' in checked ? checked.key : null,
    words: typeof q === 'string' ? searchedWords(q, searchesNumbers) : null,
    fields,
    ...(isStatus(status) && { status }),
    ...(typeof group === 'string' && { group })
  }
  const all = hasConditions(query) ? { ...filter, ...readConditions(query, filters) } : filter
  return folded.size === 0 ? all : withFolded(all, folded)
}

/** What a list asks of the host's fields. */
export type ListedFields = Pick<FieldsSchema, 'properties' | 'filters' | 'folded' | 'searchesNumbers'>

/** Makes the check of list parameters, which fills in the defaults. */
export function listQueryCheck (size: PageSize, fields: ListedFields, hasGroups: boolean) {
  const declared = userListParameters(size, fields.filters, hasGroups)
  /** @throws UsersError `validation_failed` that names every faulty parameter, after those known before */
  return (
    query: Readonly<Record<string, unknown>>, { priorFaults = [], tenant }: ReadCall = {}
  ): CheckedListQuery => {
    const faults = priorFaults.concat(withKnownFilters(parameterFaults(declared, query), declared, fields.properties))
    const inOrder = readOrder(query['sort'], fields.filters)
    const start = readStart(query, inOrder, faults)
    const { ids, limit = size.default } = query
    const isAsked = query['sort'] === undefined
    if (ids !== undefined && isAsked && 'after' in start) {
      faults.push({ parameter: 'after', code: 'exclusive', detail: 'can be used together with ids only with sort' })
    }
    if (faults.length > 0) throw validationFailed(faults)
    const asked = filterOf(query, fields)
    const filter = tenant === undefined ? asked : { ...asked, tenant }
    const list = () => listDigest(filter)
    if ('list' in start && start.list !== list()) throw validationFailed([{ parameter: 'cursor', ...NO_CURSOR }])
    const { name, order, sort } = inOrder
    const idsAsked = isAsked ? filter.ids ?? null : null
    // A literal: a spread with more members costs 2 µs.
    return { name, order, sort, limit: Number(limit), start, filter, list, asked: idsAsked }
  }
}

/** Makes the check of the parameters of a walk over all users: those of a list without its pages. */
export function walkQueryCheck (fields: ListedFields, hasGroups: boolean) {
  const check = listQueryCheck(NO_PAGES, fields, hasGroups)
  return (query: Readonly<Record<string, unknown>>, { priorFaults = [], tenant }: ReadCall = {}): CheckedWalkQuery => {
    const { page, limit, after, cursor, ...rest } = query
    const refused = PAGES.filter((name) => Object.hasOwn(query, name))
    return check(rest, { priorFaults: [...priorFaults, ...unknownParameters(refused)], tenant })
  }
}

/** Of a deletion, with the option `trash`. */
export const purgeParameter = flagParameter(
  'Delete the user permanently, without a way to restore. Works on a deleted user too.'
)

/** Of a deletion. */
export const eraseParameter = flagParameter(
  'Delete permanently, and erase the user’s values from the event log. Works on a deleted user too.'
)
