import type { Static } from '@sinclair/typebox'
import { Type } from '../typebox.ts'
import { isOnCalendar } from '../dates.ts'
import { type Fault, validationFailed } from '../errors.ts'
import { compileReader } from '../faults.ts'
import { isApiKeyId } from '../ids.ts'
import { judgePaging, type Limits, type Paging, PAGING_NAMES, unknownParameters } from '../paging.ts'
import { judgeName } from '../users/rules.ts'
import { earlier, type Grant, requireExpiry, requireScopes, within } from './grant.ts'
import { DEFAULT_SCOPES, isScope, type Scope, SCOPES } from './scopes.ts'

const YEAR_SECONDS = 365 * 24 * 60 * 60
const DAY_SECONDS = 24 * 60 * 60
/** The longest overlap of a rotation. */
export const OVERLAP_MAX = 7 * DAY_SECONDS
// The last moment that ISO text with four digits for the year can name.
const LAST_MOMENT = Date.UTC(10000, 0) - 1
// RFC 3339 section 5.6.
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/

const readInput = compileReader(Type.Object({
  name: Type.String(),
  scopes: Type.Optional(Type.Array(Type.String())),
  expiresAt: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  expiresIn: Type.Optional(Type.Number())
}, { additionalProperties: false }))

const rotateBody = Type.Object({ overlap: Type.Optional(Type.Number()) }, { additionalProperties: false })
const readRotation = compileReader(rotateBody)

/** `overlap`: how many seconds the old key goes on working; a day by default, a week at most. */
export type RotateOptions = Static<typeof rotateBody>

/** What a new key is made of. */
export interface ApiKeyInput {
  /** 1 to 200 characters. */
  name: string
  /** The three scopes of users by default. */
  scopes?: readonly Scope[]
  /** RFC 3339; `null`: never expires. A year from now by default. */
  expiresAt?: string | null
  /** Seconds from now, instead of `expiresAt`. */
  expiresIn?: number
}

/** The text of a moment, or null where it is no date that exists or lies outside what ISO 8601 text can sort. */
function moment (ms: number): string | null {
  return ms >= 0 && ms <= LAST_MOMENT ? new Date(ms).toISOString() : null
}

/** When a key that is made now for so many seconds expires. */
export function expiryAfter (lifetime: number | null, now: number): string | null {
  return lifetime === null ? null : new Date(Math.min(now + lifetime * 1000, LAST_MOMENT)).toISOString()
}

function judgeExpiry ({ expiresAt, expiresIn }: Pick<ApiKeyInput, 'expiresAt' | 'expiresIn'>, now: number, faults: Fault[]): string | null {
  if (expiresAt !== undefined && expiresIn !== undefined) {
    faults.push({ pointer: '/expiresIn', code: 'exclusive', detail: 'can not be used together with expiresAt' })
  }
  if (expiresAt === null) return null
  if (expiresAt !== undefined) {
    const at = DATE_TIME.test(expiresAt) && isOnCalendar(expiresAt) ? moment(Date.parse(expiresAt)) : null
    if (at === null) faults.push({ pointer: '/expiresAt', code: 'format', detail: 'must be an RFC 3339 date and time, or null' })
    else if (Date.parse(at) <= now) faults.push({ pointer: '/expiresAt', code: 'past', detail: 'must lie in the future' })
    return at
  }
  const seconds = expiresIn ?? YEAR_SECONDS
  const at = Number.isInteger(seconds) && seconds > 0 ? moment(now + seconds * 1000) : null
  if (at === null) faults.push({ pointer: '/expiresIn', code: 'range', detail: 'must be a whole number of seconds, 1 or more' })
  return at
}

/** What a new key is made of, after the check. */
export interface CheckedApiKeyInput {
  name: string
  scopes: Scope[]
  expiresAt: string | null
  /** Seconds, or null: for ever. */
  lifetime: number | null
}

/**
 * Checks what a new key is made of, and that the caller can give it: where it asks for no scopes or no expiry of its own, it gets what the caller has.
 * `grant`: null where there is no caller whose own rights are a bound; `found`: faults that are known already.
 * @throws UsersError `validation_failed` that names every fault, `insufficient_scope`
 */
export function checkApiKeyInput (input: unknown, now: number, grant: Grant | null, found: readonly Fault[]): CheckedApiKeyInput {
  const read = readInput(input)
  if ('faults' in read) throw validationFailed([...found, ...read.faults])
  const { value } = read
  const faults = [...found]
  const name = judgeName(value.name)
  if (!('value' in name)) faults.push({ pointer: '/name', ...name })
  const scopes: readonly string[] = value.scopes ?? (grant === null ? DEFAULT_SCOPES : within(grant, DEFAULT_SCOPES))
  if (scopes.length === 0) faults.push({ pointer: '/scopes', code: 'too_short', detail: 'must name at least one scope' })
  scopes.forEach((scope, i) => {
    if (!isScope(scope)) faults.push({ pointer: `/scopes/${i}`, code: 'choice', detail: `must be one of ${SCOPES.join(', ')}` })
  })
  const asked = judgeExpiry(value, now, faults)
  if (faults.length > 0 || !('value' in name)) throw validationFailed(faults)
  const expiresAt = grant === null || value.expiresAt !== undefined || value.expiresIn !== undefined ? asked : earlier(asked, grant.expiresAt)
  if (grant !== null) {
    requireScopes(grant, scopes, (i) => `/scopes/${i}`)
    requireExpiry(grant, expiresAt, value.expiresIn === undefined ? '/expiresAt' : '/expiresIn')
  }
  return { name: name.value, scopes: [...new Set(scopes.filter(isScope))], expiresAt, lifetime: expiresAt === null ? null : Math.ceil((Date.parse(expiresAt) - now) / 1000) }
}

/**
 * Checks the parameters of a list of keys, which has the pages of users without their filters.
 * @throws UsersError `validation_failed` that names every faulty parameter
 */
export function checkKeyListQuery (query: Readonly<Record<string, unknown>>, limits: Limits, found: readonly Fault[]): Paging {
  const faults = [...found, ...unknownParameters(Object.keys(query).filter((parameter) => !PAGING_NAMES.includes(parameter)))]
  const paging = judgePaging(query, limits, isApiKeyId, faults)
  if (faults.length > 0) throw validationFailed(faults)
  return paging
}

/**
 * Checks the options of a rotation and gives the overlap in seconds.
 * @throws UsersError `validation_failed`
 */
export function checkRotateOptions (options: unknown, found: readonly Fault[]): number {
  const read = readRotation(options)
  const faults = [...found, ...'faults' in read ? read.faults : []]
  const { overlap = DAY_SECONDS } = 'value' in read ? read.value : {}
  if (!Number.isInteger(overlap) || overlap < 0 || overlap > OVERLAP_MAX) {
    faults.push({ pointer: '/overlap', code: 'range', detail: `must be a whole number of seconds from 0 to ${OVERLAP_MAX}` })
  }
  if (faults.length > 0) throw validationFailed(faults)
  return overlap
}
