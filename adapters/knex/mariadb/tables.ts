// The tables. Every table is InnoDB, and every text is compared byte by byte.

import type { CollectionName } from '../../../lib/storage/storage.ts'
import { OWNERS } from '../tables/owners.ts'

export type Listed = Exclude<CollectionName, 'users'>

/** The members that lists ask for, with the characters that they have at most: each has a column of its own. */
export const MEMBERS: Record<Listed, Readonly<Record<string, number>>> = {
  trash: { deletedAt: 24 },
  apiKeys: { start: 25, rotatedFrom: 30 },
  keyUses: { day: 10 },
  webhooks: {},
  deliveries: { event: 100, status: 16, dueAt: 24, createdAt: 24 },
  userGroups: { nameKey: 254, externalId: 255 },
  memberships: { member: 30 },
  idempotency: { expiresAt: 24 },
  marks: {}
}

/** The name in SQL of a member. */
export const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

type TableName = CollectionName | 'words' | 'fieldValues' | 'events' | 'userCounts' | 'blocks' | 'state'

/** All tables, each before those that it refers to. */
const ALL: readonly TableName[] = [
  'state', 'userCounts', 'blocks', 'events', 'marks', 'idempotency', 'memberships', 'userGroups', 'deliveries',
  'webhooks', 'keyUses', 'apiKeys', 'trash', 'fieldValues', 'words', 'users'
]

const LISTED: readonly Listed[] = [
  'trash', 'apiKeys', 'keyUses', 'webhooks', 'deliveries', 'userGroups', 'memberships', 'idempotency', 'marks'
]

/** What the tables are called. */
export interface Tables {
  prefix: string
  of (name: TableName): string
}

export const tablesOf = (prefix: string): Tables => ({ prefix, of: (name) => `\`${prefix}${snake(name)}\`` })

/** The version of the tables. */
export const SCHEMA_VERSION = 1

/** By which texts are compared: byte by byte, trailing blanks too. */
export const COLLATION = 'utf8mb4_nopad_bin'

const CHARACTERS = `CHARACTER SET utf8mb4 COLLATE ${COLLATION}`
const text = (length: number): string => `varchar(${length}) ${CHARACTERS}`
const LONG = `longtext ${CHARACTERS}`
const ID = text(100)
const INNODB = `ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT ${CHARACTERS}`

/**
 * The statements that create what is not there yet: each commits by itself, and a cut one is repeated. The row of
 * `state` comes last.
 *
 * Records are JSON text, which keeps every text and the order of members. What is searched has columns and tables
 * beside it. An empty tenant is none: a unique key does not hold for NULL.
 */
