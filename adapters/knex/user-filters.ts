import { isStorable } from '../../lib/core/text.ts'
import type { UserConditions, UserRange } from '../../lib/storage/storage.ts'
import type { Dialect } from './dialects/dialect.ts'
import { type Condition, fieldIs, fieldValue } from './schema/field-indexes.ts'

const NOBODY: Condition = { sql: '1 = 0', values: [] }

const canBeStored = (value: unknown): boolean => typeof value !== 'string' || isStorable(value)

/** The condition that at least one of these holds. */
function either (conditions: readonly Condition[]): Condition {
  if (conditions.length === 0) return NOBODY
  const sql = `(${conditions.map(({ sql }) => `(${sql})`).join(' OR ')})`
  return { sql, values: conditions.flatMap(({ values }) => values) }
}

function idIn (given: readonly string[]): Condition {
  const ids = given.filter(isStorable)
  return ids.length === 0 ? NOBODY : { sql: `id IN (${ids.map(() => '?').join(', ')})`, values: ids }
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
export function hasOthers ({ ids, anyOf = {}, exists = {}, ranges = [] }: UserConditions): boolean {
  return ids !== undefined || Object.keys(anyOf).length > 0 || Object.keys(exists).length > 0 || ranges.length > 0
}

/** The SQL conditions of a filter by ids, lists of values, their existence and ranges. */
export function otherConditions (
  dialect: Dialect,
  { ids, anyOf = {}, exists = {}, ranges = [] }: UserConditions
): Condition[] {
  return [
    ...ids === undefined ? [] : [idIn(ids)],
    ...Object.entries(anyOf).map(([field, values]) =>
      either(values.filter(canBeStored).map((value) => fieldIs(dialect, field, value)))),
    ...Object.entries(exists).map(([field, is]): Condition =>
      ({ sql: `${fieldValue(dialect, field).number} IS ${is ? 'NOT ' : ''}NULL`, values: [] })),
    ...ranges.map((range) => within(dialect, range))
  ]
}
