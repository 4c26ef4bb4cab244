import type { CollectionName } from 'fastify-users/storage'

export type Listed = Exclude<CollectionName, 'users'>

/** The members that lists ask for: each has a column of its own. */
export const MEMBERS: Record<Listed, readonly string[]> = {
  trash: ['deletedAt'],
  apiKeys: ['start', 'rotatedFrom'],
  keyUses: ['day'],
  webhooks: [],
  deliveries: ['event', 'status', 'dueAt', 'createdAt'],
  userGroups: ['nameKey', 'externalId'],
  memberships: ['member'],
  idempotency: ['expiresAt'],
  marks: []
}

/** The table that the rows of a collection belong to. They go with a row of it. */
const OWNERS: Partial<Record<string, string>> = {
  keyUses: 'api_keys', deliveries: 'webhooks', idempotency: 'users', memberships: 'user_groups'
}

/** The name in SQL of a collection, or of a member. */
export const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

// Compared byte by byte. MySQL: VARCHAR(n) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, MariaDB: utf8mb4_nopad_bin,
// with the lengths in docs/writing-an-adapter.md. SQLite: TEXT.
const TEXT = 'text COLLATE "C"'

function tableOf (name: string, members: readonly string[]): string {
  const table = snake(name)
  const owner = OWNERS[name]
  const columns = members.map((member) => `, ${snake(member)} ${TEXT}`).join('')
  const plain = members.filter((member) => member !== 'start' && member !== 'nameKey')
  const indexed = ['tenant', 'owner', ...plain.map(snake)]
  return `
    CREATE TABLE ${table} (id ${TEXT} PRIMARY KEY, version integer NOT NULL, tenant ${TEXT} NOT NULL,
      owner ${TEXT}${owner === undefined ? '' : ` REFERENCES ${owner} (id) ON DELETE CASCADE`},
      found_by text, record text NOT NULL${columns});
    ${indexed.map((column) => `CREATE INDEX ${table}_${column} ON ${table} (${column}, id);`).join('\n')}`
}

/**
 * Records are JSON text, which keeps every text and the order of members. What is searched has columns and tables
 * beside it. An empty tenant is none: a unique constraint does not hold for NULL.
 */
export const TABLES = `
  CREATE TABLE users (id ${TEXT} PRIMARY KEY, version integer NOT NULL, tenant ${TEXT} NOT NULL,
    status ${TEXT} NOT NULL, created_at ${TEXT} NOT NULL, updated_at ${TEXT} NOT NULL, email_key ${TEXT} NOT NULL,
    name_key ${TEXT} NOT NULL, email_words text NOT NULL, name_words text NOT NULL, field_words text NOT NULL,
    record text NOT NULL, CONSTRAINT users_email UNIQUE (tenant, email_key));
  CREATE INDEX users_email_key ON users (email_key);
  CREATE INDEX users_name_key ON users (name_key, id);
  CREATE INDEX users_updated_at ON users (updated_at, id);
  CREATE TABLE words (id ${TEXT} NOT NULL REFERENCES users (id) ON DELETE CASCADE, kind ${TEXT} NOT NULL,
    word ${TEXT} NOT NULL, PRIMARY KEY (word, id, kind));
  CREATE INDEX words_id ON words (id, kind);
  CREATE TABLE field_values (id ${TEXT} NOT NULL REFERENCES users (id) ON DELETE CASCADE, field ${TEXT} NOT NULL,
    value ${TEXT} NOT NULL, type integer NOT NULL, number_value double precision NOT NULL, text_value ${TEXT} NOT NULL,
    unique_in ${TEXT}, PRIMARY KEY (id, field), CONSTRAINT field_values_unique UNIQUE (field, unique_in, value));
  CREATE INDEX field_values_value ON field_values (field, value, id);
  ${Object.entries(MEMBERS).map(([name, members]) => tableOf(name, members)).join('')}
  CREATE UNIQUE INDEX api_keys_start ON api_keys (start);
  CREATE UNIQUE INDEX user_groups_name_key ON user_groups (tenant, name_key);
  ALTER TABLE memberships ADD CONSTRAINT memberships_member_fkey FOREIGN KEY (member) REFERENCES users (id);
  CREATE TABLE events (position bigint PRIMARY KEY, id ${TEXT} NOT NULL UNIQUE, type ${TEXT} NOT NULL,
    subject ${TEXT} NOT NULL, tenant ${TEXT} NOT NULL, actor ${TEXT}, happened_at ${TEXT} NOT NULL,
    record text NOT NULL);
  ${['type', 'subject', 'tenant', 'actor'].map((column) =>
    `CREATE INDEX events_${column} ON events (${column}, position);`).join('\n')}
  CREATE TABLE state (schema_version integer PRIMARY KEY, position bigint NOT NULL, unique_fields text NOT NULL,
    searchable text, pruned text NOT NULL);
  INSERT INTO state VALUES (1, 0, '[]', NULL, '[]');`

/** The version of these tables. */
export const SCHEMA_VERSION = 1
