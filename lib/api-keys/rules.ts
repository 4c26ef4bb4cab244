import type { Static } from '@sinclair/typebox'
import { bodyReader } from '../core/body-shape.ts'
import { validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { OVERLAP_MAX } from '../core/limits.ts'
import { flagParameter, type Parameters } from '../core/parameters.ts'
import { checkName } from '../core/text.ts'
import { Type } from '../core/typebox.ts'
import { boundsOf, checkBounds, type KeyBounds } from './bounds.ts'
import {
  type Delegation, earlier, ownScopesOf, requireOwnBounds, requireOwnExpiry, requireOwnScopes, withOwnBounds
} from './delegation.ts'
import { lifetimeOf, readExpiry } from './expiry.ts'
import { DEFAULT_SCOPES, type Scope, scopeIn } from './scopes.ts'

const DAY_SECONDS = 24 * 60 * 60

const seconds = Type.Number({ title: 'a number of seconds' })

const readInput = bodyReader(Type.Object({
  name: Type.String(),
  scopes: Type.Optional(Type.Array(Type.String())),
  expiresAt: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  expiresIn: Type.Optional(seconds),
  owner: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  addresses: Type.Optional(Type.Unknown()),
  rateLimit: Type.Optional(Type.Unknown())
}, { additionalProperties: false }))

const rotateBody = Type.Object({
  overlap: Type.Optional(seconds),
  expiresAt: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  expiresIn: Type.Optional(seconds)
}, { additionalProperties: false })
const readRotation = bodyReader(rotateBody)

/**
 * `overlap`: seconds that the old key keeps working; a day by default, at most a week. `expiresAt` or `expiresIn`: when
 * the successor expires, as for a new key; by default it lives as long as the old key was to live.
 */
export type RotateOptions = Static<typeof rotateBody>

const revokeBody = Type.Object({ successors: Type.Optional(Type.Boolean()) }, { additionalProperties: false })
const readRevocation = bodyReader(revokeBody)

/** `successors`: also revoke every key that was created by rotating it, directly or indirectly. */
export type RevokeOptions = Static<typeof revokeBody>

/** The input for a new key. */
export interface ApiKeyInput {
  /** 1 to 200 characters. */
  name: string
  /** The three `users:` scopes by default. */
  scopes?: readonly Scope[]
  /** RFC 3339; `null` if it never expires. A year from now by default. */
  expiresAt?: string | null
  /** Seconds from now, instead of `expiresAt`. */
  expiresIn?: number
  /** Who is responsible for the key: a text for people, 1 to 200 characters. */
  owner?: string | null
  /** At most 100 networks in CIDR form that the key works from; `null` or absent if anywhere. */
  addresses?: readonly string[] | null
  /** Overrides the option `limits.requests`, if that is on: at most `max` requests in `window` seconds. */
  rateLimit?: { max: number, window: number } | null
}

function readScopes (scopes: readonly string[], known: readonly Scope[], faults: Fault[]): Scope[] {
  const pointer = '/scopes'
  if (scopes.length === 0) faults.push({ pointer, code: 'too_short', detail: 'must name at least one scope' })
  const detail = `must be one of ${known.join(', ')}`
  scopes.forEach((scope, i) => {
    if (scopeIn(known, scope) === undefined) faults.push({ pointer: `${pointer}/${i}`, code: 'choice', detail })
  })
  return [...new Set(scopes.flatMap((scope) => scopeIn(known, scope) ?? []))]
}

/** The checked input for a new key. */
export interface CheckedApiKeyInput {
  name: string
  scopes: Scope[]
  expiresAt: string | null
  /** In seconds; `null` if unlimited. */
  lifetime: number | null
  bounds: KeyBounds
}

/**
 * Checks the input for a new key, and that the caller may grant it. If the scopes or the expiry are absent, the
 * defaults apply, within the caller's own limits; without addresses or a limit, the key gets the caller's.
 * `delegation`: `null` if there is no caller with limits. `known`: the scopes that keys may have.
 * @throws UsersError `validation_failed` that names every fault, `insufficient_scope`
 */
export function checkApiKeyInput (
  input: unknown,
  now: number,
  delegation: Delegation | null,
  priorFaults: readonly Fault[],
  known: readonly Scope[]
): CheckedApiKeyInput {
  const read = readInput(input)
  if ('faults' in read) throw validationFailed([...priorFaults, ...read.faults])
  const { value } = read
  const faults = [...priorFaults]
  const name = checkName(value.name)
  if (!('value' in name)) faults.push({ pointer: '/name', ...name })
  const usualScopes = delegation === null ? DEFAULT_SCOPES : ownScopesOf(delegation, DEFAULT_SCOPES)
  const given: readonly string[] = value.scopes ?? usualScopes
  const scopes = readScopes(given, known, faults)
  const asked = readExpiry(value, now, faults)
  const askedBounds = checkBounds(value, faults)
  if (faults.length > 0 || !('value' in name)) throw validationFailed(faults)
  const isChosen = value.expiresAt !== undefined || value.expiresIn !== undefined
  const expiresAt = delegation === null || isChosen ? asked : earlier(asked, delegation.expiresAt)
  const bounds = boundsOf(delegation === null ? askedBounds : withOwnBounds(delegation, askedBounds))
  if (delegation !== null) {
    requireOwnScopes(delegation, given, (i) => `/scopes/${i}`)
    requireOwnExpiry(delegation, expiresAt, value.expiresIn === undefined ? '/expiresAt' : '/expiresIn')
    requireOwnBounds(delegation, bounds, true)
  }
  return { name: name.value, scopes, expiresAt, lifetime: lifetimeOf(expiresAt, now), bounds }
}

/** The checked options of a rotation. */
export interface CheckedRotation {
  /** Seconds. */
  overlap: number
  /** When the successor expires, and where that was said; `null`: it lives as long as the old key was to live. */
  chosen: { expiresAt: string | null, pointer: string } | null
}

/**
 * Checks the options of a rotation.
 * @throws UsersError `validation_failed`
 */
export function checkRotateOptions (options: unknown, now: number, priorFaults: readonly Fault[]): CheckedRotation {
  const read = readRotation(options)
  if ('faults' in read) throw validationFailed([...priorFaults, ...read.faults])
  const { value } = read
  const { overlap = DAY_SECONDS } = value
  const faults = [...priorFaults]
  if (!Number.isInteger(overlap) || overlap < 0 || overlap > OVERLAP_MAX) {
    const detail = `must be a whole number of seconds from 0 to ${OVERLAP_MAX}`
    faults.push({ pointer: '/overlap', code: 'range', detail })
  }
  const isChosen = value.expiresAt !== undefined || value.expiresIn !== undefined
  const expiresAt = isChosen ? readExpiry(value, now, faults) : null
  if (faults.length > 0) throw validationFailed(faults)
  const pointer = value.expiresIn === undefined ? '/expiresAt' : '/expiresIn'
  return { overlap, chosen: isChosen ? { expiresAt, pointer } : null }
}

/**
 * Checks the options of a revocation, and returns whether successors are revoked too.
 * @throws UsersError `validation_failed`
 */
export function checkRevokeOptions (options: unknown): boolean {
  const read = readRevocation(options)
  if ('faults' in read) throw validationFailed(read.faults)
  return read.value.successors === true
}

/** The query parameters of revocations. */
export const revokeParameters: Parameters = {
  force: flagParameter('Revoke even the last key that can manage keys.'),
  successors: flagParameter('Also revoke every key that was created by rotating it.')
}
