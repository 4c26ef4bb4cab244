import type { Names } from './names.ts'

/** Makes functions of PostgreSQL whose text names the schema for good: they run under the search path of whoever writes. `@` stands for the schema. */
export function inSchema ({ schema }: Names, statements: readonly string[]): string[] {
  if (schema !== null) return statements.map((statement) => statement.replaceAll('@', `"${schema}".`))
  return statements.map((statement) => `DO $do$ BEGIN EXECUTE replace($text$${statement}$text$, '@', quote_ident(current_schema()) || '.'); END $do$`)
}

/** Takes a function of ours away, by its name and the types of its arguments. */
export function dropRoutine ({ schema, own }: Names, name: string, types: string): string {
  return `DROP FUNCTION ${schema === null ? own(name) : `"${schema}".${own(name)}`}(${types})`
}
