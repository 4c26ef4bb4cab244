import { hash, timingSafeEqual } from 'node:crypto'
import type { Principal } from '../core/context.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import { endOf } from '../storage/storage-rules.ts'
import type { ApiKeyRecord, KeyRateLimit } from '../storage/storage.ts'
import { channels, traced } from '../storage/tracing.ts'
import { isFrom } from './addresses.ts'
import { cannotBeChecked, type HostPrincipal, requireHostPrincipal } from './host-principal.ts'
import { type KeyParts, keyReader } from './key-text.ts'
import { DEFAULT_SCOPES, type Scope } from './scopes.ts'
import type { RefusalReason, Verifier } from './verifier.ts'
import { withoutToken } from './without-token.ts'

/**
 * A key from the host's own configuration, at least 32 visible ASCII characters. A plain string has the three scopes of
 * users.
 */
export type StaticKey = string | {
  key: string
  name?: string
  scopes?: readonly Scope[]
  /** With the option `tenants`, which requires it: the tenant that the key is bound to; null: the platform's. */
  tenant?: string | null
  /** The networks that the key works from, in CIDR form. Absent: from any. */
  addresses?: readonly string[]
  /** `max` requests in `window` seconds, in place of the option `limits.requests`, where that is on. */
  rateLimit?: { max: number, window: number }
}

/** The host's own check of a token. If it throws or returns a wrong answer, the response is 503, never 401. */
export type Authenticate<Request> = (token: string, request: Request) =>
HostPrincipal | null | Promise<HostPrincipal | null>

/** A verified caller, with the stored key's record if there is one. */
export interface Caller {
  principal: Principal
  record: ApiKeyRecord | null
  /** When the caller's key expires, as in a record; null: never. */
  expiresAt: string | null
  /** The networks that the key works from. Absent: from any. */
  addresses?: readonly string[]
  /** The key's own limit of requests. Absent: that of every key. */
  rateLimit?: KeyRateLimit
}

/**
 * Why a token was refused, for the log alone. `malformed`: wrong form or checksum; `unrecognized`: no check knows
 * tokens of this form.
 */
export interface Refusal {
  reason: RefusalReason | 'malformed' | 'unrecognized'
  /** The record's id, and the public beginning of the text, if known. */
  keyId: string | null
  start: string | null
}

export interface AuthenticatorOptions<Request> {
  verifier: Verifier
  keyPrefix: string
  staticKeys: readonly StaticKey[]
  authenticate: Authenticate<Request> | undefined
  /** The address of a client, as text; null if it has none. */
  addressOf: (request: Request) => string | null
  /** Without tenants a key that is bound to one is nobody's: its bounds would not hold. */
  tenants: boolean
  /** Called for every token that is refused. */
  onRefused: Refused<Request>
}

type Refused<Request> = (request: Request, refusal: Refusal) => void

/** Finds the caller of a token; null: nobody's. No promise if neither the storage nor the host is asked. */
export type Identify<Request> = (token: string, request: Request) => Caller | null | Promise<Caller | null>

