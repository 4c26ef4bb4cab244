import { type Fault, validationFailed } from '../errors.ts'
import { isUserId } from '../ids.ts'
import type { UserFilter } from '../storage.ts'
import { isStorable } from '../text.ts'
import { judgeEmail, searchKey } from './rules.ts'

const PAGE_MAX = 1_000_000_000
const QUERY_MIN = 2

/** Parameters of a list, in process as over HTTP. */
export interface ListQuery {
  /** 1 to 1,000,000,000; 1 by default. Not together with `after`. */
  page?: number
  /** 1 to the host's maximum; the host's default by default. */
  limit?: number
  /** `createdAt` (oldest first, the default) or `-createdAt`. */
  sort?: 'createdAt' | '-createdAt'
  /** Only the user with this e-mail address, whatever its case. */
  email?: string
  /** Only users whose name or e-mail address begins with this, whatever its case: 2 characters or more. */
  q?: string
  /** Walk by key: the users behind this id. */
  after?: string
}

/** A list's parameters after the check: complete and normalised. */
export interface CheckedListQuery {
  limit: number
  order: 'asc' | 'desc'
  filter: UserFilter
  start: { page: number } | { after: string }
}

/** The host's bounds on `limit`. */
export interface Limits {
  default: number
  max: number
}

/** The faults of parameters that there are none of. */
export function unknownParameters (names: readonly string[]): Fault[] {
  return names.map((parameter) => ({ parameter, code: 'unknown', detail: 'is not a known parameter' }))
}

const NAMES = new Set(['page', 'limit', 'sort', 'email', 'q', 'after'])

function isIntegerUpTo (value: unknown, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max
}

/**
 * Checks the parameters of a list and fills in the defaults. `found`: faults that are known already.
 * @throws UsersError `validation_failed` that names every faulty parameter
 */
export function checkListQuery (query: Readonly<Record<string, unknown>>, limits: Limits, found: readonly Fault[] = []): CheckedListQuery {
  const faults: Fault[] = [...found, ...unknownParameters(Object.keys(query).filter((parameter) => !NAMES.has(parameter)))]
  const fault = (parameter: string, code: string, detail: string) => { faults.push({ parameter, code, detail }) }
  const { page = 1, limit = limits.default, sort = 'createdAt', email, q, after } = query
  const filter: UserFilter = { emailKey: null, prefix: null }

  if (!isIntegerUpTo(page, PAGE_MAX)) fault('page', 'range', `must be a whole number from 1 to ${PAGE_MAX}`)
  if (!isIntegerUpTo(limit, limits.max)) fault('limit', 'range', `must be a whole number from 1 to ${limits.max}`)
  if (sort !== 'createdAt' && sort !== '-createdAt') fault('sort', 'choice', 'must be createdAt or -createdAt')
  if (email !== undefined) {
    const judged = typeof email === 'string' ? judgeEmail(email) : { code: 'type', detail: 'must be a string' }
    if ('key' in judged) filter.emailKey = judged.key
    else fault('email', judged.code, judged.detail)
  }
  if (q !== undefined) {
    if (typeof q !== 'string' || !isStorable(q)) fault('q', 'characters', 'must be well-formed Unicode without NUL')
    else {
      filter.prefix = searchKey(q)
      if ([...q.normalize('NFC')].length < QUERY_MIN) fault('q', 'too_short', `must have at least ${QUERY_MIN} characters`)
    }
  }
  if (after !== undefined) {
    if (!isUserId(after)) fault('after', 'format', 'must be the id of a user')
    if (query.page !== undefined) fault('after', 'exclusive', 'can not be used together with page')
  }
  if (faults.length > 0) throw validationFailed(faults)
  return {
    limit: Number(limit),
    order: sort === '-createdAt' ? 'desc' : 'asc',
    filter,
    start: isUserId(after) ? { after } : { page: Number(page) }
  }
}
