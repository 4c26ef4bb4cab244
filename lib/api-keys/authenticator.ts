import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { UsersError } from '../errors.ts'
import { fromStorage, toUsersError } from '../storage-errors.ts'
import type { ApiKeyRecord } from '../storage.ts'
import { keyReader } from './key-text.ts'
import { DEFAULT_SCOPES, type Scope } from './scopes.ts'
import type { RefusalReason, Verifier } from './verifier.ts'

/** Who a request comes from. */
export interface Principal {
  type: 'api_key' | 'static' | 'host'
  /** The key record's id, the static key's name, or what the host's `authenticate` said. */
  id: string
  scopes: readonly string[]
}

/** A key from the host's own configuration, at least 32 visible ASCII characters. A plain string has the three scopes of users. */
export type StaticKey = string | { key: string, name?: string, scopes?: readonly Scope[] }

/** What the host's own `authenticate` answers for a good token. */
export interface HostPrincipal {
  id: string
  scopes: readonly string[]
  /** When the token ends, as text that Date reads: with `apiKeyRoutes` it can make no key that lives longer. Without it the token counts as one without an end. */
  expiresAt?: string
}

/** The host's own check of a token. A throw is answered 503, never 401. */
export type Authenticate = (token: string, request: FastifyRequest) => HostPrincipal | null | Promise<HostPrincipal | null>

/** A verified caller, with the stored key's record where there is one. */
export interface Caller {
  principal: Principal
  record: ApiKeyRecord | null
  /** When the caller's key ends, as a record has it; null: it does not. */
  expiresAt: string | null
}

/** Why a token was refused, for the log alone; `malformed`: its form or checksum is wrong; `unrecognized`: nobody knows a token of this form. */
export interface Refusal {
  reason: RefusalReason | 'malformed' | 'unrecognized'
  /** The record's id, and the public beginning of the text, where there are some. */
  keyId: string | null
  start: string | null
}

export interface AuthenticatorOptions {
  verifier: Verifier
  keyPrefix: string
  staticKeys: readonly StaticKey[]
  authenticate: Authenticate | undefined
  /** Told of every token that is nobody's. */
  onRefused: (request: FastifyRequest, refusal: Refusal) => void
}

function sha256 (text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

function isHostPrincipal (value: unknown): value is HostPrincipal {
  return typeof value === 'object' && value !== null &&
    'id' in value && typeof value.id === 'string' &&
    'scopes' in value && Array.isArray(value.scopes) && value.scopes.every((scope) => typeof scope === 'string') &&
    (!('expiresAt' in value) || value.expiresAt === undefined || (typeof value.expiresAt === 'string' && !Number.isNaN(Date.parse(value.expiresAt))))
}

/** Tells whose token a request carries; null for nobody's. */
export type Identify = (token: string, request: FastifyRequest) => Promise<Caller | null>

/**
 * Decides who holds a token: a static key, a stored key, or somebody the host knows; null for nobody.
 * The returned function throws UsersError `storage_unavailable` where that can't be told at the moment.
 */
export function createAuthenticator ({ verifier, keyPrefix, staticKeys, authenticate, onRefused }: AuthenticatorOptions): Identify {
  const readKey = keyReader(keyPrefix)
  const known = staticKeys.map((given, i): { digest: Buffer, principal: Principal } => {
    const { key, name = `static-${i + 1}`, scopes = DEFAULT_SCOPES } = typeof given === 'string' ? { key: given } : given
    return { digest: sha256(key), principal: { type: 'static', id: name, scopes } }
  })

  function findStatic (token: string): Principal | null {
    if (known.length === 0) return null
    const digest = sha256(token)
    let found: Principal | null = null
    for (const candidate of known) {
      if (timingSafeEqual(candidate.digest, digest)) found = candidate.principal
    }
    return found
  }

  async function askHost (ask: Authenticate, token: string, request: FastifyRequest): Promise<Caller | null> {
    let answer: unknown
    try {
      answer = await ask(token, request)
    } catch (cause) {
      throw new UsersError('storage_unavailable', { cause, detail: 'The API key cannot be checked at the moment. Try again later.', headers: { 'retry-after': '5' } })
    }
    if (answer === null) return null
    if (!isHostPrincipal(answer)) throw toUsersError(new TypeError('authenticate must answer { id, scopes, expiresAt? } or null'))
    const { id, scopes, expiresAt } = answer
    return { principal: { type: 'host', id, scopes }, record: null, expiresAt: expiresAt === undefined ? null : new Date(expiresAt).toISOString() }
  }

  return async function identify (token: string, request: FastifyRequest): Promise<Caller | null> {
    const fixed = findStatic(token)
    if (fixed !== null) return { principal: fixed, record: null, expiresAt: null }
    const parts = readKey(token)
    if (parts === 'malformed') {
      onRefused(request, { reason: 'malformed', keyId: null, start: null })
      return null
    }
    if (parts !== null) {
      const refuse = (reason: RefusalReason, record: ApiKeyRecord | null) => onRefused(request, { reason, keyId: record?.id ?? null, start: parts.start })
      const record = await fromStorage(() => verifier.verify(parts, refuse))
      return record === null ? null : { principal: { type: 'api_key', id: record.id, scopes: record.scopes }, record, expiresAt: record.expiresAt }
    }
    const caller = authenticate === undefined ? null : await askHost(authenticate, token, request)
    if (caller !== null) return caller
    onRefused(request, { reason: 'unrecognized', keyId: null, start: null })
    return null
  }
}
