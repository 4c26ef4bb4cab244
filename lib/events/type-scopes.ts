import type { Scope } from '../api-keys/scopes.ts'
import type { EventType } from './types.ts'

type KindOf<Type> = Type extends `${infer Kind}.${string}` ? Kind : never

/** The scope needed to read the subject of each kind of event. A caller without it must not get these events. */
const READ_SCOPES: Readonly<Record<KindOf<EventType>, Scope>> = {
  user: 'users:read',
  api_key: 'keys:read',
  group: 'groups:read',
  webhook: 'webhooks:read'
}
const SCOPES = new Map<string, Scope>(Object.entries(READ_SCOPES))

/** A filter for each kind of event, such as `user.*`. */
export const KIND_FILTERS: readonly string[] = [...SCOPES.keys()].map((kind) => `${kind}.*`)

/** The scope that a type of event, or a filter such as `user.*`, needs; `undefined` if there is no such kind. */
export function readScopeOf (type: string): Scope | undefined {
  return SCOPES.get(type.slice(0, type.indexOf('.')))
}

/** True if a caller with these scopes may read events of a type, or all events that a filter matches. */
export function mayRead (scopes: readonly string[], type: string): boolean {
  const scope = readScopeOf(type)
  return scope !== undefined && scopes.includes(scope)
}
