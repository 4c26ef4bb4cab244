import type { StaticKey } from '../api-keys/authenticator.ts'
import { DEFAULT_KEY_PREFIX, KEY_PREFIX } from '../api-keys/key-text.ts'
import {
  type CheckedOptionsOf, converted, defaulted, group, type Option, optional, optionalGroup, type OptionsOf, required
} from '../core/option-table.ts'
import { Type } from '../core/typebox.ts'
import type { FieldsJsonSchema, ZodFieldsSchema } from '../fields/fields-schema.ts'
import type { FilteredField, SearchedField } from '../storage/searched-words.ts'
import type { CounterOptions, Quota } from '../http/limits/rate-limit-options.ts'
import type { StreamBounds } from '../http/streams/stream-places.ts'
import { MAX_REFUSED } from '../transfer/import-answer.ts'
import {
  counters, fieldNames, filterableFields, flag, hostScopes, pepper, positive, quota, searchableFields, staticKey,
  staticKeyObject, streamBounds
} from './option-schemas.ts'

// Options that belong together: each table is a group of the plugin's options.

/** The options that decide what a key's text is and how it is stored. The command line has them too. */
export const keyOptions = {
  /** First part of API keys: 1 to 12 of `a-z`, `0-9`. Changing it invalidates all existing keys. */
  prefix: defaulted<string>(DEFAULT_KEY_PREFIX, {
    schema: Type.String({ pattern: KEY_PREFIX.source }),
    message: 'must be 1 to 12 characters of a-z and 0-9'
  }),
  /**
   * Secret for HMAC-SHA-256 of stored keys, at least 32 visible ASCII characters without commas. Without it, keys are
   * stored as SHA-256. In a list of at most 8, the current pepper comes first; keys made with the others still work.
   */
  pepper: converted<string | readonly string[], readonly string[]>(
    (given = []) => Object.freeze(typeof given === 'string' ? [given] : [...given]),
    {
      schema: Type.Union([pepper, Type.Array(pepper, { minItems: 1, maxItems: 8 })]),
      message: 'must be a string of at least 32 visible ASCII characters without commas, or a list of 1 to 8 of them'
    }
  )
}

/** Options of API keys. */
export const apiKeyOptions = {
  ...keyOptions,
  /**
   * Seconds that a verified key may be cached, so a revocation in another process can take that long to apply. 0
   * turns the cache off.
   */
  cache: defaulted<number>(5, {
    schema: Type.Number({ minimum: 0, maximum: 3600 }),
    message: 'must be a number of seconds from 0 to 3600'
  }),
  /**
   * API keys from your own configuration, at least 32 visible ASCII characters each. A plain string has the three
   * `users:` scopes; `{ key, name, scopes }` can have any, and also `tenant`, `addresses` and `rateLimit` like a stored
   * key.
   */
  static: converted<readonly StaticKey[], readonly StaticKey[]>(
    (given = []) => Object.freeze(structuredClone([...given])),
    {
      schema: Type.Array(Type.Union([staticKey, staticKeyObject])),
      message: 'must be a list of keys of at least 32 visible ASCII characters each, or of { key, name, scopes } ' +
        'with scopes as strings'
    }
  ),
  /**
   * Scopes of your own, each with what it allows: `{ 'orders:read': 'Read orders' }`. Keys can have them, and
   * `app.users.guard('orders:read')` admits such keys to your routes.
   */
  scopes: converted<Readonly<Record<string, string>>, Readonly<Record<string, string>>>(
    (given = {}) => Object.freeze({ ...given }), hostScopes),
  /** Add routes for API keys under `/api-keys`, for callers with `keys:read` and `keys:write`. */
  routes: defaulted<boolean>(false, flag),
  /**
   * Count the requests of each stored key per day. Read them with `app.users.apiKeys.uses()` and, with `routes`, at
   * `/api-keys/{id}/uses`.
   */
  countUses: defaulted<boolean>(false, flag)
}

