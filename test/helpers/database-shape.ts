import { sqliteHost } from './sqlite.ts'
import { sql } from './stores.ts'

type Row = Record<string, unknown>

/** Runs a statement in an SQLite file. */
export async function inFile (filename: string, statement: string): Promise<Row[]> {
  const host = sqliteHost(filename)
  try {
    return await host.raw(statement)
  } finally {
    await host.destroy()
  }
}

/** Everything in an SQLite file that is no data. */
export function shapeOfFile (filename: string): Promise<Row[]> {
  return inFile(filename, "SELECT name, replace(sql, ' IF NOT EXISTS', '') AS sql FROM sqlite_master ORDER BY name")
}

const CATALOG = [
  `SELECT table_name, column_name, data_type, collation_name, is_nullable, column_default, datetime_precision
    FROM information_schema.columns WHERE table_schema = $1 ORDER BY 1, 2`,
  `SELECT conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint
    WHERE connamespace = to_regnamespace($1) ORDER BY 1`,
  'SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = $1 ORDER BY 1',
  `SELECT proname, prosrc, prosecdef, proconfig, proacl::text, pg_get_function_identity_arguments(oid) AS arguments
    FROM pg_proc WHERE pronamespace = to_regnamespace($1) ORDER BY 1`,
  `SELECT tgname, tgenabled, pg_get_triggerdef(t.oid) AS definition FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
    WHERE relnamespace = to_regnamespace($1) AND NOT tgisinternal ORDER BY 1`,
  `SELECT relname, relkind, relreplident, reloptions FROM pg_class
    WHERE relnamespace = to_regnamespace($1) AND relkind IN ('r', 'S') ORDER BY 1`
]

/** Everything in a schema of PostgreSQL that is no data, by kind. The name of the schema is left out. */
export async function shapeOfSchema (schema: string): Promise<Row[][]> {
  const all = await Promise.all(CATALOG.map((statement) => sql(statement, [schema])))
  return JSON.parse(JSON.stringify(all).replaceAll(schema, 'SCHEMA'))
}
