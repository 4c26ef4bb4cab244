import type { FastifyRequest } from 'fastify'
import type { Authenticate as AuthenticateOn, StaticKey } from '../api-keys/authenticator.ts'
import { DEFAULT_KEY_PREFIX, KEY_PREFIX } from '../api-keys/key-text.ts'
import { SCOPES } from '../api-keys/scopes.ts'
import { PAGE_SIZE_MAX } from '../core/limits.ts'
import {
  type CheckedOptionsOf, converted, defaulted, optional, type OptionsOf, readOptions
} from '../core/option-table.ts'
import { Type } from '../core/typebox.ts'
import type { FieldsJsonSchema, ZodFieldsSchema } from '../fields/fields-schema.ts'
import { type Deprecated, deprecationFaults } from '../http/responses/deprecation.ts'
import type { ErrorFormat } from '../http/responses/problem.ts'
import type { Quota, RateLimit } from '../http/limits/rate-limit-options.ts'
import type { StreamBounds } from '../http/streams/stream-places.ts'
import {
  CLOSED, fieldNames, flag, hasTwice, logLevel, logSerializers, method, moment, pageSize, pepper, positive, quota,
  quotaMessage, rateLimitObject, staticKey, staticKeyObject, storage, streamBounds
} from './option-schemas.ts'
import { MAX_REFUSED } from '../transfer/import-answer.ts'

// Seconds: 30 days, and a hundred years.
const RETENTION = 2_592_000
const YEARS = 3_153_600_000

/** The host's own check of a token. If it throws, the answer is 503, never 401. */
export type Authenticate = AuthenticateOn<FastifyRequest>

/** The options that decide what a key's text is and how it is stored. The command line has them too. */
export const keyOptions = {
  /** First part of API keys: 1 to 12 of `a-z`, `0-9`. Another one ends all keys that were made before. */
  keyPrefix: defaulted<string>(DEFAULT_KEY_PREFIX, {
    schema: Type.String({ pattern: KEY_PREFIX.source }),
    message: 'must be 1 to 12 of a-z and 0-9'
  }),
  /**
   * Secret for HMAC-SHA-256 of stored keys, at least 32 visible ASCII characters without commas; without one keys are
   * stored as SHA-256. A list of at most 8 has the current pepper first: keys created with the others still work.
   */
  pepper: converted<string | readonly string[], readonly string[]>(
    (given = []) => Object.freeze(typeof given === 'string' ? [given] : [...given]),
    {
      schema: Type.Union([pepper, Type.Array(pepper, { minItems: 1, maxItems: 8 })]),
      message: 'must be a string of at least 32 visible ASCII characters without commas, or a list of 1 to 8 of them'
    }
  )
}

