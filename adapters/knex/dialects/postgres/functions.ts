import type { Names } from '../../tables/names.ts'

/**
 * Statements whose text names the schema, where `@` stands for it: functions run under the search path of whoever
 * writes, so every name in them is qualified.
 */
export function withSchema ({ schema }: Names, statements: readonly string[]): string[] {
  if (schema !== null) return statements.map((statement) => statement.replaceAll('@', `"${schema}".`))
  return statements.map((statement) =>
    `DO $do$ BEGIN EXECUTE pg_catalog.replace($text$${statement}$text$, '@', ` +
    "pg_catalog.quote_ident(pg_catalog.current_schema()) || '.'); END $do$")
}

/** Drops a function of ours. `types`: those of its arguments. */
export function dropFunction ({ schema, quoted }: Names, name: string, types = ''): string {
  return `DROP FUNCTION IF EXISTS ${schema === null ? '' : `"${schema}".`}${quoted(name)}(${types})`
}
