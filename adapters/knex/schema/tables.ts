import type { Dialect } from '../dialects/dialect.ts'
import { EVENT_BLOCK } from '../tables/event-places.ts'
import { USER_CONSTRAINTS } from '../dialects/user-constraints.ts'
import { WORD_COLUMNS, WORD_LIST } from '../tables/columns.ts'
import { countingTables } from './counting-tables.ts'
import { groupTables } from './group-tables.ts'
import type { Names } from '../tables/names.ts'

function usersTable ({ schema, words }: Dialect, names: Names): string[] {
  const { bytewise, json, moment } = schema
  const { users, quoted, emailUnique } = names
  const checks = (column: string) => USER_CONSTRAINTS.filter((each) => each.column === column)
    .map(({ name, holds }) => `\n          CONSTRAINT ${quoted(name)} CHECK (${holds(schema)})`).join('')
  const key = words.userNumber === '' ? 'PRIMARY KEY' : 'UNIQUE'
  return [
    `CREATE TABLE ${users} (
        ${words.userNumber}id ${bytewise} NOT NULL CONSTRAINT ${quoted('users_pkey')} ${key}${checks('id')},
        name text NOT NULL${checks('name')},
        name_key ${bytewise} NOT NULL${checks('name_key')},
        email text NOT NULL${checks('email')},
        email_key ${bytewise} NOT NULL${checks('email_key')},
        version integer NOT NULL${checks('version')},
        created_at ${moment} NOT NULL${checks('created_at')},
        updated_at ${moment} NOT NULL${checks('updated_at')},
        fields ${json} NOT NULL DEFAULT '{}'${checks('fields')},
        tenant ${bytewise} NOT NULL DEFAULT ''${checks('tenant')},
        status ${bytewise} NOT NULL DEFAULT 'active'${checks('status')},
        status_reason text NOT NULL DEFAULT ''${checks('status_reason')},
        ${[...WORD_COLUMNS, WORD_LIST].map((each) => `${each} ${bytewise} NOT NULL DEFAULT ''`).join(',\n        ')},
        CONSTRAINT "${emailUnique}" UNIQUE (email_key, tenant)
      )`,
    `CREATE INDEX ${quoted('users_name_key')} ON ${users} (name_key, id)`,
    `CREATE INDEX ${quoted('users_updated_at')} ON ${users} (updated_at, id)`,
    // Active users cost nothing here.
    `CREATE INDEX ${quoted('users_suspended')} ON ${users} (id) WHERE status = 'suspended'`,
    // Users that belong to no tenant cost nothing here.
    `CREATE INDEX ${quoted('users_tenant')} ON ${users} (tenant, id) WHERE tenant <> ''`,
    `CREATE INDEX ${quoted('users_tenant_name_key')} ON ${users} (tenant, name_key, id) WHERE tenant <> ''`,
    `CREATE INDEX ${quoted('users_tenant_email_key')} ON ${users} (tenant, email_key) WHERE tenant <> ''`,
    `CREATE INDEX ${quoted('users_tenant_suspended')} ON ${users} (tenant, id)
        WHERE status = 'suspended' AND tenant <> ''`,
    ...words.create(names)
  ]
}

function apiKeysTable ({ schema: { bytewise, moment, isId } }: Dialect, { apiKeys, quoted }: Names): string[] {
  return [
    `CREATE TABLE ${apiKeys} (
        id ${bytewise} NOT NULL CONSTRAINT ${quoted('api_keys_pkey')} PRIMARY KEY
          CONSTRAINT ${quoted('api_keys_id_form')} CHECK (${isId('id', 'key')}),
        version integer NOT NULL DEFAULT 1,
        name text NOT NULL,
        scopes text NOT NULL,
        start ${bytewise} NOT NULL CONSTRAINT ${quoted('api_keys_start_unique')} UNIQUE,
        digest text NOT NULL,
        created_at ${moment} NOT NULL,
        expires_at ${moment},
        revoked_at ${moment},
        last_used_at ${moment},
        rotated_from ${bytewise},
        rotated_at ${moment},
        lifetime bigint,
        owner text,
        addresses text,
        rate_limit_max integer,
        rate_limit_window integer,
        tenant ${bytewise} NOT NULL DEFAULT ''
      )`,
    `CREATE INDEX ${quoted('api_keys_tenant')} ON ${apiKeys} (tenant, id) WHERE tenant <> ''`,
    `CREATE INDEX ${quoted('api_keys_rotated_from')} ON ${apiKeys} (rotated_from) WHERE rotated_from IS NOT NULL`
  ]
}