/** What a caller, and all of them together, can take. */
export const limitOptions = {
  /** At most `max` requests of a key in `window` seconds; more get 429. Needs @fastify/rate-limit. */
  requests: optional<Quota>(quota),
  /**
   * At most `max` refused keys from one address (IPv6: a /64) in `window` seconds; then requests from it get 429,
   * except with a key accepted in the last hour. Needs @fastify/rate-limit. Behind a proxy, set your server's
   * `trustProxy`.
   */
  failures: optional<Quota>(quota),
  /**
   * At most `max` requests to delete a user from one key in `window` seconds; more get 429. It limits the damage of a
   * leaked key. Needs @fastify/rate-limit.
   */
  deletions: optional<Quota>(quota),
  /**
   * Where the three limits are counted; in process by default. @fastify/rate-limit gets `redis`, `store`, `nameSpace`,
   * `cache` and `skipOnError`.
   */
  counters: converted<CounterOptions, CounterOptions>((given) => ({ ...given }), counters),
  /**
   * Maximum number of requests that read from the storage concurrently, and of those that write. Others wait for 650 ms
   * at most, or get 503 with `Retry-After` immediately if waiting can't help. Callers take turns, so that none takes
   * all places. Default: what the storage sets, such as four per connection.
   */
  inFlight: optional<number>(positive),
  /**
   * How many refused lines the answer to an import lists: the default and the maximum of the parameter `maxRefused`.
   * Further ones are only counted.
   */
  refusedLines: defaulted<number>(MAX_REFUSED, {
    schema: Type.Integer({ minimum: 0 }), message: 'must be a whole number, 0 or more'
  }),
  /**
   * How many event streams may be open: per caller (`perKey`, 10 by default; more get 429) and in total (`total`,
   * 1,000 by default; more get 503), both with `Retry-After`.
   */
  streams: converted<Partial<StreamBounds>, StreamBounds>(
    ({ perKey = 10, total = 1000 } = {}) => Object.freeze({ perKey, total }), streamBounds)
}

/** The host's own fields. */
export const fieldOptions = {
  /**
   * Your own fields of users, besides `name` and `email`, as a JSON Schema: `Type.Object({ plan:
   * Type.String() })` of `typebox` 1 or `@sinclair/typebox` 0.34, `z.toJSONSchema(z.object({ plan: z.string() }))` of
   * Zod 4, or a plain one. For the types of `app.users`:
   * `declare module 'fastify-users' { interface UserFields extends Static<typeof schema> {} }`, or `declare module
   * 'fastify-users/plugin'` if that is what you import.
   */
  schema: required<FieldsJsonSchema | ZodFieldsSchema>({
    schema: Type.Object({ type: Type.Literal('object'), properties: Type.Record(Type.String(), Type.Object({})) }),
    message: (value) => `must be a JSON Schema of an object: ${Object(value).safeParse === undefined
      ? "Type.Object({ … }) of TypeBox, z.toJSONSchema(schema) of Zod, or { type: 'object', properties: { … } }"
      : 'this is a schema of Zod, so give z.toJSONSchema(schema)'}`
  }),
  /**
   * Own fields that lists can be filtered by, such as `?plan=pro`: strings, numbers or booleans.
   * `storage.open({ migrate: true, filterable })` adds an index for each. With `{ field, match: 'folded' }` strings are
   * compared without their case and accents.
   */
  filterable: converted<ReadonlyArray<string | FilterableField>, readonly FilteredField[]>(
    (given = []) => Object.freeze(given.map((each) => typeof each === 'string'
      ? { field: each, match: 'exact' } as const
      : { field: each.field, match: each.match ?? 'exact' })),
    filterableFields
  ),
  /**
   * Own fields whose value only one user can have, such as an external account number: strings or numbers. Lists can be
   * filtered by them too. `storage.open({ migrate: true, unique })` adds a unique index for each.
   */
  unique: converted<readonly string[], readonly string[]>((given = []) => Object.freeze([...given]), fieldNames),
  /**
   * Own fields that the parameter `q` of lists searches, besides name and address: strings and numbers, even inside
   * arrays and objects. `{ field, match: 'digits' }` is for numbers that people write with spaces and signs, such as
   * telephone numbers. `storage.open({ migrate: true, searchable })` indexes all users again.
   */
  searchable: converted<ReadonlyArray<string | SearchableField>, readonly SearchedField[]>(
    (given = []) => Object.freeze(given.map((each) => typeof each === 'string'
      ? { field: each, match: 'words' } as const
      : { field: each.field, match: each.match ?? 'words' })),
    searchableFields
  )
}

/** A field that lists are filtered by. */
export interface FilterableField { field: string, match?: 'exact' | 'folded' }

/** A field that `q` searches. */
export interface SearchableField { field: string, match?: 'words' | 'digits' }

export interface ApiKeysOptions extends OptionsOf<typeof apiKeyOptions> {}
export interface LimitsOptions extends OptionsOf<typeof limitOptions> {}
export interface FieldsOptions extends OptionsOf<typeof fieldOptions> {}

// Interfaces, so that editors show their names.
export interface ApiKeysOption extends Option<ApiKeysOptions, CheckedOptionsOf<typeof apiKeyOptions>, false> {}
export interface LimitsOption extends Option<LimitsOptions, CheckedOptionsOf<typeof limitOptions>, false> {}
export interface FieldsOption extends Option<FieldsOptions, CheckedOptionsOf<typeof fieldOptions> | undefined, false> {}
export const apiKeys: ApiKeysOption = group(apiKeyOptions)
export const limits: LimitsOption = group(limitOptions)
export const fields: FieldsOption = optionalGroup(fieldOptions)
