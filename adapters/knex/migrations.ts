import type { Dialect } from './dialect.ts'
import type { Names } from './names.ts'

/** One step of the schema: its statements run in order, in one transaction with the row that records it. */
export interface Migration {
  name: string
  up (dialect: Dialect, names: Names): string[]
}

/** Every step, oldest first. Its place in the list, from 1, is its version. A step that was released is never changed. */
export const migrations: readonly Migration[] = [
  {
    name: 'users and api keys',
    up: ({ bytewise, moment }, { users, apiKeys, own, emailUnique }) => [
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
        rotated_from ${bytewise}
      )`
    ]
  }
]
