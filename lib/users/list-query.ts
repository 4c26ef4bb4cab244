import { validationFailed } from '../core/errors.ts'
import { type Fault, type FaultReason, unknownParameters } from '../core/fault.ts'
import { USER_ID } from '../core/ids.ts'
import { EMAIL_MAX, SEARCH_MAX, SEARCH_MIN, SEARCH_WORDS_MAX } from '../core/limits.ts'
import { type PageSize, type Paging, pagingParameters, type PagingQuery, readPaging } from '../core/paging.ts'
import { flagParameter, type Parameter, parameterFaults, type Parameters } from '../core/parameters.ts'
import { checkEmail, hasAtMost, isStorable } from '../core/text.ts'
import { isLetterWord, searchedWords } from '../core/words.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import type { UserFilter, UserStatus } from '../storage/storage.ts'
import { isStatus, STATUSES } from './status.ts'
import type { FieldFilter, UserFields } from './types.ts'

function emailProblem (value: unknown): FaultReason | null {
  if (typeof value !== 'string') return { code: 'type', detail: 'must be a string' }
  const checked = checkEmail(value)
  return 'code' in checked ? checked : null
}

function searchProblem (value: unknown): FaultReason | null {
  if (typeof value !== 'string' || !isStorable(value)) {
    return { code: 'characters', detail: 'must be well-formed Unicode without NUL' }
  }
  if (!hasAtMost(value, SEARCH_MAX)) {
    return { code: 'too_long', detail: `must have at most ${SEARCH_MAX} characters` }
  }
  const [words = []] = searchedWords(value, false)
  if (words.length > SEARCH_WORDS_MAX) {
    return { code: 'too_long', detail: `must have at most ${SEARCH_WORDS_MAX} words` }
  }
  if (words.some(isLetterWord) || [...words.join('')].length >= SEARCH_MIN) return null
  return {
    code: 'too_short', detail: `must have at least ${SEARCH_MIN} letters or digits, or 1 letter of Han, Hangul or kana`
  }
}

const email: Parameter = {
  schema: {
    type: 'string',
    format: 'email',
    maxLength: EMAIL_MAX,
    description: 'Only the user with this address, whatever its case.'
  },
  problem: emailProblem
}

const q: Parameter = {
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: SEARCH_MAX,
    description: 'Only users with words that begin with each word of this, in any order, whatever their case and ' +
      'accents: words of the name, of the address, and of fields that are searched. At least ' +
      `${SEARCH_MIN} letters or digits; 1 letter is enough of Han, Hangul or kana.`
  },
  problem: searchProblem
}

const status: Parameter = {
  schema: { type: 'string', enum: STATUSES, description: 'Only users with this status.' },
  problem: (value) => isStatus(value) ? null : { code: 'choice', detail: `must be ${STATUSES.join(' or ')}` }
}

/** Declares the parameters of a list of users. `filters`: the filterable fields of the host's own. */
export function userListParameters (size: PageSize, filters: ReadonlyMap<string, Parameter>): Parameters {
  return { ...pagingParameters(size, USER_ID), email, q, status, ...Object.fromEntries(filters) }
}

const NO_PAGES: PageSize = { default: 1, max: 1 }

/** Parameters of a list that a walk over all users has not: it has no pages of the caller's. */
const PAGES = ['page', 'limit', 'after']

/** Declares the parameters that select users and their order, without pages. */
export function userSelectionParameters (filters: ReadonlyMap<string, Parameter>): Parameters {
  const all = Object.entries(userListParameters(NO_PAGES, filters))
  return Object.fromEntries(all.filter(([name]) => !PAGES.includes(name)))
}

/** The names of parameters that no filterable field may have: those of lists, and of exports beside them. */
export const LIST_PARAMETERS: readonly string[] =
  [...Object.keys(userListParameters(NO_PAGES, new Map())), 'format', 'columns']

/** Parameters of a list, in process and over HTTP, with the own fields that the option `fields.filterable` names. */
export type ListQuery<Fields = UserFields> = UserQuery & FieldFilter<Fields>

interface UserQuery extends PagingQuery {
  /** Only the user with this e-mail address, in any case. */
  email?: string
  /**
   * Only users with words that begin with each word of this, in any order and case, with or without accents: words of
   * the name, of the e-mail address, and of the fields that the option `fields.searchable` names. 2 to 254 characters;
   * 1 is enough of Han, Hangul or kana.
   */
  q?: string
  /** Only users with this status. */
  status?: UserStatus
}

/** A list's parameters after the check: complete and normalised. */
export interface CheckedListQuery extends Paging {
  filter: UserFilter
}

/** The parameters of a walk after the check. */
export type CheckedWalkQuery = Pick<CheckedListQuery, 'order' | 'filter'>

function filterOf (
  query: Readonly<Record<string, unknown>>,
  { filters, searchesNumbers }: ListedFields
): UserFilter {
  const { email, q, status } = query
  const checked = typeof email === 'string' ? checkEmail(email) : null
  const fields: Record<string, string | number | boolean> = {}
  for (const name of filters.keys()) {
    const value = Object.hasOwn(query, name) ? query[name] : undefined
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') fields[name] = value
  }
  return {
    emailKey: checked !== null && 'key' in checked ? checked.key : null,
    words: typeof q === 'string' ? searchedWords(q, searchesNumbers) : null,
    fields,
    ...(isStatus(status) && { status })
  }
}

/** What a list asks of the host's fields. */
export type ListedFields = Pick<FieldsSchema, 'filters' | 'searchesNumbers'>

/** Makes the check of list parameters, which fills in the defaults. */
export function listQueryCheck (size: PageSize, fields: ListedFields) {
  const declared = userListParameters(size, fields.filters)
  /** @throws UsersError `validation_failed` that names every faulty parameter, after those known before */
  return (query: Readonly<Record<string, unknown>>, priorFaults: readonly Fault[] = []): CheckedListQuery => {
    const faults = priorFaults.concat(parameterFaults(declared, query))
    const { limit, order, start } = readPaging(query, size, faults)
    if (faults.length > 0) throw validationFailed(faults)
    return { limit, order, start, filter: filterOf(query, fields) }
  }
}

/** Makes the check of the parameters of a walk over all users: those of a list without its pages. */
export function walkQueryCheck (fields: ListedFields) {
  const check = listQueryCheck(NO_PAGES, fields)
  return (query: Readonly<Record<string, unknown>>, priorFaults: readonly Fault[] = []): CheckedWalkQuery => {
    const { page, limit, after, ...rest } = query
    const refused = PAGES.filter((name) => Object.hasOwn(query, name))
    const { order, filter } = check(rest, [...priorFaults, ...unknownParameters(refused)])
    return { order, filter }
  }
}

/** Of a deletion, with the option `trash`. */
export const purgeParameter = flagParameter(
  'Delete the user for good, so that it can’t be restored; also one that is deleted already.'
)

/** Of a deletion. */
export const eraseParameter = flagParameter(
  'Take every value of the user out of its events, also if it is deleted already.'
)
