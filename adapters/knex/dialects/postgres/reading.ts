import type { Column } from '../../tables/columns.ts'
import type { Dialect } from '../dialect.ts'

// As JSON and without a zone, the text of a moment depends neither on the session's DateStyle nor on its TimeZone. UTC
// is given as an interval: a TimeZone such as UTC+5 gives its name another meaning.
const UTC = "AT TIME ZONE INTERVAL '0'"

function alone ({ column, kind }: Column): string {
  if (kind === 'plain') return column
  return kind === 'json' ? `${column}::text` : `pg_catalog.to_json(${column} ${UTC})`
}

function inJson ({ column, kind }: Column): string {
  return kind === 'moment' ? `${column} ${UTC}` : column
}

/** How PostgreSQL returns columns: by themselves, and packed as JSON. */
export const postgresReading: Pick<Dialect, 'select' | 'packed' | 'object' | 'jsonText'> = {
  select: (columns) => columns.map((each) => `${alone(each)} AS "${each.name}"`).join(', '),
  packed (columns, query) {
    const row = `pg_catalog.json_build_array(${columns.map(inJson).join(', ')})`
    return `(SELECT pg_catalog.json_agg(${row}) FROM (${query}) AS q)`
  },
  object: (columns) =>
    `pg_catalog.json_build_object(${columns.map((each) => `'${each.name}', ${inJson(each)}`).join(', ')})`,
  jsonText: (column) => `${column}::text`
}
