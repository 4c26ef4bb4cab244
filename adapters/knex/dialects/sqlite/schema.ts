import { IN_A_GROUP, type Names } from '../../tables/names.ts'
import type { SchemaSql } from '../dialect.ts'
import { sqliteUnfit } from '../unfit-settings.ts'
import { USER_CONSTRAINTS } from '../user-constraints.ts'

const BASE32 = '[0-9a-hjkmnp-tv-z]'
const digits = (count: number): string => '[0-9]'.repeat(count)
const DATE = [4, 2, 2].map(digits).join('-')
const MOMENT = `${DATE}T${[2, 2, 2].map(digits).join(':')}.${digits(3)}Z`

/** SQLite's name for the index of a constraint of the users' table: it numbers them in order of declaration. */
export function constraintIndex (bareUsers: string, column: 'id' | 'email_key'): string {
  return `sqlite_autoindex_${bareUsers}_${column === 'id' ? 1 : 2}`
}

/** The constraints of the users' table whose indexes are named in statements. */
function userConstraints ({ bare, emailUnique }: Names) {
  return [
    { constraint: bare('users_pkey'), column: 'id', columns: 'id' },
    { constraint: emailUnique, column: 'email_key', columns: 'email_key,tenant' }
  ] as const
}

/** The CHECK constraints of columns. Only the SQL text of a table shows that it has them. */
function columnChecks ({ bareUsers, bare }: Names) {
  return [
    ...USER_CONSTRAINTS.map(({ name }) => ({ constraint: bare(name), table: bareUsers })),
    { constraint: bare('deleted_users_id_form'), table: bare('deleted_users') },
    { constraint: bare('api_keys_id_form'), table: bare('api_keys') },
    { constraint: bare('user_groups_id_form'), table: bare('user_groups') },
    { constraint: bare('webhooks_id_form'), table: bare('webhooks') },
    { constraint: bare('webhook_deliveries_id_form'), table: bare('webhook_deliveries') }
  ]
}

/** Triggers that count users (`docs/exact-counting.md`). They count users changed by plain SQL too. */
function countingTriggers ({ users, changes, state, quoted }: Names): string[] {
  // The boundary of all users is never below that of a tenant.
  const boundary = `(SELECT next_boundary FROM ${state} WHERE scope = '')`
  const record = (row: 'NEW' | 'OLD', change: 1 | -1, where = '') =>
    `INSERT INTO ${changes} (scope, user_id, change) SELECT scope, ${row}.id, ${change} FROM ${state}
          WHERE scope IN ('', ${row}.tenant) AND ${row}.id < next_boundary${where};`
  // The number of all users stays the same if only the tenant changes.
  const counts = " AND (scope <> '' OR OLD.id <> NEW.id)"
  return [
    `CREATE TRIGGER ${quoted('counting_insert')} AFTER INSERT ON ${users} WHEN NEW.id < ${boundary} BEGIN
        ${record('NEW', 1)}
      END`,
    `CREATE TRIGGER ${quoted('counting_delete')} AFTER DELETE ON ${users} WHEN OLD.id < ${boundary} BEGIN
        ${record('OLD', -1)}
      END`,
    `CREATE TRIGGER ${quoted('counting_id_update')} AFTER UPDATE OF id, tenant ON ${users}
        WHEN OLD.id <> NEW.id OR OLD.tenant <> NEW.tenant BEGIN
        ${record('OLD', -1, counts)}
        ${record('NEW', 1, counts)}
      END`
  ]
}

export const sqliteSchema: SchemaSql = {
  bytewise: 'text',
  json: 'text',
  moment: 'text',
  now: "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
  randomText: '(lower(hex(randomblob(16))))',
  isJsonObject: (column) => `CASE WHEN json_valid(${column}) THEN json_type(${column}) = 'object' ELSE 0 END`,
  isText: (column, max) => `typeof(${column}) = 'text' AND ` +
    (max === null ? `${column} <> ''` : `length(${column}) BETWEEN 1 AND ${max}`),
  isTenant: (column) => `typeof(${column}) = 'text' AND length(CAST(${column} AS BLOB)) <= 64 ` +
    `AND ${column} NOT GLOB '*[^a-z0-9_-]*' AND ${column} NOT GLOB '[_-]*'`,
  isVersion: (column) => `typeof(${column}) = 'integer' AND ${column} BETWEEN 1 AND 2147483647`,
  isMoment: (column) => `${column} GLOB '${MOMENT}' AND julianday(${column}) IS NOT NULL`,
  // GLOB stops at a NUL, and accepts the bytes of a BLOB.
  isId: (column, prefix) => `${column} GLOB '${prefix}_[0-7]${BASE32.repeat(25)}' ` +
    `AND length(CAST(${column} AS BLOB)) = 30 AND typeof(${column}) = 'text'`,
  fillFactor: '',
  // SQLite enforces foreign keys only if the connection asks for it. A host's may not, so a trigger does it.
  reference: () => '',
  keeps: () => '',
  createSchema: () => [],
  create (names) {
    const { users, idempotencyKeys, apiKeys, apiKeyUses, userGroups, memberships, quoted } = names
    return [
      `CREATE TRIGGER ${quoted('idempotency_keys_user_deleted')} AFTER DELETE ON ${users} BEGIN
        DELETE FROM ${idempotencyKeys} WHERE user_id = OLD.id;
      END`,
      `CREATE TRIGGER ${quoted('api_key_uses_key_deleted')} AFTER DELETE ON ${apiKeys} BEGIN
        DELETE FROM ${apiKeyUses} WHERE key_id = OLD.id;
      END`,
      `CREATE TRIGGER ${quoted('memberships_group_deleted')} AFTER DELETE ON ${userGroups} BEGIN
        DELETE FROM ${memberships} WHERE group_id = OLD.id;
      END`,
      `CREATE TRIGGER ${quoted('memberships_keep_member')} BEFORE DELETE ON ${users}
        WHEN EXISTS (SELECT 1 FROM ${memberships} WHERE member = OLD.id) BEGIN
        SELECT RAISE(ABORT, '${IN_A_GROUP}');
      END`,
      ...countingTriggers(names)
    ]
  },
  // Dropping a table drops its indexes and triggers too.
  drop: () => [],
  unfit: sqliteUnfit,
  unfitSession: [],
  migrationsExist: ({ bareMigrations }) => ({
    sql: "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = ?1",
    params: [bareMigrations]
  }),
  objectsInForce (names) {
    const columnsOf = (index: string) => `(SELECT group_concat(name) FROM pragma_index_info('${index}'))`
    const constraints = userConstraints(names).map(({ constraint, column, columns }) =>
      ` UNION ALL SELECT '${constraint}' WHERE ${columnsOf(constraintIndex(names.bareUsers, column))} = '${columns}'`)
    const checks = columnChecks(names).map(({ constraint, table }) =>
      ` UNION ALL SELECT '${constraint}' FROM sqlite_master ` +
      `WHERE name = '${table}' AND instr(sql, '"${constraint}" CHECK')`)
    return `SELECT name FROM sqlite_master WHERE type IN ('index', 'trigger')${constraints.join('')}${checks.join('')}`
  },
  seesConstraint: (names, constraint) =>
    [...userConstraints(names), ...columnChecks(names)].some((each) => each.constraint === constraint)
}
