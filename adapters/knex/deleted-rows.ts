import type { DeletedUser, PutAway, UserKeys, UserRecord } from '../../lib/storage/storage.ts'
import type { Query } from './connection/executor.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { Column } from './tables/columns.ts'
import type { Names } from './tables/names.ts'
import { isoOrNull, type Row, toCreatedUser, toJson } from './tables/rows.ts'

/** What is read of a user that is put away. */
export const DELETED_COLUMNS: readonly Column[] = [
  { name: 'record', column: 'record', kind: 'json' },
  { name: 'tenant', column: 'tenant', kind: 'plain' },
  { name: 'deletedAt', column: 'deleted_at', kind: 'moment' },
  { name: 'deletedBy', column: 'deleted_by', kind: 'json' }
]

/** A user that is put away, with the keys that it had. */
export interface DeletedRow extends DeletedUser {
  keys: UserKeys
}

export function toDeleted ({ record, tenant, deletedAt, deletedBy }: Row): DeletedRow {
  const { user: { tenant: _before, ...user }, keys } = Object(toJson(record))
  return {
    // The column alone is changed when a tenant gets it.
    user: { ...toCreatedUser(JSON.stringify(user)), ...(tenant !== '' && { tenant: String(tenant) }) },
    keys,
    deletedAt: String(isoOrNull(deletedAt)),
    deletedBy: deletedBy === null ? null : Object(toJson(deletedBy))
  }
}

/** Makes the function that keeps a deleted user, in place of another one with its id, in the same transaction. */
export function putAwayOn ({ p, schema: { json } }: Dialect, { deletedUsers }: Names) {
  const columns = ['id', 'tenant', 'deleted_at', 'deleted_by', 'record']
  const values = columns.map((column, i) => ['deleted_by', 'record'].includes(column)
    ? `CAST(${p(i + 1)} AS ${json})`
    : p(i + 1))
  const sql = `INSERT INTO ${deletedUsers} (${columns.join(', ')}) VALUES (${values.join(', ')}) ` +
    `ON CONFLICT (id) DO UPDATE SET ${columns.slice(1).map((each) => `${each} = excluded.${each}`).join(', ')}`
  return async (on: Query, user: UserRecord, keys: UserKeys, { deletedAt, deletedBy }: PutAway): Promise<void> => {
    const by = deletedBy === null ? null : JSON.stringify(deletedBy)
    await on(sql, [user.id, user.tenant ?? '', deletedAt, by, JSON.stringify({ user, keys })])
  }
}
