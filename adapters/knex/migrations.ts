import type { Dialect } from './dialect.ts'
import { blocksDown, blocksUp } from './blocks/schema.ts'
import { fieldsDown, fieldsUp } from './fields.ts'
import { keyChangesDown, keyChangesUp } from './key-changes.ts'
import type { Names } from './names.ts'

/** One step of the schema: its statements run in order, in one transaction with the row that records it. */
interface Migration {
  name: string
  up (dialect: Dialect, names: Names): string[]
  /** The way back, which loses what the step made room for. */
  down (dialect: Dialect, names: Names): string[]
}

/** Every step, oldest first. Its place in the list, from 1, is its version. A step that was released is never changed. */
export const migrations: readonly Migration[] = [
  {
    name: 'users and api keys',
    up: ({ bytewise, momentType: moment }, { users, apiKeys, own, emailUnique }) => [
      `CREATE TABLE ${users} (
        id ${bytewise} NOT NULL CONSTRAINT ${own('users_pkey')} PRIMARY KEY,
        name text NOT NULL,
        name_key ${bytewise} NOT NULL,
        email text NOT NULL,
        email_key ${bytewise} NOT NULL CONSTRAINT "${emailUnique}" UNIQUE,
        version integer NOT NULL,
        created_at ${moment} NOT NULL,
        updated_at ${moment} NOT NULL
      )`,
      `CREATE INDEX ${own('users_name_key')} ON ${users} (name_key)`,
      `CREATE TABLE ${apiKeys} (
        id ${bytewise} NOT NULL CONSTRAINT ${own('api_keys_pkey')} PRIMARY KEY,
        name text NOT NULL,
        scopes text NOT NULL,
        start ${bytewise} NOT NULL CONSTRAINT ${own('api_keys_start_unique')} UNIQUE,
        digest text NOT NULL,
        created_at ${moment} NOT NULL,
        expires_at ${moment},
        revoked_at ${moment},
        last_used_at ${moment},
        rotated_from ${bytewise},
        lifetime bigint
      )`
    ],
    down: (_dialect, { users, apiKeys }) => [`DROP TABLE ${apiKeys}`, `DROP TABLE ${users}`]
  },
  {
    name: 'idempotency keys',
    up: (dialect, { users, idempotency, own }) => [
      `CREATE TABLE ${idempotency} (
        key ${dialect.bytewise} NOT NULL CONSTRAINT ${own('idempotency_pkey')} PRIMARY KEY,
        fingerprint text NOT NULL,
        user_id ${dialect.bytewise} NOT NULL${dialect.name === 'postgres' ? ` CONSTRAINT ${own('idempotency_user_fkey')} REFERENCES ${users} (id) ON DELETE CASCADE` : ''},
        answer text NOT NULL,
        expires_at ${dialect.momentType} NOT NULL
      )`,
      `CREATE INDEX ${own('idempotency_user_id')} ON ${idempotency} (user_id)`,
      `CREATE INDEX ${own('idempotency_expires_at')} ON ${idempotency} (expires_at)`,
      // SQLite obeys foreign keys only where each connection asks for it, and a host's may not.
      ...(dialect.name === 'sqlite'
        ? [`CREATE TRIGGER ${own('idempotency_user_deleted')} AFTER DELETE ON ${users} BEGIN DELETE FROM ${idempotency} WHERE user_id = OLD.id; END`]
        : [])
    ],
    down: (dialect, { idempotency, own }) => [
      ...(dialect.name === 'sqlite' ? [`DROP TRIGGER ${own('idempotency_user_deleted')}`] : []),
      `DROP TABLE ${idempotency}`
    ]
  },
  {
    name: 'blocks of users',
    up: blocksUp,
    down: blocksDown
  },
  {
    name: 'changes of api keys',
    up: keyChangesUp,
    down: keyChangesDown
  },
  {
    name: 'fields of users',
    up: fieldsUp,
    down: fieldsDown
  }
]

/** The version that this code works with. */
export const LATEST = migrations.length

/** The version from which on users have fields. */
export const WITH_FIELDS = migrations.findIndex(({ up }) => up === fieldsUp) + 1

/** The statements that lead from one version of the schema to another, up or down, bookkeeping included. 0: no schema of ours. */
export function statementsBetween (dialect: Dialect, names: Names, from: number, to: number): string[] {
  const bookkeeping = `CREATE TABLE IF NOT EXISTS ${names.migrations} (
        version integer NOT NULL CONSTRAINT ${names.own('migrations_pkey')} PRIMARY KEY,
        name text NOT NULL,
        applied_at ${dialect.momentType} NOT NULL
      )`
  const steps = migrations.map(({ name, up, down }, i) => ({
    up: [...up(dialect, names), `INSERT INTO ${names.migrations} (version, name, applied_at) VALUES (${i + 1}, '${name}', ${dialect.now})`],
    down: [...down(dialect, names), `DELETE FROM ${names.migrations} WHERE version = ${i + 1}`]
  }))
  if (from < to) return [bookkeeping, ...steps.slice(from, to).flatMap(({ up }) => up)]
  return [...steps.slice(to, from).reverse().flatMap(({ down }) => down), ...(to === 0 && from > 0 ? [`DROP TABLE ${names.migrations}`] : [])]
}
