import { optional, type OptionsOf, readOptions } from '../../../lib/core/option-table.ts'
import { Type } from '../../../lib/core/typebox.ts'
import { PROFILES, type Profile } from './profiles.ts'

// Plain lower-case identifiers mean the same quoted and unquoted. PostgreSQL cuts names at 63 bytes; ours add at most
// 27.
const identifier = {
  schema: Type.String({ pattern: '^[a-z_][a-z0-9_]{0,35}$' }),
  message: 'must be 1 to 36 characters of a-z, 0-9 and _, and must not begin with a digit'
}

/** PostgreSQL's channel for changes of API keys. It is the database's, so a notification names the schema. */
export const KEY_CHANGES_CHANNEL = 'fastify_users_api_keys'

/** What SQLite's trigger says that keeps a user who is in a group. */
export const IN_A_GROUP = 'fastify-users: the user is in a group'

/** What the names of all tables begin with, unless the option says something else. */
export const DEFAULT_PREFIX = 'fastify_users_'

/** What the names of unique fields' indexes begin with, after the prefix. */
export const UNIQUE_INDEX = 'unique_'

/** The option that every storage in SQL has. */
export const prefixOption = {
  /** Prefix of every table, constraint and index of ours. Default `fastify_users_`. */
  tablePrefix: optional<string>(identifier)
}

/** The options that say where the tables are and what they are called. */
export const namingTable = {
  ...prefixOption,
  /**
   * PostgreSQL only: the schema of the tables, created by `open({ migrate: true })`. By default the search path of the
   * connection decides.
   */
  schema: optional<string>(identifier),
  /**
   * PostgreSQL only: which features of the server are used. `classic` needs triggers, functions, sequences and advisory
   * locks. `portable` works without all of these, and is slower. Default: the profile of the existing tables; without
   * tables, `open({ migrate: true })` tries what the server can do. If the tables have another profile, it moves them.
   */
  profile: optional<Profile>({
    schema: Type.Union(PROFILES.map((each) => Type.Literal(each))),
    message: 'must be classic or portable'
  })
}

/** Where the tables are, and what they are called. */
export interface NamingOptions extends OptionsOf<typeof namingTable> {}

/** True if a constraint or an index has this name. Where the table lies on another server, a number may follow. */
export function isNamed (found: string, name: string): boolean {
  return found === name || (found.startsWith(`${name}_`) && /^\d+$/.test(found.slice(name.length + 1)))
}

/** Quoted, qualified names for SQL text, and bare ones for the catalog. */
export interface Names {
  schema: string | null
  users: string
  apiKeys: string
  apiKeyUses: string
  idempotencyKeys: string
  /** Rows that all writers move who must see each other. */
  marks: string
  migrations: string
  events: string
  /** What is left of pruned events. */
  prunedEvents: string
  /** PostgreSQL: one row, how far the events are in order. */
  eventState: string
  /** PostgreSQL: the sequence of the events as they are written. */
  eventSequence: string
  webhooks: string
  webhookDeliveries: string
  /** SQLite: the index of the words that users are found by. */
  userWords: string
  /** Users that were deleted and can be restored. */
  deletedUsers: string
  userGroups: string
  memberships: string
  /** Ranges of user ids, each with the number of users in it. */
  blocks: string
  /** Ranges of blocks, each with the number of users before it. */
  groups: string
  /** Changes of the number of users in blocks that are not added to them yet. */
  changes: string
  /** One row: how far the blocks reach. */
  state: string
  /** The portable profile: numbers of users, in several rows for each scope, and the locks that have names. */
  userCounts: string
  locks: string
  /** PostgreSQL: a sequence that says which new users need no row in `changes`. */
  watermark: string
  /** The bare name of the table of migrations. */
  bareMigrations: string
  /** The bare name of the users' table. */
  bareUsers: string
  /** The bare name of the unique constraint on e-mail keys. */
  emailUnique: string
  /** A quoted name for a constraint, an index, a trigger or a function: these are never qualified. */
  quoted (name: string): string
  /** The same without quotes. */
  bare (name: string): string
}

/**
 * Checks the options and builds the names. `hasSchemas`: whether the database has schemas.
 * @throws TypeError for an unknown option, or a prefix or schema that is no plain identifier
 */
export function namesOf (options: NamingOptions, hasSchemas: boolean): Names {
  const given = readOptions('fastify-users: knexStorage()', namingTable, options)
  const { tablePrefix = DEFAULT_PREFIX, schema, profile } = given
  if (!hasSchemas && schema !== undefined) throw new TypeError('fastify-users: the option schema is for PostgreSQL')
  if (!hasSchemas && profile !== undefined) throw new TypeError('fastify-users: the option profile is for PostgreSQL')
  const bare = (name: string) => `${tablePrefix}${name}`
  const quoted = (name: string) => `"${bare(name)}"`
  const table = (name: string) => schema === undefined ? quoted(name) : `"${schema}".${quoted(name)}`
  return {
    schema: schema ?? null,
    users: table('users'),
    apiKeys: table('api_keys'),
    apiKeyUses: table('api_key_uses'),
    idempotencyKeys: table('idempotency_keys'),
    marks: table('marks'),
    migrations: table('migrations'),
    events: table('events'),
    prunedEvents: table('pruned_events'),
    eventState: table('event_state'),
    eventSequence: table('event_sequence'),
    webhooks: table('webhooks'),
    webhookDeliveries: table('webhook_deliveries'),
    userWords: table('user_words'),
    deletedUsers: table('deleted_users'),
    userGroups: table('user_groups'),
    memberships: table('memberships'),
    blocks: table('counting_blocks'),
    groups: table('counting_groups'),
    changes: table('counting_changes'),
    state: table('counting_state'),
    userCounts: table('user_counts'),
    locks: table('locks'),
    watermark: table('counting_watermark'),
    bareMigrations: bare('migrations'),
    bareUsers: bare('users'),
    emailUnique: bare('users_email_unique'),
    quoted,
    bare
  }
}
