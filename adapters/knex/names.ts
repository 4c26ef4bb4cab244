import { Type } from '../../lib/typebox.ts'
import { optionCheck } from '../../lib/option-check.ts'
import type { Dialect } from './dialect.ts'

/** Where the tables live and what they are called. */
export interface NamingOptions {
  /** What every table, constraint and index of ours begins with. Default `fastify_users_`. */
  tablePrefix?: string
  /** PostgreSQL only: the schema of the tables, made by `migrate()`. By default the connection's search path decides. */
  schema?: string
}

/** Quoted, qualified names for SQL text. */
export interface Names {
  schema: string | null
  users: string
  apiKeys: string
  idempotency: string
  migrations: string
  /** Ranges of ids, each with the number of users in it. */
  blocks: string
  /** Ranges of blocks, each with the number of users in it. */
  blockGroups: string
  /** Users that came to a block, or left it, since its number was taken. */
  blockChanges: string
  /** One row: how far the blocks reach. */
  sealing: string
  /** PostgreSQL: a sequence that says which new users need no note. */
  beyond: string
  /** The bare name of the bookkeeping table, for the catalog. */
  migrationsTable: string
  /** The bare name of the unique index that decides about e-mail addresses. */
  emailUnique: string
  /** What tells our installations in one database apart, beside the schema that the search path begins with. */
  lock: string
  /** The bare name of the users' table. */
  usersTable: string
  /** A quoted name for a constraint or an index: these live beside their table and are never qualified. */
  own (name: string): string
  /** The same without quotes. */
  bare (name: string): string
}

// Plain lower-case identifiers mean the same quoted and unquoted. PostgreSQL cuts names at 63 bytes; ours add at most 27.
const identifier = { schema: Type.String({ pattern: '^[a-z_][a-z0-9_]{0,35}$' }), words: 'must be 1 to 36 of a-z, 0-9 and _, and must not begin with a digit' }

/** The rows of these options, for every check of options that has them. */
export const tablePrefix = identifier
export const schema = identifier

const refuseWrong = optionCheck<NamingOptions>({ tablePrefix, schema })

/**
 * Checks the options and builds the names.
 * @throws TypeError for an unknown option, or a prefix or schema that is no plain identifier
 */
export function namesOf (options: NamingOptions, dialect: Dialect): Names {
  refuseWrong('fastify-users: knexStorage()', options)
  const { tablePrefix = 'fastify_users_', schema } = options
  if (dialect.name === 'sqlite' && schema !== undefined) throw new TypeError('fastify-users: the option schema is for PostgreSQL')
  const table = (name: string) => schema === undefined ? `"${tablePrefix}${name}"` : `"${schema}"."${tablePrefix}${name}"`
  return {
    schema: schema ?? null,
    users: table('users'),
    apiKeys: table('api_keys'),
    idempotency: table('idempotency'),
    migrations: table('migrations'),
    blocks: table('blocks'),
    blockGroups: table('block_groups'),
    blockChanges: table('block_changes'),
    sealing: table('sealing'),
    beyond: table('beyond'),
    migrationsTable: `${tablePrefix}migrations`,
    emailUnique: `${tablePrefix}users_email_unique`,
    lock: `${schema ?? ''}.${tablePrefix}`,
    usersTable: `${tablePrefix}users`,
    own: (name) => `"${tablePrefix}${name}"`,
    bare: (name) => `${tablePrefix}${name}`
  }
}
