import {
  type Row as StoredRow, SORT_LENGTH, sortValue, StorageError, type UserFilter, type UserPageRequest, type UserRange,
  type UserRecord, type UserValue, type Words
} from 'fastify-users/storage'
import { keyOf, type Query, type Row, Violation } from './database.ts'
import { allOf, isIn, type Selection, type Sql, sqlOf } from './pages.ts'

export const userIn = (row: Row): UserRecord => JSON.parse(String(row['record']))

/** A value as a key: its JSON text tells `1` from `"1"`. */
const valueKey = (value: UserValue): string => keyOf(JSON.stringify(value))

const BOOLEAN = 1
const NUMBER = 2
const TEXT = 3

/** A value in its place among those of all types. */
function placed (value: UserValue): [type: number, number: number, text: string] {
  if (typeof value === 'string') return [TEXT, 0, value]
  return typeof value === 'number' ? [NUMBER, value, ''] : [BOOLEAN, Number(value), '']
}

/** Writes what a user is found by. `uniqueFields`: those whose value one user of a tenant has. */
export async function putFields (query: Query, user: UserRecord, uniqueFields: readonly string[]): Promise<void> {
  const { id, tenant = '' } = user
  await query('DELETE FROM field_values WHERE id = ?', [id])
  for (const [field, value] of Object.entries(user.fields)) {
    if (typeof value === 'object') continue
    const uniqueIn = uniqueFields.includes(field) ? tenant : null
    await query('INSERT INTO field_values (id, field, value, type, number_value, text_value, unique_in) ' +
      'VALUES (?, ?, ?, ?, ?, ?, ?)', [id, field, valueKey(value), ...placed(value), uniqueIn])
      .catch((error: unknown) => {
        // The database names the constraint, and not the field.
        throw error instanceof Violation ? new Violation(`field ${field}`) : error
      })
  }
}

export async function putWords (query: Query, id: string, kind: string, words: Words): Promise<void> {
  await query('DELETE FROM words WHERE id = ? AND kind = ?', [id, kind])
  if (words.length === 0) return
  const rows = words.map(() => '(?, ?, ?)').join(', ')
  await query(`INSERT INTO words (id, kind, word) VALUES ${rows}`, words.flatMap((word) => [id, kind, word]))
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

/** The condition that a field has a value for which another condition holds. */
const hasValue = (field: string, { sql, values }: Sql): Sql =>
  sqlOf(`EXISTS (SELECT 1 FROM field_values AS v WHERE v.id = u.id AND v.field = ? AND ${sql})`, field, ...values)

// All words have at most 64 code points, so no word with this beginning is greater.
const LAST = '\u{10ffff}'.repeat(64)
const hasWord = (word: string): Sql =>
  sqlOf('EXISTS (SELECT 1 FROM words AS w WHERE w.id = u.id AND w.word >= ? AND w.word <= ?)', word, `${word}${LAST}`)

const COMPARISONS = [['gte', '>='], ['gt', '>'], ['lte', '<='], ['lt', '<']] as const

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

/** The condition of a filter. */
function conditionOf (filter: UserFilter): Sql {
  const { emailKey, words, fields, status, tenant, group, ids, emailKeys } = filter
  const { anyOf = {}, exists = {}, ranges = [] } = filter
  const anyWords = (lists: readonly Words[]): Sql => {
    const each = lists.map((list) => allOf(list.map(hasWord)))
    return { sql: `(${each.map(({ sql }) => sql).join(' OR ')})`, values: each.flatMap(({ values }) => values) }
  }
  return allOf([
    ...emailKey === null ? [] : [sqlOf('u.email_key = ?', emailKey)],
    ...words === null ? [] : [anyWords(words)],
    ...status === undefined ? [] : [sqlOf('u.status = ?', status)],
    ...tenant === undefined ? [] : [sqlOf('u.tenant = ?', tenant)],
    ...group === undefined ? [] : [sqlOf('u.id IN (SELECT member FROM memberships WHERE owner = ?)', group)],
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

const KEYS = { nameKey: 'u.name_key', emailKey: 'u.email_key', updatedAt: 'u.updated_at' } as const
const BEGINNING = `SUBSTRING(s.text_value FROM 1 FOR ${SORT_LENGTH})`

/** A page of users. Those without a value come last in both directions. */
export function usersPage (filter: UserFilter, page: UserPageRequest): Selection {
  const { order, limit, from, sort } = page
  const isField = typeof sort === 'object'
  const places = sort === undefined
    ? ['u.id']
    : isField ? ['s.type', 's.number_value', BEGINNING, 'u.id'] : [KEYS[sort], 'u.id']
  const comparison = order === 'asc' ? '>' : '<'
  // MySQL and MariaDB read no range of an index for a comparison of rows: there it is `a > ? OR (a = ? AND b > ?)`.
  const isBehind = (values: unknown[]): Sql =>
    sqlOf(`(${places.join(', ')}) ${comparison} (${values.map(() => '?').join(', ')})`, ...values)

  function behind (): Sql {
    if ('offset' in from) return sqlOf('1 = 1')
    if ('after' in from) return isBehind([from.after])
    const { value, id } = from.behind
    if (!isField) return isBehind([value, id])
    if (value === null) return sqlOf(`s.id IS NULL AND u.id ${comparison} ?`, id)
    const { sql, values } = isBehind([...placed(value), id])
    return { sql: `(s.id IS NULL OR ${sql})`, values }
  }

  return {
    columns: 'u.record, u.email_key, u.name_key',
    from: isField
      ? sqlOf('users AS u LEFT JOIN field_values AS s ON s.id = u.id AND s.field = ?', sort.field)
      : sqlOf('users AS u'),
    where: conditionOf(filter),
    behind: behind(),
    order: [
      ...isField ? ['CASE WHEN s.id IS NULL THEN 1 ELSE 0 END'] : [], ...places.map((each) => `${each} ${order}`)
    ].join(', '),
    limit,
    offset: 'offset' in from ? from.offset : 0
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

/** Makes fields unique, and words of all users anew, in a transaction of the schema. */
export async function makeUnique (query: Query, field: string): Promise<void> {
  await query('UPDATE field_values SET unique_in = (SELECT u.tenant FROM users AS u WHERE u.id = field_values.id) ' +
    'WHERE field = ?', [field])
    .catch((error: unknown) => {
      if (!(error instanceof Violation)) throw error
      throw new StorageError('field_taken', 'users have the same value of a field', { field })
    })
}
