import { EMAIL_MAX, NAME_MAX } from '../../../lib/core/limits.ts'
import type { SchemaSql } from './dialect.ts'

/** A rule that the database keeps for every user, whoever writes it. */
export interface UserConstraint {
  /** Its name behind the prefix of the tables. */
  name: string
  /** The column that it is about. */
  column: string
  /** The condition. */
  holds (schema: SchemaSql): string
  /** What it asks for, in words. */
  asks: string
}

const text = (name: string, column: string, max: number | null, asks: string): UserConstraint =>
  ({ name, column, holds: (schema) => schema.isText(column, max), asks })

/** Without these a row of plain SQL could be listed and not found, or read and not changed. */
export const USER_CONSTRAINTS: readonly UserConstraint[] = [
  {
    name: 'users_id_form',
    column: 'id',
    holds: (schema) => schema.isId('id', 'usr'),
    asks: 'an id is usr_ and 26 characters of base32'
  },
  text('users_name_length', 'name', NAME_MAX, `a name has 1 to ${NAME_MAX} characters`),
  text('users_name_key_length', 'name_key', null, 'name_key is the folded name'),
  text('users_email_length', 'email', EMAIL_MAX, `an e-mail address has 1 to ${EMAIL_MAX} characters`),
  text('users_email_key_length', 'email_key', null, 'email_key is the address in lower case'),
  {
    name: 'users_version_range',
    column: 'version',
    holds: (schema) => schema.isVersion('version'),
    asks: 'a version is a whole number, 1 or more'
  },
  ...['created_at', 'updated_at'].map((column) => ({
    name: `users_${column}_form`,
    column,
    holds: (schema: SchemaSql) => schema.isMoment(column),
    asks: `${column} is a moment in UTC with milliseconds`
  })),
  {
    name: 'users_tenant_form',
    column: 'tenant',
    holds: (schema) => schema.isTenant('tenant'),
    asks: 'a tenant is 1 to 64 characters of a-z, 0-9, _ and -, or empty'
  },
  {
    name: 'users_status_known',
    column: 'status',
    holds: () => "status IN ('active', 'suspended')",
    asks: 'a status is active or suspended'
  },
  {
    name: 'users_status_reason_length',
    column: 'status_reason',
    holds: (schema) => `status_reason = '' OR ${schema.isText('status_reason', NAME_MAX)}`,
    asks: `a reason has at most ${NAME_MAX} characters, or is empty`
  },
  {
    name: 'users_fields_object',
    column: 'fields',
    holds: (schema) => schema.isJsonObject('fields'),
    asks: 'fields are an object of JSON'
  }
]
