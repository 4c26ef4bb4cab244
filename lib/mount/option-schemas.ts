import type { RegisterOptions } from 'fastify'
import type { StaticKey } from '../api-keys/authenticator.ts'
import { HOST_SCOPE_FORM, isHostScope, isTenantScope, SCOPES, scopeIn, scopesOf } from '../api-keys/scopes.ts'
import { ADDRESSES_MAX, NAME_MAX, PAGE_SIZE_MAX } from '../core/limits.ts'
import { type Option, optional } from '../core/option-table.ts'
import { TENANT } from '../core/tenant.ts'
import { missingFrom } from '../storage/storage-rules.ts'
import type { Storage } from '../storage/storage.ts'
import { Type } from '../core/typebox.ts'

// Parts of the schemas of options, apart from the table that names every option.

export const CLOSED = { additionalProperties: false }
export const method = Type.Function([], Type.Unknown())
export const identifier = {
  schema: Type.String({ pattern: '^[A-Za-z_$][A-Za-z0-9_$]*$' }), message: 'must be a JavaScript identifier'
}
export const flag = { schema: Type.Boolean(), message: 'must be true or false' }
export const positive = { schema: Type.Integer({ minimum: 1 }), message: 'must be a whole number, 1 or more' }
export const pageSize = Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX }))
export const quota = {
  schema: Type.Object({
    max: Type.Integer({ minimum: 1 }), window: Type.Integer({ minimum: 1, maximum: 86_400 })
  }, CLOSED),
  message: 'must be { max, window } with whole numbers, window in seconds up to 86400'
}
export const hostScopes = {
  schema: Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: NAME_MAX })),
  message: `must map each scope to a description of 1 to ${NAME_MAX} characters: { 'orders:read': 'Read orders' }`
}
export const streamBounds = {
  schema: Type.Object({
    perKey: Type.Optional(Type.Integer({ minimum: 1 })), total: Type.Optional(Type.Integer({ minimum: 1 }))
  }, CLOSED),
  message: 'must be { perKey, total } with whole numbers, 1 or more'
}
export const counters = {
  schema: Type.Object({
    redis: Type.Optional(Type.Object({ defineCommand: method })),
    store: Type.Optional(method),
    nameSpace: Type.Optional(Type.String()),
    cache: Type.Optional(Type.Integer({ minimum: 1 })),
    skipOnError: Type.Optional(Type.Boolean())
  }, CLOSED),
  message: 'may only have redis (an ioredis client), store, nameSpace, cache and skipOnError of @fastify/rate-limit'
}
export const fieldNames = {
  schema: Type.Array(Type.String(), { uniqueItems: true }),
  message: 'must be a list of names of fields, each once'
}
const matchedFields = (...matches: readonly [string, string]) => ({
  schema: Type.Array(Type.Union([
    Type.String(),
    Type.Object({
      field: Type.String(), match: Type.Optional(Type.Union(matches.map((match) => Type.Literal(match))))
    }, CLOSED)
  ])),
  message: `must be a list of names of fields, or of { field, match } with match ${
    matches.map((match) => `'${match}'`).join(' or ')}`
})
export const searchableFields = matchedFields('words', 'digits')
export const filterableFields = matchedFields('exact', 'folded')
const DATE = '\\d{4}-\\d{2}-\\d{2}'
const TIME = '\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?(?:Z|[+-]\\d{2}:\\d{2})'
export const moment = Type.Union([Type.Date(), Type.String({ pattern: `^${DATE}(?:T${TIME})?$` })])
// What the variable of the command line can hold too, where commas separate peppers.
export const pepper = Type.String({ pattern: '^[\\x21-\\x2b\\x2d-\\x7e]{32,}$' })
export const staticKey = Type.String({ pattern: '^[\\x21-\\x7e]{32,}$' })
export const staticKeyObject = Type.Object({
  key: staticKey,
  name: Type.Optional(Type.String({ minLength: 1 })),
  scopes: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
  tenant: Type.Optional(Type.Union([Type.String({ pattern: TENANT.source }), Type.Null()])),
  addresses: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: ADDRESSES_MAX })),
  rateLimit: Type.Optional(quota.schema)
}, CLOSED)

// Interfaces, since the compiler writes an alias as pino's own types, which a host cannot always resolve.
type LogLevel = NonNullable<RegisterOptions['logLevel']>
type LogSerializers = NonNullable<RegisterOptions['logSerializers']>
export interface LogLevelOption extends Option<LogLevel, LogLevel | undefined, false> {}
export interface LogSerializersOption extends Option<LogSerializers, LogSerializers | undefined, false> {}
export const logLevel: LogLevelOption = optional({ schema: Type.String(), message: 'must be the name of a log level' })
export const logSerializers: LogSerializersOption = optional({
  schema: Type.Record(Type.String(), Type.Union([method, Type.Undefined()])),
  message: 'must be an object of functions'
})

/** The option `storage`: everything that is missing is named. */
export const storage: Option<Storage, Storage, true> = {
  required: true,
  problem (value) {
    const lacks = missingFrom(value)
    if (lacks.length === 0) return null
    const expected = 'is required and must be a storage, such as memory(), sqlite({ filename }) or ' +
      'postgres({ connection })'
    if (value === undefined) return expected
    if (typeof value !== 'function') return `${expected}: this one lacks ${lacks.join(', ')}`
    return `${expected}: this is a ${'client' in value ? 'Knex instance: use knexStorage(knex)' : 'function: call it'}`
  },
  read: (given) => Object(given)
}

/** True if a key is named twice. */
export function hasTwice (keys: readonly StaticKey[]): boolean {
  return new Set(keys.map((key) => typeof key === 'string' ? key : key.key)).size < keys.length
}

/** What is wrong with the scopes of the host's own, and with those of static keys. */
export function scopeProblems (
  keys: readonly StaticKey[], own: Readonly<Record<string, string>>, tenants: boolean
): string[] {
  const named = keys.flatMap((key) => typeof key === 'string' ? [] : key.scopes ?? [])
  const strange = named.find((scope) => scopeIn(scopesOf(true, own), scope) === undefined)
  return [
    ...Object.keys(own).filter((name) => !isHostScope(name))
      .map((name) => `apiKeys.scopes has the name ${JSON.stringify(name)}: a name ${HOST_SCOPE_FORM}`),
    ...strange === undefined
      ? []
      : [`apiKeys.static has the scope ${JSON.stringify(strange)}, which is none of ${SCOPES.join(', ')}, and not in ` +
        'apiKeys.scopes'],
    ...tenants || !named.some(isTenantScope)
      ? []
      : ['apiKeys.static has a scope of tenants, which needs the option tenants']
  ]
}

/** True if a member of a key is there and undefined: such a bound, as that of an unset variable, would not hold. */
export function hasUndefined (keys: readonly StaticKey[]): boolean {
  return keys.some((key) => typeof key === 'object' && Object.values(key).some((value) => value === undefined))
}