/** How often a key was used on a day in UTC, such as `2026-01-31`. */
function apiKeyUsesTable ({ schema: { bytewise, reference } }: Dialect, { apiKeys, apiKeyUses, quoted }: Names) {
  return [
    `CREATE TABLE ${apiKeyUses} (
        id ${bytewise} NOT NULL CONSTRAINT ${quoted('api_key_uses_pkey')} PRIMARY KEY,
        version integer NOT NULL,
        key_id ${bytewise} NOT NULL${reference(quoted('api_key_uses_key_fkey'), apiKeys)},
        day ${bytewise} NOT NULL,
        uses bigint NOT NULL
      )`,
    `CREATE INDEX ${quoted('api_key_uses_key')} ON ${apiKeyUses} (key_id, id)`,
    `CREATE INDEX ${quoted('api_key_uses_day')} ON ${apiKeyUses} (day)`
  ]
}

/** Rows that all writers move who must see each other. */
function marksTable ({ schema: { bytewise } }: Dialect, { marks, quoted }: Names): string[] {
  return [`CREATE TABLE ${marks} (
        id ${bytewise} NOT NULL CONSTRAINT ${quoted('marks_pkey')} PRIMARY KEY,
        version integer NOT NULL
      )`]
}

/** For a batch, `user_id` is null and `result` has the outcomes. */
function idempotencyKeysTable ({ schema: { bytewise, moment, reference } }: Dialect, names: Names): string[] {
  const { idempotencyKeys, users, quoted } = names
  return [
    `CREATE TABLE ${idempotencyKeys} (
        id ${bytewise} NOT NULL CONSTRAINT ${quoted('idempotency_keys_pkey')} PRIMARY KEY,
        version integer NOT NULL,
        fingerprint text NOT NULL,
        user_id ${bytewise}${reference(quoted('idempotency_keys_user_fkey'), users)},
        result text NOT NULL,
        expires_at ${moment} NOT NULL
      )`,
    `CREATE INDEX ${quoted('idempotency_keys_user_id')} ON ${idempotencyKeys} (user_id)`,
    `CREATE INDEX ${quoted('idempotency_keys_expires_at')} ON ${idempotencyKeys} (expires_at)`
  ]
}

function eventsTable ({ schema: { bytewise, json, moment }, events: sql }: Dialect, names: Names): string[] {
  const { events, prunedEvents, quoted } = names
  const byActor = "WHERE actor_key <> '' AND position IS NOT NULL"
  return [
    `CREATE TABLE ${events} (
        ${sql.columns(names)},
        id ${bytewise} NOT NULL CONSTRAINT ${quoted('events_id_unique')} UNIQUE,
        type ${bytewise} NOT NULL,
        subject ${bytewise} NOT NULL,
        happened_at ${moment} NOT NULL,
        context ${json} NOT NULL,
        data ${json} NOT NULL,
        before ${json},
        tenant ${bytewise} NOT NULL DEFAULT '',
        actor_key ${bytewise} NOT NULL DEFAULT ''
      )`,
    `CREATE INDEX ${quoted('events_tenant')} ON ${events} (tenant, position) WHERE tenant <> ''`,
    // Events of the host, in process, cost nothing here. Both, so that neither of an actor's types hides a rare one.
    `CREATE INDEX ${quoted('events_actor')} ON ${events} (actor_key, position) ${byActor}`,
    `CREATE INDEX ${quoted('events_type_actor')} ON ${events} (type, actor_key, position) ${byActor}`,
    `CREATE INDEX ${quoted('events_tenant_actor')} ON ${events} (tenant, actor_key, position) ` +
      `${byActor} AND tenant <> ''`,
    // Which times occur in each block of positions. Both grow, so that entries are added at the end.
    `CREATE INDEX ${quoted('events_times')} ON ${events} ((${EVENT_BLOCK}), happened_at) WHERE position IS NOT NULL`,
    `CREATE TABLE ${prunedEvents} (
        place integer NOT NULL CONSTRAINT ${quoted('pruned_events_pkey')} PRIMARY KEY,
        type ${bytewise} NOT NULL,
        id ${bytewise} NOT NULL,
        greatest_id ${bytewise} NOT NULL
      )`,
    ...sql.create(names)
  ]
}

