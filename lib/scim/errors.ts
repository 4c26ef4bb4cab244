import type { ErrorCode } from '../core/error-table.ts'
import { UsersError } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'

/** What kind of error it is (RFC 7644 section 3.12, table 9). */
const SCIM_TYPES = [
  'invalidFilter', 'tooMany', 'uniqueness', 'mutability', 'invalidSyntax', 'invalidPath', 'noTarget', 'invalidValue',
  'invalidCursor'
] as const
export type ScimType = typeof SCIM_TYPES[number]

const TYPES: Partial<Record<ErrorCode, ScimType>> = {
  email_taken: 'uniqueness',
  field_taken: 'uniqueness',
  name_taken: 'uniqueness',
  malformed_json: 'invalidSyntax',
  validation_failed: 'invalidValue'
}

export const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error'

/** An error of a request, with the word that SCIM has for it. */
export const scimError = (scimType: ScimType, detail: string): UsersError =>
  new UsersError('validation_failed', { detail, errors: [{ code: scimType, detail }] })

/** Operations of one request. */
export const OPERATIONS_MAX = 1000

/** RFC 7644 section 3.7.4. */
export const tooManyOperations = (): UsersError =>
  new UsersError('body_too_large', { detail: `There are more than ${OPERATIONS_MAX} operations (maxOperations).` })

/** What clients call members of ours. */
const NAMES = new Map([
  ['email', 'The address (userName or emails)'], ['name', 'displayName'], ['status', 'active'], ['add', 'members']
])

function placeOf ({ pointer, parameter, header }: Fault): string {
  const [member = ''] = pointer === undefined ? [] : pointer.slice(1).split('/')
  return NAMES.get(member) ?? (pointer === undefined ? parameter ?? header ?? '' : member)
}

/** The body of an error (RFC 7644 section 3.12). */
export function errorBody (
  { code, status, detail, errors = [] }: { code: ErrorCode, status: number, detail: string, errors?: readonly Fault[] }
): object {
  const own = SCIM_TYPES.find((type) => errors.some((fault) => fault.code === type))
  const scimType = own ?? TYPES[code]
  // What a client has sent is named by the members of users: their names tell which attribute it is.
  const faults = own === undefined && (code === 'validation_failed' || code === 'field_taken')
    ? errors.map((fault) => `${placeOf(fault)} ${fault.detail}`.trim()).join('; ')
    : ''
  return {
    schemas: [ERROR_SCHEMA],
    status: String(status),
    ...(scimType !== undefined && { scimType }),
    detail: faults === '' ? detail : faults
  }
}
