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
}

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
  given: '?'
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
  given: "(? ->> '$')"
}
