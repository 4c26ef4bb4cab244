import { Type } from './typebox.ts'
import type { RegisterOptions } from 'fastify'
import type { Authenticate, StaticKey } from './api-keys/authenticator.ts'
import { DEFAULT_KEY_PREFIX, KEY_PREFIX } from './api-keys/key-text.ts'
import { SCOPES } from './api-keys/scopes.ts'
import { type Deprecated, deprecationFaults } from './http/deprecation.ts'
import type { LimiterOptions, Quota, RateLimit } from './http/limiter.ts'
import type { FieldsJsonSchema } from './fields/schema.ts'
import type { ErrorFormat } from './http/problem.ts'
import { optionCheck, type OptionRows } from './option-check.ts'
import type { Storage } from './storage.ts'
import { METHODS, missingFrom } from './storage-rules.ts'

/** The options of the plugin. Everything but `storage` has a default. */
export interface UsersOptions {
  /** Where users are kept: `memory()`, `sqlite()`, `postgres()`, `knexStorage()`, or a store of your own. */
  storage: Storage
  /** Path that the routes live under; prefixes of outer scopes come before it. Default `/v1`. */
  prefix?: string
  /** Name of the decorator on the Fastify instance. Default `users`. */
  decoratorName?: string
  /** Bring the storage's schema up to date at the start. Default `false`: `await storage.migrate()` is yours to call. */
  migrate?: boolean
  /** Users in a page, where the client doesn't say, and at most. Default `{ default: 20, max: 100 }`. */
  limits?: { default?: number, max?: number }
  /** Seconds that an `Idempotency-Key` is kept. Default 86400, a day. */
  idempotencyTtl?: number
  /** Refuse PATCH, PUT and DELETE without `If-Match` (428). Default `false`. */
  requireIfMatch?: boolean
  /** How errors are answered: `problem` (RFC 9457, the default), `fastify` (thrown on to your own error handler), or a function that makes the body. */
  errorFormat?: ErrorFormat
  /** Answer unknown paths under the prefix. Default `true`; `false` leaves them to your own not-found handler, as `errorFormat: 'fastify'` does. */
  notFoundHandler?: boolean
  /** First part of new API keys' text: 1 to 12 of `a-z`, `0-9`. Default `uk`. */
  keyPrefix?: string
  /** Seconds that a verified key may be remembered: how long another process's revocation can take to be seen here. Default 5; 0 turns it off. */
  keyCache?: number
  /**
   * Secret for HMAC-SHA-256 of stored keys, at least 32 characters; without one they are stored as SHA-256. Or a list of at most 8, the current one first: keys made
   * under the others still work.
   */
  pepper?: string | readonly string[]
  /** API keys from your own configuration, at least 32 visible ASCII characters each. A plain string has the three scopes of users. */
  staticKeys?: readonly StaticKey[]
  /** Your own check of tokens that are neither static keys nor shaped like stored ones: who holds it, or null. A throw is answered 503. */
  authenticate?: Authenticate
  /** Routes for API keys under `/api-keys`, for callers with `keys:read` and `keys:write`. Default `false`. */
  apiKeyRoutes?: boolean
  /** At most `max` requests of a key in `window` seconds; more are 429. Needs @fastify/rate-limit, whose options `redis`, `store`, `nameSpace`, `cache` and `skipOnError` are passed on. */
  rateLimit?: RateLimit
  /**
   * At most `max` keys that were not good from an address (IPv6: a /64) in `window` seconds; whatever comes from there then is 429. Needs @fastify/rate-limit.
   * Behind a proxy all addresses are one, unless your server has `trustProxy`.
   */
  authFailures?: Quota
  /** At most so many requests to delete a user in an hour from a key; more are 429: contains a leaked key, or a script gone wild. Needs @fastify/rate-limit. */
  maxDeletesPerHour?: number
  /** At most so many requests at work on the storage at once; more are 503 at once. No bound by default. */
  maxInFlight?: number
  /**
   * Members of your own that users have, beside `name` and `email`, as a JSON Schema: `Type.Object({ plan: Type.String() })` of `typebox` 1 or `@sinclair/typebox`
   * 0.34, or a plain one. Required, optional, with defaults, nested. Their types come to `app.users` by `declare module 'fastify-users' { interface UserFields extends
   * Static<typeof fields> {} }`, or an interface of yours in place of `Static<typeof fields>`.
   */
  fields?: FieldsJsonSchema
  /** Fields that lists can be narrowed by, `?plan=pro`: text, numbers, true or false. `storage.migrate({ filterable })` makes an index for each. */
  filterable?: readonly string[]
  /** Describe the routes to `@fastify/swagger` (registered before this plugin, with its option `openapi`). Default `true`; `false` hides them. */
  openapi?: boolean
  /** This mount is to go: every answer says since when (`Deprecation`, RFC 9745), until when (`Sunset`, RFC 8594), and where that is told (`Link`). */
  deprecated?: Deprecated
  /** As in Fastify's own `register`. */
  logLevel?: NonNullable<RegisterOptions['logLevel']>
  /** As in Fastify's own `register`. */
  logSerializers?: NonNullable<RegisterOptions['logSerializers']>
}