/** Every option of the plugin. */
export const optionTable = {
  /** Where users are kept: `memory()`, `sqlite()`, `postgres()`, `knexStorage()`, or a store of your own. */
  storage,
  /** Path of the routes; prefixes of outer scopes come before it. */
  prefix: converted<string, string>((given = '/v1') => given.replace(/\/+$/, ''), {
    schema: Type.String({ pattern: "^(?:/[A-Za-z0-9._~!$&'()*+,=:@-]+)*/*$" }),
    message: 'must be a path that begins with /, of characters that a URI path has without escapes'
  }),
  /** Name of the decorator on the Fastify instance. */
  decoratorName: defaulted<string>('users', {
    schema: Type.String({ pattern: '^[A-Za-z_$][A-Za-z0-9_$]*$' }),
    message: 'must be a JavaScript identifier'
  }),
  /** Bring the storage's schema up to date at start. With `false`, you call `await storage.migrate()`. */
  migrate: defaulted<boolean>(false, flag),
  /** Records on a page: if the client does not say (`default`), and at most (`max`). */
  pageSize: converted<{ default?: number, max?: number }, { default: number, max: number }>(
    ({ max = 100, default: usual = Math.min(20, max) } = {}) => Object.freeze({ default: usual, max }),
    {
      schema: Type.Object({ default: pageSize, max: pageSize }, CLOSED),
      message: `must be { default, max } with whole numbers from 1 to ${PAGE_SIZE_MAX}`
    }
  ),
  /** Seconds that an `Idempotency-Key` is kept. */
  idempotencyTtl: defaulted<number>(86_400, {
    schema: Type.Integer({ minimum: 1, maximum: 31_536_000 }),
    message: 'must be a whole number of seconds from 1 to 31536000'
  }),
  /** Refuse PATCH, PUT and DELETE without `If-Match` (428). */
  requireIfMatch: defaulted<boolean>(false, flag),
  /**
   * How errors are answered: `problem` (RFC 9457), `fastify` (rethrown to your own error handler, which you set before
   * you register the plugin), or a function `(problem, request) => body`.
   */
  errorFormat: defaulted<ErrorFormat>('problem', {
    schema: Type.Union([Type.Literal('problem'), Type.Literal('fastify'), method]),
    message: "must be 'problem', 'fastify' or a function"
  }),
  /**
   * Answer unknown paths under the prefix. `false` leaves them to your own not-found handler, as
   * `errorFormat: 'fastify'` does.
   */
  notFoundHandler: defaulted<boolean>(true, flag),
  ...keyOptions,
  /**
   * Seconds that a verified key may be cached: how long a revocation in another process can take to be seen here. 0
   * turns the cache off.
   */
  keyCache: defaulted<number>(5, {
    schema: Type.Number({ minimum: 0, maximum: 3600 }),
    message: 'must be a number of seconds from 0 to 3600'
  }),
  /**
   * API keys from your own configuration, at least 32 visible ASCII characters each. A plain string has the three
   * scopes of users; `{ key, name, scopes }` has others.
   */
  staticKeys: converted<readonly StaticKey[], readonly StaticKey[]>(
    (given = []) => Object.freeze(structuredClone([...given])),
    {
      schema: Type.Array(Type.Union([staticKey, staticKeyObject])),
      message: 'must be a list of keys of at least 32 visible ASCII characters each, or of { key, name, scopes } ' +
        `with scopes from ${SCOPES.join(', ')}`
    }
  ),
  /**
   * Your own check of tokens that are neither static keys nor shaped like stored ones:
   * `(token, request) => { id, scopes, expiresAt? }` or null. If it throws, the answer is 503.
   */
  authenticate: optional<Authenticate>({ schema: method, message: 'must be a function' }),
  /** Add routes for API keys under `/api-keys`, for callers with `keys:read` and `keys:write`. */
  apiKeyRoutes: defaulted<boolean>(false, flag),
  /**
   * At most `max` requests of a key in `window` seconds; more get 429. Needs @fastify/rate-limit, which gets `redis`,
   * `store`, `nameSpace`, `cache` and `skipOnError`.
   */
  rateLimit: converted<RateLimit, RateLimit | undefined>((given) => given === undefined ? undefined : { ...given }, {
    schema: rateLimitObject,
    message: `${quotaMessage}, and may have redis (a client of ioredis), store, nameSpace, cache and skipOnError of ` +
      '@fastify/rate-limit'
  }),
  /**
   * At most `max` refused keys from one address (IPv6: a /64) in `window` seconds; after that requests from it get 429,
   * but for keys that were accepted in the last hour. Needs @fastify/rate-limit. Behind a proxy, set your server's
   * `trustProxy`.
   */
  authFailures: converted<Quota, Quota | undefined>((given) => given === undefined ? undefined : { ...given }, {
    schema: Type.Object(quota, CLOSED),
    message: quotaMessage
  }),
  /**
   * Maximum number of requests to delete a user in an hour from one key; more get 429. It limits the damage of a leaked
   * key. Needs @fastify/rate-limit.
   */
  maxDeletesPerHour: optional<number>(positive),
  /**
   * Maximum number of requests that read from the storage concurrently, and as many that write. More wait for 650 ms at
   * most, and get 503 with `Retry-After` immediately if that would not do. Default: what the storage says, such as four
   * for each connection.
   */
  maxInFlight: optional<number>(positive),
  /**
   * How many refused lines the answer of an import names: the default, and the most that the parameter `maxRefused` can
   * ask for. Further ones are counted.
   */
  maxRefused: defaulted<number>(MAX_REFUSED, {
    schema: Type.Integer({ minimum: 0 }), message: 'must be a whole number, 0 or more'
  }),
  /**
   * How many streams of events may be open: of one caller (`perKey`, 10 by default), which gets 429 then, and of all
   * (`total`, 1,000 by default), who get 503, both with `Retry-After`.
   */
  eventStreams: converted<Partial<StreamBounds>, StreamBounds>(
    ({ perKey = 10, total = 1000 } = {}) => Object.freeze({ perKey, total }), streamBounds),
  /**
   * Members of your own that users have beside `name` and `email`, as a JSON Schema: `Type.Object({ plan:
   * Type.String() })` of `typebox` 1 or `@sinclair/typebox` 0.34, `z.toJSONSchema(z.object({ plan: z.string() }))` of
   * Zod 4, or a plain one. For the types of `app.users`:
   * `declare module 'fastify-users' { interface UserFields extends Static<typeof fields> {} }`, or `declare module
   * 'fastify-users/plugin'` if that is what you import.
   */
  fields: optional<FieldsJsonSchema | ZodFieldsSchema>({
    schema: Type.Object({ type: Type.Literal('object'), properties: Type.Record(Type.String(), Type.Object({})) }),
    message: 'must be a JSON Schema of an object, as Type.Object({ … }) of TypeBox makes it'
  }),
  /**
   * Own fields that lists can be filtered by, such as `?plan=pro`: text, numbers, true or false.
   * `storage.migrate({ filterable })` makes an index for each.
   */
  filterable: converted<readonly string[], readonly string[]>((given = []) => Object.freeze([...given]), fieldNames),
  /**
   * Own fields whose value at most one user has, such as the number of an account elsewhere: text or numbers. Lists are
   * filtered by them too. `storage.migrate({ unique })` makes a unique index for each.
   */
  unique: converted<readonly string[], readonly string[]>((given = []) => Object.freeze([...given]), fieldNames),
  /**
   * Record every change of a user or API key in the same step as the change, and add the routes that read the events,
   * for callers with `events:read`. `{ retention }`: seconds that events are kept, 30 days by default.
   */
  eventLog: converted<boolean | { retention?: number }, { retention: number } | null>(
    (given = false) => given === false ? null : { retention: RETENTION, ...given === true ? {} : given },
    {
      schema: Type.Union([
        Type.Boolean(), Type.Object({ retention: Type.Optional(Type.Integer({ minimum: 1, maximum: YEARS })) }, CLOSED)
      ]),
      message: `must be true, false or { retention } with a whole number of seconds from 1 to ${YEARS}`
    }
  ),
  /** Describe the routes to `@fastify/swagger`, registered before this plugin for OpenAPI 3.1. `false` hides them. */
  openapi: defaulted<boolean>(true, flag),
  /**
   * Announce in every response that this mount is deprecated (`Deprecation`, RFC 9745), when it ends (`Sunset`, RFC
   * 8594) and where to read about it (`Link`): `{ since, sunset?, link? }`.
   */
  deprecated: converted<Deprecated, Deprecated | undefined>((given) => given === undefined ? undefined : { ...given }, {
    schema: Type.Object({
      since: moment,
      sunset: Type.Optional(moment),
      link: Type.Optional(Type.String({ pattern: '^[!#-;=?-\\[\\]_a-z~%]+$' }))
    }, CLOSED),
    message: 'must be { since, sunset, link }, dates as Date or ISO 8601 text, link a URI'
  }),
  /** As in Fastify's `register`. */
  logLevel,
  /** As in Fastify's `register`. */
  logSerializers
}

