import type { Column } from '../../tables/columns.ts'
import type { Dialect } from '../dialect.ts'

/** Most hosts have no own fields: then there is nothing to parse. */
function inJson ({ column, kind }: Column): string {
  return kind === 'json' ? `json(nullif(${column}, '{}'))` : column
}

// SQLite reads a bare parameter of LIMIT when it plans, and so plans again at each change: half the time of a page.
const limit = (n: number): string => `CAST(?${n} AS INTEGER)`

/** How SQLite returns columns: by themselves, and packed as JSON. */
export const sqliteReading: Pick<Dialect, 'p' | 'limit' | 'firstRows' | 'select' | 'packed' | 'object' | 'jsonText'> = {
  // After an ANALYZE, SQLite with STAT4 plans again for each value that it compares with a column: 2.1 instead of 0.2
  // ms for a page of a tenant. It does not look behind the plus, which changes nothing else.
  p: (n) => `+?${n}`,
  limit,
  firstRows: (query, n) => `${query} LIMIT ${limit(n)}`,
  select: (columns) => columns.map(({ name, column }) => `${column} AS "${name}"`).join(', '),
  packed (columns, query) {
    return `(SELECT json_group_array(json_array(${columns.map(inJson).join(', ')})) FROM (${query}) AS q)`
  },
  object: (columns) => `json_object(${columns.map(({ name, column, kind }) =>
    `'${name}', ${kind === 'json' ? `json(${column})` : column}`).join(', ')})`,
  jsonText: (column) => column
}