export function creation ({ prefix, of }: Tables): string[] {
  const reference = (name: string, column: string, to: CollectionName, ending: string): string =>
    `, CONSTRAINT \`${prefix}${name}_fkey\` FOREIGN KEY (${column}) REFERENCES ${of(to)} (id)${ending}`
  const table = (name: TableName, columns: string): string =>
    `CREATE TABLE IF NOT EXISTS ${of(name)} (${columns}) ${INNODB}`

  function collection (name: Listed): string {
    const members = Object.entries(MEMBERS[name])
    const owner = OWNERS[name]
    const indexed = ['tenant', 'owner', ...members.map(([member]) => snake(member))]
      .filter((column) => column !== 'start' && column !== 'name_key')
    return table(name, [
      `id ${ID} NOT NULL PRIMARY KEY, version integer NOT NULL, tenant ${text(64)} NOT NULL, owner ${ID}`,
      `found_by ${LONG}, record ${LONG} NOT NULL`,
      ...members.map(([member, length]) => `${snake(member)} ${text(length)}`),
      ...indexed.map((column) => `KEY ${snake(name)}_${column} (${column}, id)`),
      ...name === 'deliveries'
        ? ['status', 'due_at'].map((column) => `KEY deliveries_owner_${column} (owner, ${column}, id)`)
        : [],
      ...name === 'apiKeys' ? ['UNIQUE KEY api_keys_start (start)'] : [],
      ...name === 'userGroups' ? ['UNIQUE KEY user_groups_name (tenant, name_key)'] : []
    ].join(', ') +
      (owner === undefined ? '' : reference(snake(name), 'owner', owner, ' ON DELETE CASCADE')) +
      (name === 'memberships' ? reference('memberships_member', 'member', 'users', '') : ''))
  }

  return [
    table('users', `id ${ID} NOT NULL PRIMARY KEY, version integer NOT NULL, tenant ${text(64)} NOT NULL,
      status ${text(16)} NOT NULL, created_at ${text(24)} NOT NULL, updated_at ${text(24)} NOT NULL,
      email_key ${text(254)} NOT NULL, name_key ${text(254)} NOT NULL, email_words ${LONG} NOT NULL,
      name_words ${LONG} NOT NULL, field_words ${LONG} NOT NULL, record ${LONG} NOT NULL,
      UNIQUE KEY users_email (tenant, email_key), KEY users_email_key (email_key, id),
      KEY users_name_key (name_key, id), KEY users_updated_at (updated_at, id), KEY users_tenant (tenant, id),
      KEY users_tenant_name_key (tenant, name_key, id), KEY users_status (status, id)`),
    table('words', `id ${ID} NOT NULL, kind ${text(16)} NOT NULL, word ${text(64)} NOT NULL,
      PRIMARY KEY (word, id, kind), KEY words_id (id, kind)${reference('words', 'id', 'users', ' ON DELETE CASCADE')}`),
    table('fieldValues', `id ${ID} NOT NULL, field ${text(63)} NOT NULL, value ${text(300)} NOT NULL,
      type integer NOT NULL, number_value double NOT NULL, text_value ${LONG} NOT NULL, unique_in ${text(64)},
      PRIMARY KEY (id, field), UNIQUE KEY field_values_unique (field, unique_in, value),
      KEY field_values_value (field, value, id)${reference('field_values', 'id', 'users', ' ON DELETE CASCADE')}`),
    // In the order in which they refer to each other.
    ...LISTED.map(collection),
    table('events', `position bigint NOT NULL PRIMARY KEY, id ${ID} NOT NULL, type ${text(30)} NOT NULL,
      subject ${ID} NOT NULL, tenant ${text(64)} NOT NULL, actor ${text(300)}, happened_at ${text(24)} NOT NULL,
      record ${LONG} NOT NULL, UNIQUE KEY events_id (id), KEY events_type (type, position),
      KEY events_subject (subject, position), KEY events_tenant (tenant, position), KEY events_actor (actor, position),
      KEY events_happened_at (happened_at, position)`),
    table('userCounts', `tenant ${text(64)} NOT NULL PRIMARY KEY, users bigint NOT NULL`),
    table('blocks', `scope ${text(64)} NOT NULL, first_id ${ID} NOT NULL, users bigint NOT NULL,
      PRIMARY KEY (scope, first_id)`),
    table('state', `schema_version integer NOT NULL PRIMARY KEY, compatible_from integer NOT NULL, turn bigint NOT NULL,
      position bigint NOT NULL, unique_fields ${LONG} NOT NULL, searchable ${LONG}, pruned ${LONG} NOT NULL`),
    `INSERT INTO ${of('state')} SELECT ${SCHEMA_VERSION}, ${SCHEMA_VERSION}, 0, 0, '[]', NULL, '[]' FROM DUAL
      WHERE NOT EXISTS (SELECT 1 FROM ${of('state')})`
  ]
}

/** The names of all tables, and of their keys. */
export function objectsOf (tables: Tables): string[] {
  return creation(tables).flatMap((statement) => {
    const table = /CREATE TABLE IF NOT EXISTS `([^`]+)`/.exec(statement)?.[1]
    if (table === undefined) return []
    const keys = [...statement.matchAll(/ KEY (\w+) \(/g)].map(([, key]) => `${table}.${key}`)
    return [`${table}.PRIMARY`, ...keys]
  })
}

/** The statements that drop the tables, those that refer to others first. */
export const removal = ({ of }: Tables): string[] => ALL.map((name) => `DROP TABLE IF EXISTS ${of(name)}`)
