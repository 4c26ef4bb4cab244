// Users: what they are found by, their filters and their orders.

import { sortValue, SORT_LENGTH } from '../../../lib/storage/user-order.ts'
import type {
  Row as StoredRow, UserFilter, UserPageRequest, UserRange, UserRecord, UserValue, Words
} from '../../../lib/storage/storage.ts'
import { Violation } from './driver.ts'
import { keyOf } from './keys.ts'
import { allOf, isBehind, isIn, listOf, partsOf, type Query, type Row, type Selection, type Sql, sqlOf } from './sql.ts'
import type { Tables } from './tables.ts'
import { anyWords } from './words.ts'

export const userIn = (row: Row): UserRecord => JSON.parse(String(row['record']))

/** A value as a key: its JSON text tells `1` from `"1"`. */
const valueKey = (value: UserValue): string => keyOf(JSON.stringify(value))

/** Fields of no other name are asked for. */
const FILTERABLE = /^\w{1,63}$/

// Words of one statement.
const WORDS_MAX = 5000

const BOOLEAN = 1
const NUMBER = 2
const TEXT = 3

/** A value in its place among those of all types. */
function placed (value: UserValue): [type: number, number: number, text: string] {
  if (typeof value === 'string') return [TEXT, 0, value]
  return typeof value === 'number' ? [NUMBER, value, ''] : [BOOLEAN, Number(value), '']
}

/** A write that leaves a user. */
interface UserPut { put: StoredRow<'users'> | null, was: StoredRow<'users'> | null }

async function putFields (
  query: Query, tables: Tables, writes: ReadonlyArray<{ record: UserRecord, isNew: boolean }>, unique: readonly string[]
): Promise<void> {
  const table = tables.of('fieldValues')
  const before = isIn('id', writes.flatMap(({ record, isNew }) => isNew ? [] : [record.id]))
  if (before.values.length > 0) await query(`DELETE FROM ${table} WHERE ${before.sql}`, before.values)
  const rows = writes.flatMap(({ record: { id, tenant = '', fields } }) =>
    Object.entries(fields).flatMap(([field, value]) => typeof value === 'object' || !FILTERABLE.test(field)
      ? []
      : [{ field, row: [id, field, valueKey(value), ...placed(value), unique.includes(field) ? tenant : null] }]))
  // The database names the key, and not the field: of one user, each unique field is written by itself.
  const parts = writes.length > 1
    ? [rows]
    : [rows.filter(({ field }) => !unique.includes(field)),
        ...rows.filter(({ field }) => unique.includes(field)).map((row) => [row])]
  for (const part of parts.flatMap((each) => partsOf(each, ({ row }) => row))) {
    const { sql, values } = listOf(part.map(({ row }) => row))
    await query(`INSERT INTO ${table} (id, field, value, type, number_value, text_value, unique_in) ` +
      `VALUES ${sql}`, values).catch((error: unknown) => {
      const isField = error instanceof Violation && error.key === 'field_values_unique'
      throw isField ? new Violation(error.code, `field ${part[0]?.field}`) : error
    })
  }
}

/** Writes words of users, whose kinds are the same. `isNew`: none of them has any yet. */
export async function putWords (
  query: Query, tables: Tables, users: ReadonlyArray<{ id: string, words: Readonly<Record<string, Words>> }>,
  isNew = false
): Promise<void> {
  const table = tables.of('words')
  const [first] = users
  if (first === undefined || Object.keys(first.words).length === 0) return
  if (!isNew) {
    const [ids, kinds] = [isIn('id', users.map(({ id }) => id)), isIn('kind', Object.keys(first.words))]
    await query(`DELETE FROM ${table} WHERE ${ids.sql} AND ${kinds.sql}`, [...ids.values, ...kinds.values])
  }
  const rows = users.flatMap(({ id, words }) => Object.entries(words).flatMap(([kind, list]) =>
    [...new Set(list)].map((word) => [id, kind, word])))
  for (const part of partsOf(rows, (row) => row, WORDS_MAX)) {
    const { sql, values } = listOf(part)
    await query(`INSERT INTO ${table} (id, kind, word) VALUES ${sql}`, values)
  }
}

