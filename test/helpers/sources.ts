import { join } from 'node:path'
import type { Test } from 'tap'
import { readTable, type SourceTable } from '../../cli/adopt-source.ts'
import { openSource, type SourceDatabase } from '../../cli/source-database.ts'
import { sqliteHost } from './sqlite.ts'
import { sql, temporaryDirectory, temporarySchema } from './stores.ts'

/** A new SQLite file with the results of these statements, as a source. */
export async function sourceOf (
  t: Test,
  ...statements: string[]
): Promise<{ filename: string, source: SourceDatabase }> {
  const filename = join(await temporaryDirectory(t), 'source.db')
  const owner = sqliteHost(filename)
  for (const statement of statements) await owner.raw(statement)
  await owner.destroy()
  const source = openSource(`sqlite:${filename}`)
  t.teardown(() => source.knex.destroy())
  return { filename, source }
}

/** The users of a table, with the keys by which their rows are named. Stops a reader that does not end. */
export async function usersOf (
  source: SourceDatabase,
  table: SourceTable
): Promise<Array<[key: string, user: object]>> {
  const { rows, keyOf } = await readTable(source, table)
  const users: Array<[string, object]> = []
  for await (const step of rows) {
    users.push(...step.map((row): [string, object] => [keyOf(row.line), 'value' in row ? Object(row.value) : row]))
    if (users.length > 2000) throw new Error('the reader does not end')
  }
  return users
}

/** A new schema of PostgreSQL with the results of these statements, in which `@` stands for it, as a source. */
export async function pgSourceOf (
  t: Test,
  url: string,
  ...statements: string[]
): Promise<{ schema: string, source: SourceDatabase }> {
  const schema = temporarySchema(t)
  await sql(`CREATE SCHEMA "${schema}"`)
  for (const statement of statements) await sql(statement.replaceAll('@', `"${schema}".`))
  const source = openSource(url)
  t.teardown(() => source.knex.destroy())
  return { schema, source }
}