/** The options after the check: complete. */
export interface CheckedOptions extends LimiterOptions {
  storage: Storage
  prefix: string
  decoratorName: string
  migrate: boolean
  limits: { default: number, max: number }
  idempotencyTtl: number
  requireIfMatch: boolean
  errorFormat: ErrorFormat
  notFoundHandler: boolean
  keyPrefix: string
  keyCache: number
  /** The current one first; none: SHA-256. */
  peppers: readonly string[]
  staticKeys: readonly StaticKey[]
  authenticate: Authenticate | undefined
  apiKeyRoutes: boolean
  maxInFlight: number | undefined
  fields: FieldsJsonSchema | undefined
  filterable: readonly string[]
  openapi: boolean
  deprecated: Deprecated | undefined
  registration: Pick<RegisterOptions, 'logLevel' | 'logSerializers'>
}

const PAGE_LIMIT = 10_000
const method = Type.Function([], Type.Unknown())
const quota = { max: Type.Integer({ minimum: 1 }), window: Type.Integer({ minimum: 1, maximum: 86_400 }) }
const moment = Type.Union([Type.Date(), Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?(?:Z|[+-]\\d{2}:\\d{2}))?$' })])
const pepper = Type.String({ minLength: 32 })
const staticKey = Type.String({ pattern: '^[\\x21-\\x7e]{32,}$' })

/** The rows of these options, for the command line too: a key that it makes must be one that the server can read. */
export const keyRows: OptionRows<Pick<UsersOptions, 'keyPrefix' | 'pepper'>> = {
  keyPrefix: { schema: Type.String({ pattern: KEY_PREFIX.source }), words: 'must be 1 to 12 of a-z and 0-9' },
  pepper: { schema: Type.Union([pepper, Type.Array(pepper, { minItems: 1, maxItems: 8 })]), words: 'must be a string of at least 32 characters, or a list of 1 to 8 of them' }
}

const refuseWrong = optionCheck<UsersOptions>({
  ...keyRows,
  storage: {
    required: true,
    schema: Type.Object({ name: Type.String(), supports: Type.Object({ transactions: Type.Boolean() }), ...Object.fromEntries(METHODS.map((name) => [name, method])) }),
    words: (value) => 'is required and must be a storage, such as memory(), sqlite({ filename }) or postgres({ connection })' +
      (value === undefined ? '' : `: this one lacks ${missingFrom(value).join(', ')}`)
  },
  prefix: { schema: Type.String({ pattern: "^(?:/[A-Za-z0-9._~!$&'()*+,=:@/-]*)?$" }), words: 'must be a path that begins with /, of characters that a URI path has without escapes' },
  decoratorName: { schema: Type.String({ pattern: '^[A-Za-z_$][A-Za-z0-9_$]*$' }), words: 'must be a JavaScript identifier' },
  migrate: { schema: Type.Boolean(), words: 'must be true or false' },
  limits: {
    schema: Type.Object({
      default: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_LIMIT })),
      max: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_LIMIT }))
    }, { additionalProperties: false }),
    words: `must be { default, max } with whole numbers from 1 to ${PAGE_LIMIT}`
  },
  idempotencyTtl: { schema: Type.Integer({ minimum: 1, maximum: 31_536_000 }), words: 'must be a whole number of seconds from 1 to 31536000' },
  requireIfMatch: { schema: Type.Boolean(), words: 'must be true or false' },
  errorFormat: { schema: Type.Union([Type.Literal('problem'), Type.Literal('fastify'), method]), words: "must be 'problem', 'fastify' or a function" },
  notFoundHandler: { schema: Type.Boolean(), words: 'must be true or false' },
  keyCache: { schema: Type.Number({ minimum: 0, maximum: 3600 }), words: 'must be a number of seconds from 0 to 3600' },
  staticKeys: {
    schema: Type.Array(Type.Union([
      staticKey,
      Type.Object({
        key: staticKey,
        name: Type.Optional(Type.String({ minLength: 1 })),
        scopes: Type.Optional(Type.Array(Type.Union(SCOPES.map((scope) => Type.Literal(scope))), { minItems: 1 }))
      }, { additionalProperties: false })
    ])),
    words: `must be a list of keys of at least 32 visible ASCII characters each, or of { key, name, scopes } with scopes from ${SCOPES.join(', ')}`
  },
  authenticate: { schema: method, words: 'must be a function' },
  apiKeyRoutes: { schema: Type.Boolean(), words: 'must be true or false' },
  rateLimit: {
    schema: Type.Object({
      ...quota,
      redis: Type.Optional(Type.Object({})),
      store: Type.Optional(method),
      nameSpace: Type.Optional(Type.String()),
      cache: Type.Optional(Type.Integer({ minimum: 1 })),
      skipOnError: Type.Optional(Type.Boolean())
    }, { additionalProperties: false }),
    words: 'must be { max, window } with whole numbers, window in seconds up to 86400, and may have redis, store, nameSpace, cache and skipOnError of @fastify/rate-limit'
  },
  authFailures: { schema: Type.Object(quota, { additionalProperties: false }), words: 'must be { max, window } with whole numbers, window in seconds up to 86400' },
  maxDeletesPerHour: { schema: Type.Integer({ minimum: 1 }), words: 'must be a whole number, 1 or more' },
  maxInFlight: { schema: Type.Integer({ minimum: 1 }), words: 'must be a whole number, 1 or more' },
  fields: { schema: Type.Object({ type: Type.Literal('object'), properties: Type.Record(Type.String(), Type.Object({})) }), words: 'must be a JSON Schema of an object, such as Type.Object({ … }) of TypeBox makes' },
  filterable: { schema: Type.Array(Type.String(), { uniqueItems: true }), words: 'must be a list of names of fields, each once' },
  openapi: { schema: Type.Boolean(), words: 'must be true or false' },
  deprecated: {
    schema: Type.Object({ since: moment, sunset: Type.Optional(moment), link: Type.Optional(Type.String({ pattern: '^[!#-;=?-\\[\\]_a-z~%]+$' })) }, { additionalProperties: false }),
    words: 'must be { since, sunset, link }, dates as Date or ISO 8601 text, link a URI'
  },
  logLevel: { schema: Type.String(), words: 'must be the name of a log level' },
  logSerializers: { schema: Type.Object({}), words: 'must be an object of serializers' }
})