/** The options of the plugin. Only `storage` is required. */
export interface UsersOptions extends OptionsOf<typeof optionTable> {}

/** The options after the check, complete. */
export type CheckedOptions = CheckedOptionsOf<typeof optionTable>

function problemsBetween (options: UsersOptions): string[] {
  const { staticKeys, authFailures, rateLimit, fields, filterable, unique, pageSize, storage, eventLog } = options
  const { default: usual, max } = optionTable.pageSize.read(pageSize)
  const store = rateLimit?.store
  const problems: Array<[boolean, string]> = [
    [hasTwice(staticKeys ?? []), 'staticKeys must not name a key twice'],
    [authFailures !== undefined && store !== undefined && typeof store.prototype?.read !== 'function',
      'rateLimit.store must have the method read, because authFailures reads counters without incrementing them'],
    [store !== undefined && !['incr', 'child'].every((name) => typeof store.prototype?.[name] === 'function'),
      'rateLimit.store must have the methods incr and child'],
    [fields === undefined && filterable !== undefined, 'filterable names fields, and there is no option fields'],
    [fields === undefined && unique !== undefined, 'unique names fields, and there is no option fields'],
    [optionTable.eventLog.read(eventLog) !== null && storage.eventLog === undefined,
      `eventLog needs a storage that keeps events, and ${storage.name} has no eventLog`],
    [usual > max, 'pageSize.default must not be greater than pageSize.max']
  ]
  return [
    ...problems.filter(([isWrong]) => isWrong).map(([, problem]) => problem),
    ...(options.deprecated === undefined ? [] : deprecationFaults(options.deprecated))
  ]
}

/**
 * Checks the options and fills in the defaults. The result shares only the storage and functions with what was given.
 * @throws TypeError that names every problem
 */
export function checkOptions (given: UsersOptions): CheckedOptions {
  return readOptions('fastify-users', optionTable, given, () => problemsBetween(given))
}
