import { isStorable } from '../../lib/core/text.ts'
import { SORT_LENGTH } from '../../lib/storage/user-order.ts'
import type { UserConditions, UserRange, UserValue } from '../../lib/storage/storage.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { Condition } from './dialects/value-sql.ts'
import { fieldIs, fieldValue } from './schema/field-indexes.ts'

const NOBODY: Condition = { sql: '1 = 0', values: [] }

const canBeStored = (value: unknown): boolean => typeof value !== 'string' || isStorable(value)

/** The condition that at least one of these holds. */
function either (conditions: readonly Condition[]): Condition {
  if (conditions.length === 0) return NOBODY
  const sql = `(${conditions.map(({ sql }) => `(${sql})`).join(' OR ')})`
  return { sql, values: conditions.flatMap(({ values }) => values) }
}

function isOneOf (column: 'id' | 'email_key', given: readonly string[]): Condition {
  const values = given.filter(isStorable)
  return values.length === 0 ? NOBODY : { sql: `${column} IN (${values.map(() => '?').join(', ')})`, values }
}

/** The condition that a field has one of these values. */
function isAmong (dialect: Dialect, field: string, given: readonly UserValue[]): Condition {
  const values = given.filter(canBeStored)
  const isLong = (value: UserValue): boolean => typeof value === 'string' && value.length >= SORT_LENGTH
  if (values.length < 2 || values.some(isLong)) return either(values.map((value) => fieldIs(dialect, field, value)))
  return either(dialect.isAmong(fieldValue(dialect, field), values))
}

const COLUMNS = { createdAt: 'created_at', updatedAt: 'updated_at' } as const
const COMPARISONS = { gte: '>=', gt: '>', lte: '<=', lt: '<' } as const

/** The bounds of a range with their comparisons. */
function boundsOf (range: UserRange): Array<[comparison: string, bound: string | number]> {
  return Object.entries(COMPARISONS).flatMap(([name, comparison]) => {
    const bound: unknown = Reflect.get(range, name)
    return typeof bound === 'string' || typeof bound === 'number' ? [[comparison, bound]] : []
  })
}

function within (dialect: Dialect, range: UserRange): Condition {
  const bounds = boundsOf(range)
  if (!bounds.every(([, bound]) => canBeStored(bound))) return NOBODY
  const values = bounds.map(([, bound]) => bound)
  if (typeof range.of === 'string') {
    const column = COLUMNS[range.of]
    return { sql: bounds.map(([comparison]) => `${column} ${comparison} ?`).join(' AND '), values }
  }
  const { number, text } = fieldValue(dialect, range.of.field)
  const { booleans, texts } = dialect.bounds
  if (values.every((bound) => typeof bound === 'string')) {
    const compared = bounds.map(([comparison]) => `${text} ${comparison} ?`)
    return { sql: [`${number} = ${texts}`, ...compared].join(' AND '), values }
  }
  const compared = bounds.map(([comparison]) => `${number} ${comparison} ${dialect.given}`)
  const sql = [`${number} > ${booleans}`, `${number} < ${texts}`, ...compared].join(' AND ')
  return { sql, values: values.map((bound) => JSON.stringify(bound)) }
}

/** True if a filter has conditions of those below. */
export function hasOthers ({ ids, emailKeys, anyOf = {}, exists = {}, ranges = [] }: UserConditions): boolean {
  return ids !== undefined || emailKeys !== undefined || ranges.length > 0 ||
    Object.keys(anyOf).length > 0 || Object.keys(exists).length > 0
}

/** The SQL conditions of a filter by ids, e-mail keys, lists of values, their existence and ranges. */
export function otherConditions (
  dialect: Dialect,
  { ids, emailKeys, anyOf = {}, exists = {}, ranges = [] }: UserConditions
): Condition[] {
  return [
    ...ids === undefined ? [] : [isOneOf('id', ids)],
    ...emailKeys === undefined ? [] : [isOneOf('email_key', emailKeys)],
    ...Object.entries(anyOf).map(([field, values]) => isAmong(dialect, field, values)),
    ...Object.entries(exists).map(([field, is]): Condition =>
      ({ sql: `${fieldValue(dialect, field).number} IS ${is ? 'NOT ' : ''}NULL`, values: [] })),
    ...ranges.map((range) => within(dialect, range))
  ]
}