/** Writes what users are found by, of writes of one shape. `unique`: fields whose value one user of a tenant has. */
export async function putSearched (
  query: Query, tables: Tables, writes: readonly UserPut[], unique: readonly string[]
): Promise<void> {
  const fields = writes.flatMap(({ put, was }) => {
    const isSame = put === null || (was !== null && was.record.tenant === put.record.tenant &&
      JSON.stringify(was.record.fields) === JSON.stringify(put.record.fields))
    return isSame ? [] : [{ record: put.record, isNew: was === null }]
  })
  if (fields.length > 0) await putFields(query, tables, fields, unique)
  const words = writes.flatMap(({ put }) => {
    if (put === null) return []
    const { nameWords, emailWords, fieldWords } = put.keys
    return [{
      id: put.record.id,
      words: {
        ...(nameWords !== undefined && { nameWords }),
        ...(emailWords !== undefined && { emailWords }),
        ...(fieldWords !== undefined && { fieldWords })
      }
    }]
  })
  await putWords(query, tables, words, writes.every(({ was }) => was === null))
}

/** The columns of a user. Keys that are not given have none, and stay as they are. */
export function userColumns ({ record, keys }: StoredRow<'users'>): Record<string, unknown> {
  const { id, version, tenant = '', status, createdAt, updatedAt } = record
  const { emailKey, nameKey, emailWords, nameWords, fieldWords } = keys
  return {
    id,
    version,
    tenant,
    status,
    created_at: createdAt,
    updated_at: updatedAt,
    record: JSON.stringify(record),
    ...(emailKey !== undefined && { email_key: emailKey }),
    ...(nameKey !== undefined && { name_key: nameKey }),
    ...(emailWords !== undefined && { email_words: JSON.stringify(emailWords) }),
    ...(nameWords !== undefined && { name_words: JSON.stringify(nameWords) }),
    ...(fieldWords !== undefined && { field_words: JSON.stringify(fieldWords) })
  }
}

export function userRow (row: Row): StoredRow<'users'> {
  const words = (column: string): string[] => JSON.parse(String(row[column]))
  const keys = {
    emailKey: String(row['email_key']),
    nameKey: String(row['name_key']),
    emailWords: words('email_words'),
    nameWords: words('name_words'),
    fieldWords: words('field_words')
  }
  return { record: userIn(row), keys, of: null }
}

const COMPARISONS = [['gte', '>='], ['gt', '>'], ['lte', '<='], ['lt', '<']] as const

