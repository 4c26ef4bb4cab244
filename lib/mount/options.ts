import type { FastifyRequest } from 'fastify'
import { canonicalNetwork } from '../api-keys/addresses.ts'
import type { Authenticate as AuthenticateOn } from '../api-keys/authenticator.ts'
import { PAGE_SIZE_MAX } from '../core/limits.ts'
import {
  type CheckedOptionsOf, converted, defaulted, optional, type OptionsOf, readOptions
} from '../core/option-table.ts'
import { Type } from '../core/typebox.ts'
import { type Deprecated, deprecationFaults } from '../http/responses/deprecation.ts'
import type { ErrorFormat } from '../http/responses/problem.ts'
import { apiKeys, fields, limits } from './option-groups.ts'
import {
  CLOSED, flag, hasTwice, hasUndefined, identifier, logLevel, logSerializers, method, moment, pageSize, scopeProblems,
  storage
} from './option-schemas.ts'

// Seconds: 30 days, and a hundred years.
const RETENTION = 2_592_000
const YEARS = 3_153_600_000

/** Something is kept for a time, or not at all. */
const kept = converted<boolean | { retention?: number }, { retention: number } | null>(
  (given = false) => given === false ? null : { retention: RETENTION, ...given === true ? {} : given },
  {
    schema: Type.Union([
      Type.Boolean(), Type.Object({ retention: Type.Optional(Type.Integer({ minimum: 1, maximum: YEARS })) }, CLOSED)
    ]),
    message: `must be true, false or { retention } with a whole number of seconds from 1 to ${YEARS}`
  }
)

/** The host's own check of a token. If it throws, the answer is 503, never 401. */
export type Authenticate = AuthenticateOn<FastifyRequest>

/** Every option of the plugin. */
export const optionTable = {
  /**
   * Where users are kept: `memory()`, `sqlite()`, `postgres()`, `mariadb()`, `knexStorage()`, or a store of your own.
   */
  storage,
  /** Path of the routes; prefixes of outer scopes come before it. */
  prefix: converted<string, string>((given = '/v1') => given.replace(/\/+$/, ''), {
    schema: Type.String({ pattern: "^(?:/[A-Za-z0-9._~!$&'()*+,=:@-]+)*/*$" }),
    message: 'must be a path that begins with /, of characters that a URI path may contain unescaped'
  }),
  /** Name of the decorator on the Fastify instance. */
  decoratorName: defaulted<string>('users', identifier),
  /** Name of the request property with the caller that `app.users.guard()` admitted. */
  callerName: defaulted<string>('caller', identifier),
  /** Bring the storage's schema up to date at start. With `false`, you call `await storage.open({ migrate: true })`. */
  migrate: defaulted<boolean>(false, flag),
  /** Records per page: `default` if the client sends no `limit`, and `max` at most. */
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
  /** Refuse PATCH, PUT, DELETE and reversals without `If-Match` (428). */
  requireIfMatch: defaulted<boolean>(false, flag),
  /**
   * The format of errors: `problem` (RFC 9457), `fastify` (rethrown to your own error handler, which you set before
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
  /** Your own fields of users: `{ schema, filterable?, unique?, searchable? }`. */
  fields,
  /** API keys: `{ prefix, pepper, cache, static, scopes, routes, countUses }`. */
  apiKeys,
  /** Limits: `{ requests, failures, deletions, counters, inFlight, refusedLines, streams }`. */
  limits,
  /**
   * Your own check of tokens that are neither static keys nor shaped like stored ones:
   * `(token, request) => { id, scopes, name?, expiresAt?, tenant? }` or null. If it throws, the answer is 503.
   */
  authenticate: optional<Authenticate>({ schema: method, message: 'must be a function' }),
  /**
   * Record every change to a user or API key in the same step as the change, and add the routes that read the events,
   * for callers with `events:read`. `{ retention }`: seconds that events are kept, 30 days by default.
   */
  eventLog: kept,
  /**
   * Keep deleted users, so that they can be restored, and add the routes for that. `{ retention }`: seconds until they
   * are purged, 30 days by default. Without it a deletion is final.
   */
  trash: kept,
  /**
   * Serve many tenants: a key bound to a tenant, or a principal that `authenticate` returns with one, sees and
   * changes only what belongs to that tenant. Stored keys without a tenant belong to the platform and see everything;
   * static keys and `authenticate` need `tenant: null` for that. A parameter `:tenant` in the prefix limits such a key
   * to that tenant; for others it must match.
   */
  tenants: defaulted<boolean>(false, flag),
  /**
   * Add groups of users, with their members, and the routes for callers with `groups:read` and `groups:write`. What a
   * group may do is up to you: groups say nothing about rights.
   */
  groups: defaulted<boolean>(false, flag),
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
    message: 'must be { since, sunset, link }, with dates as Date or ISO 8601 strings, and a URI as link'
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
  const { pageSize } = options
  const { default: usual, max } = optionTable.pageSize.read(pageSize)
  const store = options.limits?.counters?.store
  const problems: Array<[boolean, string]> = [
    [hasTwice(options.apiKeys?.static ?? []), 'apiKeys.static must not name a key twice'],
    [options.apiKeys !== undefined && 'pepper' in options.apiKeys && options.apiKeys.pepper === undefined,
      'apiKeys.pepper is undefined, as an environment variable is that is not set: give it a value, or leave it out'],
    [hasUndefined(options.apiKeys?.static ?? []),
      'apiKeys.static has a key with a member that is undefined: give it a value, or leave it out'],
    [options.tenants === true && (options.apiKeys?.static ?? []).some((key) =>
      typeof key === 'string' || key.tenant === undefined),
    'apiKeys.static must name the tenant of each key if tenants is on; tenant: null makes it a key of the platform'],
    [options.limits?.failures !== undefined && store !== undefined && typeof store.prototype?.read !== 'function',
      'limits.counters.store must have the method read: limits.failures reads counters without incrementing them'],
    [store !== undefined && !['incr', 'child'].every((name) => typeof store.prototype?.[name] === 'function'),
      'limits.counters.store must have the methods incr and child'],
    [options.tenants !== true && (options.apiKeys?.static ?? []).some((key) =>
      typeof key === 'object' && typeof key.tenant === 'string'),
    'apiKeys.static names a tenant, which needs the option tenants'],
    [(options.apiKeys?.static ?? []).some((key) => typeof key === 'object' &&
      key.addresses?.some((text) => canonicalNetwork(text) === null) === true),
    'apiKeys.static must have addresses in CIDR form, such as 203.0.113.0/24: one address is /32 or /128'],
    [usual > max, 'pageSize.default must not be greater than pageSize.max']
  ]
  return [
    ...problems.filter(([isWrong]) => isWrong).map(([, problem]) => problem),
    ...scopeProblems(options.apiKeys?.static ?? [], options.apiKeys?.scopes ?? {}, options.tenants === true),
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
