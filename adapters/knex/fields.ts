import { createHash } from 'node:crypto'
import { isFilterable } from '../../lib/storage-rules.ts'
import { pageFunction } from './blocks/page-postgres.ts'
import type { Dialect } from './dialect.ts'
import type { Names } from './names.ts'
import type { Condition } from './pages.ts'
import { inSchema } from './routines.ts'
import { FIRST_USER_COLUMNS, USER_COLUMNS } from './rows.ts'

// An entry of PostgreSQL's indexes has 2700 bytes at most: longer values are told apart by reading them.
const INDEXED = 256
/** What the names of indexes of fields begin with, behind the prefix of all our names. */
const FIELD_INDEX = 'field_'

/** The step that makes room for the host's fields. */
export function fieldsUp ({ name, jsonType }: Dialect, names: Names): string[] {
  const column = `ALTER TABLE ${names.users} ADD COLUMN fields ${jsonType} NOT NULL DEFAULT '{}'`
  const check = `CONSTRAINT ${names.own('users_fields_object')} CHECK`
  // One row of something else would make every page that it stands on fail.
  if (name === 'sqlite') return [`${column} ${check} (CASE WHEN json_valid(fields) THEN json_type(fields) = 'object' ELSE 0 END)`]
  // Not valid for the rows that there are: they are right, and need not be read.
  return [column, `ALTER TABLE ${names.users} ADD ${check} (json_typeof(fields) = 'object') NOT VALID`, ...inSchema(names, [pageFunction(names, USER_COLUMNS)])]
}

/** The way back. PostgreSQL takes the indexes of the column away with it, SQLite refuses to while there are any. */
export function fieldsDown ({ name }: Dialect, names: Names): string[] {
  return [
    `ALTER TABLE ${names.users} DROP COLUMN fields`,
    ...(name === 'postgres' ? inSchema(names, [pageFunction(names, FIRST_USER_COLUMNS)]) : [])
  ]
}

/** @throws TypeError for a name that can't be a part of SQL text */
function requireName (field: string): void {
  if (!isFilterable(field)) throw new TypeError('fastify-users: a field that lists are narrowed by has a name of 1 to 63 letters, digits and _')
}

/** The member of a field in SQL text. */
function memberOf (dialect: Dialect, field: string): string {
  requireName(field)
  return dialect.member('fields', field)
}

/** The bare name of the index that a filter by this field uses: readable, and no other field's on a database that knows no upper case. */
export function fieldIndex ({ bare }: Names, field: string): string {
  requireName(field)
  const digest = createHash('sha256').update(field).digest('hex').slice(0, 8)
  return bare(`${FIELD_INDEX}${field.slice(0, 12).toLowerCase()}_${digest}`)
}

/** Makes that index, if it is not there. The id in it keeps the users of one value in the order of lists. */
export function createFieldIndex (dialect: Dialect, names: Names, field: string): string {
  return `CREATE INDEX IF NOT EXISTS "${fieldIndex(names, field)}" ON ${names.users} (substr(${memberOf(dialect, field)}, 1, ${INDEXED}), id)`
}

/** Names the indexes of fields that there are, for SQLite. */
export function fieldIndexesOn ({ bare, usersTable }: Names): string {
  return `SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = '${usersTable}' AND substr(name, 1, ${bare(FIELD_INDEX).length}) = '${bare(FIELD_INDEX)}'`
}

/** The condition that a field has this value, of this type, in a form that its index serves. Fields are kept as `JSON.stringify` writes them. */
export function fieldIs (dialect: Dialect, field: string, value: string | number | boolean): Condition {
  const text = JSON.stringify(value)
  const member = memberOf(dialect, field)
  const start = { sql: `substr(${member}, 1, ${INDEXED}) = ?`, values: [[...text].slice(0, INDEXED).join('')] }
  return [...text].length < INDEXED ? start : { sql: `${start.sql} AND ${member} = ?`, values: [...start.values, text] }
}
