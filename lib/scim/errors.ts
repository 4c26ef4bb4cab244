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

export const tooManyOperations = (): UsersError =>
  scimError('tooMany', `There are more than ${OPERATIONS_MAX} operations.`)

const placeOf = ({ pointer, parameter, header }: Fault): string => pointer ?? parameter ?? header ?? ''

/** The body of an error (RFC 7644 section 3.12). */
export function errorBody (
  { code, status, detail, errors = [] }: { code: ErrorCode, status: number, detail: string, errors?: readonly Fault[] }
): object {
  const own = SCIM_TYPES.find((type) => errors.some((fault) => fault.code === type))
  const scimType = own ?? TYPES[code]
  // What a client has sent is named by the members of users: their names tell which attribute it is.
  const faults = own === undefined && code === 'validation_failed'
    ? errors.map((fault) => `${placeOf(fault)} ${fault.detail}`.trim()).join('; ')
    : ''
  return {
    schemas: [ERROR_SCHEMA],
    status: String(status),
    ...(scimType !== undefined && { scimType }),
    detail: faults === '' ? detail : faults
  }
}
