import { insufficientScope } from '../api-keys/challenge.ts'
import type { UsersError } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { KIND_FILTERS, mayRead, readScopeOf } from '../events/type-scopes.ts'

// Whoever can have events sent can read them: a caller is held to what it may read, whenever it makes a webhook send.

/** The scopes of a caller; null: the host itself, which may read everything. */
export type Scopes = readonly string[] | null

function refusal (types: readonly string[], errors: Fault[]): UsersError {
  const needed = types.map(readScopeOf).filter((scope) => scope !== undefined)
  return insufficientScope([...new Set(['webhooks:write', ...needed])], {
    detail: 'An API key can only send a webhook events that it may read itself.',
    errors
  })
}

/**
 * The types of a webhook for which a caller asks for these. Without any they are all that it may read.
 * @throws UsersError `insufficient_scope` that names each type that the caller may not read
 */
export function grantTypes (scopes: Scopes, types: readonly string[]): string[] {
  if (scopes === null) return [...types]
  if (types.length === 0) {
    const own = KIND_FILTERS.filter((type) => mayRead(scopes, type))
    if (own.length === KIND_FILTERS.length) return []
    if (own.length > 0) return own
  }
  const asked = types.length === 0 ? KIND_FILTERS : types
  const beyond = asked.flatMap((type, i) => mayRead(scopes, type)
    ? []
    : [{
        pointer: types.length === 0 ? '/types' : `/types/${i}`,
        code: 'beyond_caller',
        detail: `needs the scope ${readScopeOf(type)}`
      }])
  if (beyond.length > 0) throw refusal(asked, beyond)
  return [...types]
}

/** @throws UsersError `insufficient_scope` if these types, none for all, have one that the caller may not read */
export function requireReadable (scopes: Scopes, types: readonly string[]): void {
  const all = types.length === 0 ? KIND_FILTERS : types
  if (scopes === null || all.every((type) => mayRead(scopes, type))) return
  const detail = 'must receive only events that the caller may read'
  throw refusal(all, [{ pointer: '', code: 'beyond_caller', detail }])
}
