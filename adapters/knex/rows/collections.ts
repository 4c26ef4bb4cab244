import type { CollectionName, Row } from '../../../lib/storage/storage.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { API_KEY_COLUMNS, type Column } from '../tables/columns.ts'
import type { Names } from '../tables/names.ts'
import { isoOrNull, type Row as Read, toApiKeyRecord } from '../tables/rows.ts'

/** A column that rows are written to. */
export interface StoredColumn {
  column: string
  type: 'text' | 'bigint' | 'integer' | 'json' | 'timestamptz'
  /** An empty text stands for NULL. */
  nullable?: true
}

/** The rows before and after a write. */
interface Change<Name extends CollectionName> { put: Row<Name>, was: Row<Name> }

/** A collection as a table has it. */
export interface SqlCollection<Name extends CollectionName> {
  table: (names: Names) => string
  /** What is written, in the order of `values`. The first two are the id and the version. */
  columns: readonly StoredColumn[]
  values: (row: Row<Name>) => string[]
  /** The columns that a write may change, and those that it sets in any case, by their places. Default: all may. */
  changes?: (change: Change<Name>) => { may: readonly number[], does: readonly number[] }
  /** The value of one column. Default: that of `values`. */
  value?: (row: Row<Name>, place: number) => string
  /** What is read. */
  read: readonly Column[]
  toRow: (read: Read) => Row<Name>
  /** The columns of the members that lists ask for. */
  members: Readonly<Record<string, string>>
  /** The column of the id of the row that it goes with. */
  of: string | null
  /** The column and the member that a write compares beside the version: an id may be given again with one. */
  alsoSame?: { column: StoredColumn, valueOf: (row: Row<Name>) => string }
  /** The rows of that collection go with it, which no constraint sees to. */
  takes?: CollectionName
  /** Rows are added only beside one of each of these, whose id a column has. */
  beside?: Partial<Record<CollectionName, string>>
}

export type SqlCollections = { [Name in CollectionName]: SqlCollection<Name> }

export const text = (column: string): StoredColumn => ({ column, type: 'text' })
export const maybe = (column: string, type: StoredColumn['type'] = 'text'): StoredColumn =>
  ({ column, type, nullable: true })
export const moment = (column: string): StoredColumn => ({ column, type: 'timestamptz' })
export const json = (column: string): StoredColumn => ({ column, type: 'json' })
export const ID = text('id')
export const VERSION: StoredColumn = { column: 'version', type: 'bigint' }

export const plain = (name: string, column = name): Column => ({ name, column, kind: 'plain' })
export const readMoment = (name: string, column: string): Column => ({ name, column, kind: 'moment' })
const readJson = (name: string, column = name): Column => ({ name, column, kind: 'json' })

const orEmpty = (value: string | number | null | undefined): string => value == null ? '' : String(value)
/** A JSON value of its own: text from a row, and from a packed page a value that several callers may share. */
const ownJson = (value: unknown) => Object(typeof value === 'string' ? JSON.parse(value) : structuredClone(value))
export const tenantIn = ({ tenant }: Read): { tenant?: string } => tenant === '' ? {} : { tenant: String(tenant) }

const trash: SqlCollection<'trash'> = {
  table: (names) => names.deletedUsers,
  columns: [ID, VERSION, text('tenant'), moment('deleted_at'), maybe('deleted_by', 'json'), json('record')],
  values ({ record: { deletedAt, deletedBy, groups, ...user }, keys }) {
    const by = deletedBy === null ? '' : JSON.stringify(deletedBy)
    return [user.id, String(user.version), user.tenant ?? '', deletedAt, by, JSON.stringify({ user, keys, groups })]
  },
  read: [
    readJson('record'), plain('tenant'), readMoment('deletedAt', 'deleted_at'), readJson('deletedBy', 'deleted_by')
  ],
  toRow (row) {
    const { user: { tenant: _before, ...user }, keys, groups } = ownJson(row['record'])
    return {
      record: {
        // The column alone is changed when a tenant gets it.
        ...user,
        ...tenantIn(row),
        deletedAt: String(isoOrNull(row['deletedAt'])),
        deletedBy: row['deletedBy'] === null ? null : ownJson(row['deletedBy']),
        ...(groups !== undefined && { groups })
      },
      keys,
      of: null
    }
  },
  members: { deletedAt: 'deleted_at' },
  of: null
}

const apiKeys: SqlCollection<'apiKeys'> = {
  table: (names) => names.apiKeys,
  columns: [
    ID, VERSION, text('tenant'), text('name'), text('scopes'), text('start'), text('digest'), moment('created_at'),
    maybe('expires_at', 'timestamptz'), maybe('revoked_at', 'timestamptz'), maybe('last_used_at', 'timestamptz'),
    maybe('rotated_from'), maybe('rotated_at', 'timestamptz'), maybe('lifetime', 'bigint'), maybe('owner'),
    maybe('addresses'), maybe('rate_limit_max', 'integer'), maybe('rate_limit_window', 'integer')
  ],
  values ({ record }) {
    const { id, version, tenant, name, scopes, start, digest, createdAt, expiresAt, revokedAt, lastUsedAt } = record
    const { rotatedFrom, rotatedAt, lifetime, owner, addresses, rateLimit } = record
    return [
      id, String(version), tenant ?? '', name, scopes.join(' '), start, digest, createdAt,
      ...[expiresAt, revokedAt, lastUsedAt, rotatedFrom, rotatedAt, lifetime, owner, addresses?.join(' ')].map(orEmpty),
      orEmpty(rateLimit?.max), orEmpty(rateLimit?.window)
    ]
  },
  read: [...API_KEY_COLUMNS, plain('version')],
  toRow: (row) => ({ record: { ...toApiKeyRecord(row), version: Number(row['version']) }, keys: null, of: null }),
  members: { rotatedFrom: 'rotated_from' },
  of: null
}