/** Users that were deleted and can be restored: each as it was, with its keys. */
function deletedUsersTable ({ schema: { bytewise, json, moment, isId } }: Dialect, names: Names): string[] {
  const { deletedUsers, quoted } = names
  return [
    `CREATE TABLE ${deletedUsers} (
        id ${bytewise} NOT NULL CONSTRAINT ${quoted('deleted_users_pkey')} PRIMARY KEY
          CONSTRAINT ${quoted('deleted_users_id_form')} CHECK (${isId('id', 'usr')}),
        version integer NOT NULL,
        tenant ${bytewise} NOT NULL DEFAULT '',
        deleted_at ${moment} NOT NULL,
        deleted_by ${json},
        record ${json} NOT NULL
      )`,
    `CREATE INDEX ${quoted('deleted_users_deleted_at')} ON ${deletedUsers} (deleted_at, id)`,
    `CREATE INDEX ${quoted('deleted_users_tenant')} ON ${deletedUsers} (tenant, deleted_at, id) WHERE tenant <> ''`
  ]
}

/** Values that statements compare have their own columns; the rest is JSON. */
function webhookTables ({ schema: { bytewise, json, moment, isId } }: Dialect, names: Names): string[] {
  const { webhooks, webhookDeliveries, quoted } = names
  return [
    `CREATE TABLE ${webhooks} (
        id ${bytewise} NOT NULL CONSTRAINT ${quoted('webhooks_pkey')} PRIMARY KEY
          CONSTRAINT ${quoted('webhooks_id_form')} CHECK (${isId('id', 'whk')}),
        version integer NOT NULL,
        record ${json} NOT NULL,
        tenant ${bytewise} NOT NULL DEFAULT ''
      )`,
    `CREATE INDEX ${quoted('webhooks_tenant')} ON ${webhooks} (tenant, id) WHERE tenant <> ''`,
    `CREATE TABLE ${webhookDeliveries} (
        id ${bytewise} NOT NULL CONSTRAINT ${quoted('webhook_deliveries_pkey')} PRIMARY KEY
          CONSTRAINT ${quoted('webhook_deliveries_id_form')} CHECK (${isId('id', 'dlv')}),
        version integer NOT NULL,
        webhook_id ${bytewise} NOT NULL,
        event_id ${bytewise} NOT NULL,
        status ${bytewise} NOT NULL,
        created_at ${moment} NOT NULL,
        due_at ${moment},
        record ${json} NOT NULL
      )`,
    `CREATE INDEX ${quoted('webhook_deliveries_webhook')} ON ${webhookDeliveries} (webhook_id, id)`,
    `CREATE INDEX ${quoted('webhook_deliveries_status')} ON ${webhookDeliveries} (webhook_id, status, id)`,
    `CREATE INDEX ${quoted('webhook_deliveries_due')} ON ${webhookDeliveries} (webhook_id, due_at, id) ` +
      'WHERE due_at IS NOT NULL',
    `CREATE INDEX ${quoted('webhook_deliveries_all_due')} ON ${webhookDeliveries} (due_at, id) ` +
      'WHERE due_at IS NOT NULL',
    `CREATE INDEX ${quoted('webhook_deliveries_pending')} ON ${webhookDeliveries} (webhook_id, event_id) ` +
      'WHERE due_at IS NOT NULL',
    `CREATE INDEX ${quoted('webhook_deliveries_event')} ON ${webhookDeliveries} (event_id)`,
    `CREATE INDEX ${quoted('webhook_deliveries_done')} ON ${webhookDeliveries} (created_at) WHERE due_at IS NULL`
  ]
}

/** The statements that create everything. */
export function createTables (dialect: Dialect, names: Names): string[] {
  return [
    ...usersTable(dialect, names),
    ...deletedUsersTable(dialect, names),
    ...apiKeysTable(dialect, names),
    ...apiKeyUsesTable(dialect, names),
    ...idempotencyKeysTable(dialect, names),
    ...marksTable(dialect, names),
    ...groupTables(dialect, names),
    ...dialect.counting.byHand?.create(names) ?? countingTables(dialect, names),
    ...eventsTable(dialect, names),
    ...webhookTables(dialect, names),
    ...dialect.schema.create(names)
  ]
}

/** The statements that drop everything, and all users with it. */
export function dropTables (dialect: Dialect, names: Names): string[] {
  const { users, apiKeys, apiKeyUses, idempotencyKeys, blocks, groups, changes, state, events, webhooks } = names
  const { byHand } = dialect.counting
  const counting = byHand === null ? [state, changes, groups, blocks] : []
  const kept = [events, names.prunedEvents, names.webhookDeliveries, webhooks]
  const grouping = [names.memberships, names.userGroups]
  const own = [names.marks, ...grouping, idempotencyKeys, users, names.deletedUsers, apiKeyUses, apiKeys]
  const tables = [...own, ...counting, ...kept]
  return [
    ...tables.map((table) => `DROP TABLE ${table}`), ...dialect.words.drop(names), ...byHand?.drop(names) ?? [],
    ...dialect.schema.drop(names), ...dialect.events.drop(names)
  ]
}
