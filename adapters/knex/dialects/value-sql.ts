import type { UserValue } from '../../../lib/storage/storage.ts'
import type { Param } from '../drivers/driver.ts'

/** A condition in SQL, with `?` for each of its values. */
export interface Condition {
  sql: string
  values: readonly Param[]
}

/**
 * How values in a JSON column are found and ordered, by two expressions. The first is the number itself, and for a text
 * or a boolean the bound of its side; NULL for what is no value. The second is the beginning of a text, and else the
 * JSON text. It tells numbers apart that a database, which need not round as JavaScript does, takes for one.
 */
export interface ValueSql {
  /** The JSON text of a member of a JSON column. */
  member (column: string, name: string): string
  value (column: string, name: string): { number: string, text: string }
  /** The first expression of booleans and of texts, which are before and behind every number. */
  bounds: { booleans: string, texts: string }
  /** The number whose JSON text is a value of the statement (`?`), as the first expression has it. */
  given: string
  /**
   * The conditions of which one holds if the two expressions have one of these values, texts of fewer characters than
   * the second has. They use the index of both.
   */
  isAmong (of: { number: string, text: string }, values: readonly UserValue[]): Condition[]
}

const textOf = (value: UserValue): string => typeof value === 'string' ? value : JSON.stringify(value)

/**
 * A list of each type. Of one type, its text tells each value from all others. `listed`: a list as a value of the
 * statement.
 */
function ofEachType (
  values: readonly UserValue[],
  conditions: Readonly<Record<'number' | 'string' | 'boolean', string>>,
  listed: (list: ReadonlyArray<string | number>) => Param
): Condition[] {
  const [numbers, strings, booleans] = [
    values.filter((value) => typeof value === 'number'),
    values.filter((value) => typeof value === 'string'),
    values.filter((value) => typeof value === 'boolean').map(textOf)
  ]
  return [
    ...numbers.length === 0
      ? []
      : [{ sql: conditions.number, values: [listed(numbers), listed(numbers.map(textOf))] }],
    ...strings.length === 0 ? [] : [{ sql: conditions.string, values: [listed(strings)] }],
    ...booleans.length === 0 ? [] : [{ sql: conditions.boolean, values: [listed(booleans)] }]
  ]
}

// More numbers are rows on PostgreSQL.
const FEW = 8

const POSTGRES_BOUNDS = { booleans: "'-Infinity'::double precision", texts: "'Infinity'::double precision" }

export const postgresValues: ValueSql = {
  member: (column, name) => `(${column} -> '${name}'::text)::text`,
  value (column, name) {
    const kind = `pg_catalog.json_typeof(${column} -> '${name}'::text)`
    const text = `(${column} ->> '${name}'::text)`
    return {
      number: `(CASE ${kind} WHEN 'number' THEN ${text}::double precision ` +
        `WHEN 'string' THEN ${POSTGRES_BOUNDS.texts} WHEN 'boolean' THEN ${POSTGRES_BOUNDS.booleans} END)`,
      text: `(CASE WHEN ${kind} IN ('string', 'number', 'boolean') THEN substr(${text}, 1, 256) ELSE '' END ` +
        'COLLATE "C")'
    }
  },
  bounds: POSTGRES_BOUNDS,
  given: '?',
  // Many numbers are rows: an OR of 64 takes 4 to 40 ms to plan, and with two lists a table without statistics, as one
  // that was just filled, is walked.
  isAmong ({ number, text }, values) {
    const rows = 'SELECT n, t FROM unnest(?::double precision[], ?::text[]) AS among (n, t)'
    const isRows = values.length > FEW && values.every((value) => typeof value === 'number')
    return ofEachType(values, {
      number: isRows
        ? `(${number}, ${text}) IN (${rows})`
        : `${number} = ANY(?::double precision[]) AND ${text} = ANY(?::text[])`,
      string: `${number} = ${POSTGRES_BOUNDS.texts} AND ${text} = ANY(?::text[])`,
      boolean: `${number} = ${POSTGRES_BOUNDS.booleans} AND ${text} = ANY(?::text[])`
    }, (list) => list)
  }
}

// The literals of infinity.
const SQLITE_BOUNDS = { booleans: '-9e999', texts: '9e999' }

export const sqliteValues: ValueSql = {
  member: (column, name) => `(${column} -> '${name}')`,
  value (column, name) {
    const kind = `json_type(${column}, '$.${name}')`
    const text = `(${column} ->> '${name}')`
    return {
      number: `(CASE ${kind} WHEN 'integer' THEN ${text} WHEN 'real' THEN ${text} ` +
        `WHEN 'text' THEN ${SQLITE_BOUNDS.texts} WHEN 'true' THEN ${SQLITE_BOUNDS.booleans} ` +
        `WHEN 'false' THEN ${SQLITE_BOUNDS.booleans} END)`,
      text: `(CASE WHEN ${kind} = 'text' THEN substr(${text}, 1, 256) ` +
        `WHEN ${kind} IN ('integer', 'real', 'true', 'false') THEN ${column} -> '${name}' ELSE '' END)`
    }
  },
  bounds: SQLITE_BOUNDS,
  given: "(? ->> '$')",
  // No index is used for rows. A plus keeps it from being asked for each number with each text.
  isAmong ({ number, text }, values) {
    const list = 'IN (SELECT value FROM json_each(?))'
    return ofEachType(values, {
      number: `${number} ${list} AND +${text} ${list}`,
      string: `${number} = ${SQLITE_BOUNDS.texts} AND ${text} ${list}`,
      boolean: `${number} = ${SQLITE_BOUNDS.booleans} AND ${text} ${list}`
    }, (given) => JSON.stringify(given))
  }
}