function sha256 (text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** The member of a principal that is bound to a tenant. */
function bound (tenant: string | null | undefined): { tenant?: string } {
  return tenant === undefined || tenant === null ? {} : { tenant }
}

/** The members of a caller whose key is bound to addresses, or has a limit of its own. */
function bounds (
  { addresses, rateLimit }: { addresses?: readonly string[], rateLimit?: KeyRateLimit }
): Pick<Caller, 'addresses' | 'rateLimit'> {
  return { ...(addresses && { addresses }), ...(rateLimit && { rateLimit }) }
}

/** Compares a token with every static key in constant time. */
function staticKeyFinder (staticKeys: readonly StaticKey[]): (token: string) => Caller | null {
  const known = staticKeys.map((given): { digest: Buffer, caller: Caller } => {
    const object = typeof given === 'string' ? { key: given } : given
    const digest = sha256(object.key)
    // Not by its place in the list: a key that moves up would be taken for the one before it.
    const { name, scopes = DEFAULT_SCOPES, tenant } = object
    const id = name ?? `static-${digest.toString('hex', 0, 6)}`
    const principal = { type: 'static', id, name: name ?? null, scopes, ...bound(tenant) } as const
    return { digest, caller: { principal, record: null, expiresAt: null, ...bounds(object) } }
  })
  return (token) => {
    if (known.length === 0) return null
    const digest = sha256(token)
    let found: Caller | null = null
    for (const candidate of known) {
      if (timingSafeEqual(candidate.digest, digest)) found = candidate.caller
    }
    return found
  }
}

async function askHost<Request> (
  ask: Authenticate<Request>,
  token: string,
  request: Request,
  tenants: boolean
): Promise<Caller | null> {
  let answer: unknown
  try {
    answer = await ask(token, request)
  } catch (error) {
    throw cannotBeChecked(withoutToken(error, token))
  }
  if (answer === null) return null
  requireHostPrincipal(answer, tenants)
  const { id, name = null, scopes, expiresAt = null, tenant } = answer
  return {
    principal: { type: 'host', id, name, scopes, ...bound(tenant) },
    record: null,
    expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString()
  }
}

/**
 * Decides who holds a token: a static key, a stored key, or somebody the host knows; null for nobody. The returned
 * function throws UsersError `storage_unavailable` if that can't be decided at the moment.
 */
export function createAuthenticator<Request> (options: AuthenticatorOptions<Request>): Identify<Request> {
  const { verifier, keyPrefix, staticKeys, authenticate, addressOf, tenants, onRefused } = options
  const readKey = keyReader(keyPrefix)
  const findStatic = staticKeyFinder(staticKeys)
  // Of records that the verifier keeps: to make a caller takes longer than to check its secret.
  const callers = new WeakMap<ApiKeyRecord, Caller>()

  function callerOf (record: ApiKeyRecord): Caller {
    const known = callers.get(record)
    if (known !== undefined) return known
    const { id, name, scopes, expiresAt, tenant } = record
    const principal = { type: 'api_key', id, name, scopes, ...bound(tenant) } as const
    const caller = { principal, record, expiresAt, ...bounds(record) }
    callers.set(record, caller)
    return caller
  }

  /** The caller, unless its key is bound to addresses that the client has none of: then null, as for an unknown key. */
  function atHome (caller: Caller, request: Request, onRefused: Refused<Request>): Caller | null {
    const { record, addresses } = caller
    if (addresses === undefined || isFrom(addresses, addressOf(request))) return caller
    onRefused(request, { reason: 'address', keyId: record?.id ?? null, start: record?.start ?? null })
    return null
  }

  function findStored (
    parts: KeyParts,
    request: Request,
    onRefused: Refused<Request>
  ): Caller | null | Promise<Caller | null> {
    const refuse = (reason: RefusalReason, record: ApiKeyRecord | null) =>
      onRefused(request, { reason, keyId: record?.id ?? null, start: parts.start })
    const holder = (record: ApiKeyRecord | null): Caller | null => {
      if (record === null) return null
      if (record.tenant !== undefined && !tenants) {
        refuse('unknown', record)
        return null
      }
      return atHome(callerOf(record), request, onRefused)
    }
    const record = verifier.verify(parts, refuse)
    return record instanceof Promise ? fromStorage(() => record).then(holder) : holder(record)
  }

  async function findHosts (token: string, request: Request, onRefused: Refused<Request>): Promise<Caller | null> {
    const caller = authenticate === undefined ? null : await askHost(authenticate, token, request, tenants)
    const isExpired = Date.now() >= endOf(caller ?? {})
    if (caller !== null && !isExpired) return caller
    onRefused(request, { reason: isExpired ? 'expired' : 'unrecognized', keyId: null, start: null })
    return null
  }

  function find (
    token: string,
    request: Request,
    onRefused: Refused<Request>
  ): Caller | null | Promise<Caller | null> {
    const known = findStatic(token)
    if (known !== null) return atHome(known, request, onRefused)
    const parts = readKey(token)
    if (parts === null) return findHosts(token, request, onRefused)
    if (parts !== 'malformed') return findStored(parts, request, onRefused)
    onRefused(request, { reason: 'malformed', keyId: null, start: null })
    return null
  }

  const tell: Identify<Request> = (token, request) => traced(channels.keyCheck, () => ({}), async (trace) => {
    if (trace === null) return find(token, request, onRefused)
    const caller = await find(token, request, (request, refusal) => {
      trace.outcome = refusal.reason
      onRefused(request, refusal)
    })
    if (caller !== null) trace.outcome = 'accepted'
    return caller
  })

  return (token, request) =>
    channels.keyCheck.hasSubscribers ? tell(token, request) : find(token, request, onRefused)
}
