import { USER_COLUMNS } from '../../tables/columns.ts'
import { KEY_CHANGES_CHANNEL, type Names } from '../../tables/names.ts'
import type { SchemaSql } from '../dialect.ts'
import { PAGES_FUNCTIONS, pagesFunction } from './counted-pages.ts'
import { countingTriggers, TRIGGER_FUNCTIONS } from './counting-triggers.ts'
import { dropFunction, withSchema } from './functions.ts'
import { postgresUnfit, postgresUnfitSession } from '../unfit-settings.ts'

export const KEY_CHANGES = 'api_keys_changed'

/** The oid of a table, NULL if there is none. */
const oidOf = (table: string): string => `pg_catalog.to_regclass('${table}')::oid`

/** A trigger that notifies other processes of every change of an API key, whoever makes it, but not of its uses. */
function keyChangesTrigger ({ apiKeys, quoted }: Names): string[] {
  const name = quoted(KEY_CHANGES)
  return [
    `CREATE FUNCTION @${name}() RETURNS trigger LANGUAGE plpgsql AS $body$
      BEGIN
        PERFORM pg_catalog.pg_notify('${KEY_CHANGES_CHANNEL}', TG_TABLE_SCHEMA);
        RETURN NULL;
      END
      $body$`,
    `REVOKE ALL ON FUNCTION @${name}() FROM PUBLIC`,
    `CREATE TRIGGER ${name}
      AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF
        id, start, digest, scopes, expires_at, revoked_at, addresses, rate_limit_max, rate_limit_window
      ON ${apiKeys} FOR EACH STATEMENT EXECUTE FUNCTION @${name}()`
  ]
}

export const postgresSchema: SchemaSql = {
  bytewise: 'text COLLATE "C"',
  // Not jsonb, which reorders members.
  json: 'json',
  moment: 'timestamptz(3)',
  now: 'pg_catalog.now()',
  randomText: 'pg_catalog.gen_random_uuid()',
  isJsonObject: (column) => `pg_catalog.json_typeof(${column}) = 'object'`,
  isText: (column, max) => max === null ? `${column} <> ''` : `pg_catalog.char_length(${column}) BETWEEN 1 AND ${max}`,
  isTenant: (column) => `${column} ~ '^([a-z0-9][a-z0-9_-]{0,63})?$'`,
  isVersion: (column) => `${column} >= 1`,
  // Not infinity, and the years of four digits: 0000 is 1 BC.
  isMoment: (column) => `${column} BETWEEN '0001-01-01 00:00:00+00 BC' AND '9999-12-31 23:59:59.999+00'`,
  isId: (column, prefix) => `${column} ~ '^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$'`,
  fillFactor: ' WITH (fillfactor = 50)',
  reference: (constraint, table) => ` CONSTRAINT ${constraint} REFERENCES ${table} (id) ON DELETE CASCADE`,
  keeps: (constraint, table) => ` CONSTRAINT ${constraint} REFERENCES ${table} (id)`,
  // Bare IF NOT EXISTS requires the right to create schemas, even if there is nothing to create.
  createSchema: ({ schema }) => schema === null
    ? []
    : [`DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = '${schema}') THEN ` +
        `CREATE SCHEMA "${schema}"; END IF; END $$`],
  create (names) {
    const { changes, state, watermark, quoted } = names
    return [
      // A publication of all tables requires something that identifies rows.
      `ALTER TABLE ${changes} REPLICA IDENTITY FULL`,
      `CREATE SEQUENCE ${watermark}`,
      ...withSchema(names, [
        ...countingTriggers(names),
        pagesFunction(names, USER_COLUMNS, false),
        pagesFunction(names, USER_COLUMNS, true),
        ...keyChangesTrigger(names)
      ]),
      // On a replica too: sequences are not replicated.
      `ALTER TABLE ${state} ENABLE ALWAYS TRIGGER ${quoted('counting_watermark_move')}`
    ]
  },
  drop: (names) => [
    ...[...TRIGGER_FUNCTIONS, KEY_CHANGES].map((name) => dropFunction(names, name)),
    ...Object.entries(PAGES_FUNCTIONS).map(([name, types]) => dropFunction(names, name, types)),
    `DROP SEQUENCE ${names.watermark}`
  ],
  unfit: postgresUnfit,
  unfitSession: postgresUnfitSession,
  // Reading pg_class, which locks it, makes PostgreSQL see what others just committed: to_regclass alone uses a cache.
  migrationsExist: ({ migrations }) => ({
    sql: 'SELECT 1 AS found FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass($1)::oid',
    params: [migrations]
  }),
  objectsInForce (names) {
    const { users, deletedUsers, state, apiKeys, userGroups, events, eventState, webhooks, webhookDeliveries } = names
    const tables = [users, deletedUsers, state, apiKeys, userGroups, events, eventState, webhooks, webhookDeliveries]
      .map(oidOf).join(', ')
    return `SELECT c.relname AS name FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
        WHERE i.indisvalid
          AND c.relnamespace = (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = ${oidOf(users)})
        UNION ALL SELECT tgname FROM pg_catalog.pg_trigger WHERE tgrelid IN (${tables})
          AND (tgenabled = 'A' OR tgenabled = 'O' AND tgrelid IS DISTINCT FROM ${oidOf(state)})
        UNION ALL SELECT conname FROM pg_catalog.pg_constraint
          WHERE contype = 'c' AND convalidated AND conrelid IN (${tables})`
  },
  seesConstraint: () => true
}