const keyUses: SqlCollection<'keyUses'> = {
  table: (names) => names.apiKeyUses,
  columns: [ID, VERSION, text('key_id'), text('day'), { column: 'uses', type: 'bigint' }],
  values: ({ record: { id, version, day, uses }, of }) => [id, String(version), of ?? '', day, String(uses)],
  read: [plain('id'), plain('version'), plain('key', 'key_id'), plain('day'), plain('uses')],
  toRow: ({ id, version, key, day, uses }) => ({
    record: { id: String(id), version: Number(version), day: String(day), uses: Number(uses) },
    keys: null,
    of: String(key)
  }),
  members: { day: 'day' },
  of: 'key_id',
  beside: { apiKeys: 'key_id' }
}

const webhooks: SqlCollection<'webhooks'> = {
  table: (names) => names.webhooks,
  columns: [ID, VERSION, text('tenant'), json('record')],
  values ({ record: { version, ...webhook } }) {
    return [webhook.id, String(version), webhook.tenant ?? '', JSON.stringify(webhook)]
  },
  read: [readJson('record'), plain('version')],
  toRow: ({ record, version }) =>
    ({ record: { ...ownJson(record), version: Number(version) }, keys: null, of: null }),
  members: {},
  of: null,
  takes: 'deliveries'
}

const deliveries: SqlCollection<'deliveries'> = {
  table: (names) => names.webhookDeliveries,
  columns: [
    ID, VERSION, text('webhook_id'), text('event_id'), text('status'), moment('created_at'),
    maybe('due_at', 'timestamptz'), json('record')
  ],
  values ({ record: { version, ...delivery } }) {
    const { id, webhook, event, status, createdAt, dueAt } = delivery
    return [id, String(version), webhook, event, status, createdAt, dueAt ?? '', JSON.stringify(delivery)]
  },
  read: [readJson('record'), plain('version')],
  toRow ({ record, version }) {
    const delivery = ownJson(record)
    return { record: { ...delivery, version: Number(version) }, keys: null, of: String(delivery.webhook) }
  },
  members: { event: 'event_id', status: 'status', dueAt: 'due_at', createdAt: 'created_at' },
  of: 'webhook_id',
  beside: { webhooks: 'webhook_id' }
}

const idempotency: SqlCollection<'idempotency'> = {
  table: (names) => names.idempotencyKeys,
  columns: [ID, VERSION, text('fingerprint'), maybe('user_id'), text('result'), moment('expires_at')],
  values: ({ record: { id, version, fingerprint, expiresAt, kept }, of }) =>
    [id, String(version), fingerprint, of ?? '', JSON.stringify(kept), expiresAt],
  read: [
    plain('id'), plain('version'), plain('fingerprint'), plain('user', 'user_id'), plain('result'),
    readMoment('expiresAt', 'expires_at')
  ],
  toRow: ({ id, version, fingerprint, user, result, expiresAt }) => ({
    record: {
      id: String(id),
      version: Number(version),
      fingerprint: String(fingerprint),
      expiresAt: String(isoOrNull(expiresAt)),
      kept: JSON.parse(String(result))
    },
    keys: null,
    of: user === null ? null : String(user)
  }),
  members: { expiresAt: 'expires_at' },
  of: 'user_id'
}

const marks: SqlCollection<'marks'> = {
  table: (names) => names.marks,
  columns: [ID, VERSION],
  values: ({ record: { id, version } }) => [id, String(version)],
  read: [plain('id'), plain('version')],
  toRow: ({ id, version }) => ({ record: { id: String(id), version: Number(version) }, keys: null, of: null }),
  members: {},
  of: null
}

/** Those whose rows are what they are on every database. */
export const others = { trash, apiKeys, keyUses, webhooks, deliveries, idempotency, marks }

/** The type of a value in a batch. */
export const batchTypeOf = ({ type, nullable }: StoredColumn): string => nullable === true ? 'text' : type

/** The value of a column for what a batch gives. */
export function storedValue ({ schema }: Dialect, { type, nullable }: StoredColumn, given: string): string {
  const types = { text: 'text', bigint: 'bigint', integer: 'integer', json: schema.json, timestamptz: schema.moment }
  if (nullable === true) return `CAST(nullif(${given}, '') AS ${types[type]})`
  return type === 'text' || type === 'timestamptz' ? given : `CAST(${given} AS ${types[type]})`
}

/** True if a row of this collection belongs to a tenant. */
export const hasTenant = ({ columns }: { columns: readonly StoredColumn[] }): boolean =>
  columns.some(({ column }) => column === 'tenant')