/** Makes the condition of a filter. */
function conditions (tables: Tables) {
  /** The condition that a field has a value for which another condition holds. */
  const hasValue = (field: string, { sql, values }: Sql): Sql => sqlOf(
    `EXISTS (SELECT 1 FROM ${tables.of('fieldValues')} AS v WHERE v.id = u.id AND v.field = ? AND ${sql})`,
    field, ...values)

  function isWithin (range: UserRange): Sql {
    const { of } = range
    const bounds = COMPARISONS.flatMap(([name, comparison]) => {
      const bound = range[name]
      return bound === undefined ? [] : [{ comparison, bound }]
    })
    if (typeof of === 'string') {
      const column = of === 'createdAt' ? 'u.created_at' : 'u.updated_at'
      return allOf(bounds.map(({ comparison, bound }) => sqlOf(`${column} ${comparison} ?`, bound)))
    }
    return hasValue(of.field, allOf(bounds.map(({ comparison, bound }) => {
      const [column, type] = typeof bound === 'string' ? ['v.text_value', TEXT] : ['v.number_value', NUMBER]
      return sqlOf(`v.type = ? AND ${column} ${comparison} ?`, type, bound)
    })))
  }

  return (filter: UserFilter): Sql => {
    const { emailKey, words, fields, status, tenant, group, ids, emailKeys } = filter
    const { anyOf = {}, exists = {}, ranges = [] } = filter
    return allOf([
      ...emailKey === null ? [] : [sqlOf('u.email_key = ?', emailKey)],
      ...words === null ? [] : [anyWords(tables.of('words'), words)],
      ...status === undefined ? [] : [sqlOf('u.status = ?', status)],
      ...tenant === undefined ? [] : [sqlOf('u.tenant = ?', tenant)],
      ...group === undefined
        ? []
        : [sqlOf(`u.id IN (SELECT member FROM ${tables.of('memberships')} WHERE owner = ?)`, group)],
      ...ids === undefined ? [] : [isIn('u.id', ids)],
      ...emailKeys === undefined ? [] : [isIn('u.email_key', emailKeys)],
      ...Object.entries(fields).map(([field, value]) => hasValue(field, sqlOf('v.value = ?', valueKey(value)))),
      ...Object.entries(anyOf).map(([field, values]) => hasValue(field, isIn('v.value', values.map(valueKey)))),
      ...Object.entries(exists).map(([field, is]) => {
        const { sql, values } = hasValue(field, sqlOf('1 = 1'))
        return { sql: is ? sql : `NOT ${sql}`, values }
      }),
      ...ranges.map(isWithin)
    ])
  }
}

const KEYS = { nameKey: 'u.name_key', emailKey: 'u.email_key', updatedAt: 'u.updated_at' } as const
const BEGINNING = `SUBSTRING(s.text_value FROM 1 FOR ${SORT_LENGTH})`

/** Makes the selection of a page of users. Those without a value come last in both directions. */
export function usersPages (tables: Tables) {
  const conditionOf = conditions(tables)
  const users = tables.of('users')
  /** `hasKeys`: the rows have what `pageBehind` needs. */
  return (filter: UserFilter, page: UserPageRequest, hasKeys = false): Selection => {
    const { order, limit, from, sort } = page
    const isField = typeof sort === 'object'
    const places = sort === undefined
      ? ['u.id']
      : isField ? ['s.type', 's.number_value', BEGINNING, 'u.id'] : [KEYS[sort], 'u.id']

    function behind (): Sql {
      if ('offset' in from) return sqlOf('1 = 1')
      if ('after' in from) return isBehind(places, order, [from.after])
      const { value, id } = from.behind
      if (!isField) return isBehind(places, order, [value, id])
      if (value === null) return allOf([sqlOf('s.id IS NULL'), isBehind(['u.id'], order, [id])])
      const { sql, values } = isBehind(places, order, [...placed(value), id])
      return { sql: `(s.id IS NULL OR ${sql})`, values }
    }

    return {
      columns: hasKeys ? 'u.record, u.email_key, u.name_key' : 'u.record',
      from: isField
        ? sqlOf(`${users} AS u LEFT JOIN ${tables.of('fieldValues')} AS s ON s.id = u.id AND s.field = ?`, sort.field)
        : sqlOf(`${users} AS u${filter.emailKey === null ? '' : ' FORCE INDEX (users_email_key)'}`),
      where: conditionOf(filter),
      behind: behind(),
      by: [...isField ? [`(s.id IS ${order === 'asc' ? '' : 'NOT '}NULL)`] : [], ...places],
      order,
      limit,
      offset: 'offset' in from ? from.offset : 0,
      rowsOf: users
    }
  }
}

/** The page behind the last of these rows. */
export function pageBehind (page: UserPageRequest, last: Row): UserPageRequest {
  const user = userIn(last)
  const { order, limit, sort } = page
  if (sort === undefined) return { order, limit, from: { after: user.id } }
  const keys = { emailKey: String(last['email_key']), nameKey: String(last['name_key']) }
  return { order, limit, sort, from: { behind: { value: sortValue({ user, keys }, sort), id: user.id } } }
}
