import { type Fault, validationFailed } from '../errors.ts'
import type { FilterKind } from '../fields/schema.ts'
import { isUserId } from '../ids.ts'
import { judgePaging, type Limits, type Paging, PAGING_NAMES, type PagingQuery, unknownParameters } from '../paging.ts'
import type { UserFilter } from '../storage.ts'
import { isStorable } from '../text.ts'
import { judgeEmail, searchKey } from './rules.ts'
import type { FieldFilter, UserFields } from './types.ts'

export const QUERY_MIN = 2
const NAMES = new Set([...PAGING_NAMES, 'email', 'q'])

/** Parameters of a list, in process as over HTTP; fields of the host's own too, where it named them with the option `filterable`. */
export type ListQuery<Fields = UserFields> = UserQuery & FieldFilter<Fields>

interface UserQuery extends PagingQuery {
  /** Only the user with this e-mail address, whatever its case. */
  email?: string
  /** Only users whose name or e-mail address begins with this, whatever its case: 2 characters or more. */
  q?: string
}

/** A list's parameters after the check: complete and normalised. */
export interface CheckedListQuery extends Paging {
  filter: UserFilter
}

const KINDS = {
  string: { is: (value: unknown): value is string => typeof value === 'string' && isStorable(value), detail: 'must be well-formed Unicode without NUL' },
  number: { is: (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value), detail: 'must be a number' },
  boolean: { is: (value: unknown): value is boolean => typeof value === 'boolean', detail: 'must be true or false' }
}

/**
 * Checks the parameters of a list and fills in the defaults. `found`: faults that are known already.
 * @throws UsersError `validation_failed` that names every faulty parameter
 */
export function checkListQuery (query: Readonly<Record<string, unknown>>, limits: Limits, filters: ReadonlyMap<string, FilterKind>, found: readonly Fault[] = []): CheckedListQuery {
  const faults: Fault[] = [...found, ...unknownParameters(Object.keys(query).filter((parameter) => !NAMES.has(parameter) && !filters.has(parameter)))]
  const { limit, order, start } = judgePaging(query, limits, isUserId, faults)
  const fault = (parameter: string, code: string, detail: string) => { faults.push({ parameter, code, detail }) }
  const { email, q } = query
  const wanted: Record<string, string | number | boolean> = {}
  for (const [name, kind] of filters) {
    const value = Object.hasOwn(query, name) ? query[name] : undefined
    if (value === undefined) continue
    const { is, detail } = KINDS[kind]
    if (is(value)) wanted[name] = value
    else fault(name, 'type', detail)
  }
  const filter: UserFilter = { emailKey: null, prefix: null, fields: wanted }
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
  if (faults.length > 0) throw validationFailed(faults)
  return { limit, order, start, filter }
}
