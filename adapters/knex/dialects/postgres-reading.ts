import type { Column } from '../tables/columns.ts'
import type { Dialect } from './dialect.ts'

// As JSON and without a zone, the text of a moment depends neither on the session's DateStyle nor on its TimeZone.
function alone ({ column, kind }: Column): string {
  if (kind === 'plain') return column
  return kind === 'json' ? `${column}::text` : `to_json(${column} AT TIME ZONE 'UTC')`
}

function inJson ({ column, kind }: Column): string {
  return kind === 'moment' ? `${column} AT TIME ZONE 'UTC'` : column
}

/** How PostgreSQL returns columns: by themselves, and packed as JSON. */
export const postgresReading: Pick<Dialect, 'select' | 'packed' | 'object' | 'jsonText'> = {
  select: (columns) => columns.map((each) => `${alone(each)} AS "${each.name}"`).join(', '),
  packed (columns, query) {
    return `(SELECT json_agg(json_build_array(${columns.map(inJson).join(', ')})) FROM (${query}) AS q)`
  },
  object: (columns) =>
    `json_build_object(${columns.map((each) => `'${each.name}', ${inJson(each)}`).join(', ')})`,
  jsonText: (column) => `${column}::text`
}
