import type { Scope } from '../api-keys/scopes.ts'
import type { EventType } from './types.ts'

type KindOf<Type> = Type extends `${infer Kind}.${string}` ? Kind : never

/** The scope that reads the subject of each kind of event: whoever lacks it must not get these events. */
const READ_SCOPES: Readonly<Record<KindOf<EventType>, Scope>> = {
  user: 'users:read',
  api_key: 'keys:read',
  webhook: 'webhooks:read'
}
const SCOPES = new Map<string, Scope>(Object.entries(READ_SCOPES))

/** A filter for each kind of event, such as `user.*`. */
export const KIND_FILTERS: readonly string[] = [...SCOPES.keys()].map((kind) => `${kind}.*`)

/** The scope that a type of events needs, or a filter such as `user.*`; undefined: there is no such kind. */
export function readScopeOf (type: string): Scope | undefined {
  return SCOPES.get(type.slice(0, type.indexOf('.')))
}

/** True if whoever has these scopes may read events of a type, or all that a filter means. */
export function mayRead (scopes: readonly string[], type: string): boolean {
  const scope = readScopeOf(type)
  return scope !== undefined && scopes.includes(scope)
}