/** The peppers that the option gives, the current one first. */
export function peppersOf (pepper: UsersOptions['pepper'] = []): readonly string[] {
  return typeof pepper === 'string' ? [pepper] : [...pepper]
}

function hasTwice (keys: readonly StaticKey[]): boolean {
  return new Set(keys.map((key) => typeof key === 'string' ? key : key.key)).size < keys.length
}

/**
 * Checks the options and fills in the defaults; the answer shares nothing but the storage and functions with what was given.
 * @throws TypeError that names every problem at once
 */
export function checkOptions (given: UsersOptions): CheckedOptions {
  const { default: defaultLimit, max = 100 } = given.limits ?? {}
  const limits = { default: defaultLimit ?? Math.min(20, max), max }
  refuseWrong('fastify-users', given, () => [
    ...(hasTwice(given.staticKeys ?? []) ? ['staticKeys must not name a key twice'] : []),
    ...(given.authFailures !== undefined && given.rateLimit?.store !== undefined && typeof given.rateLimit.store.prototype?.read !== 'function'
      ? ['rateLimit.store must have the method read, since authFailures asks without counting']
      : []),
    ...(given.fields === undefined && given.filterable !== undefined ? ['filterable names fields, and there is no option fields'] : []),
    ...(given.deprecated === undefined ? [] : deprecationFaults(given.deprecated)),
    ...(limits.default > limits.max ? ['limits.default must not be greater than limits.max'] : [])
  ])
  const { storage, prefix = '/v1', logLevel, logSerializers } = given
  return Object.freeze({
    storage,
    prefix: prefix.replace(/\/+$/, ''),
    decoratorName: given.decoratorName ?? 'users',
    migrate: given.migrate ?? false,
    limits: Object.freeze(limits),
    idempotencyTtl: given.idempotencyTtl ?? 86_400,
    requireIfMatch: given.requireIfMatch ?? false,
    errorFormat: given.errorFormat ?? 'problem',
    notFoundHandler: given.notFoundHandler ?? true,
    keyPrefix: given.keyPrefix ?? DEFAULT_KEY_PREFIX,
    keyCache: given.keyCache ?? 5,
    peppers: Object.freeze(peppersOf(given.pepper)),
    staticKeys: Object.freeze(structuredClone([...given.staticKeys ?? []])),
    authenticate: given.authenticate,
    apiKeyRoutes: given.apiKeyRoutes ?? false,
    rateLimit: given.rateLimit === undefined ? undefined : { ...given.rateLimit },
    authFailures: given.authFailures === undefined ? undefined : { ...given.authFailures },
    maxDeletesPerHour: given.maxDeletesPerHour,
    maxInFlight: given.maxInFlight,
    fields: given.fields,
    filterable: Object.freeze([...given.filterable ?? []]),
    openapi: given.openapi ?? true,
    deprecated: given.deprecated === undefined ? undefined : { ...given.deprecated },
    registration: { ...(logLevel !== undefined && { logLevel }), ...(logSerializers !== undefined && { logSerializers }) }
  })
}
