import { join } from 'node:path'
import pg from 'pg'
import { sqlite } from 'fastify-users/adapters/sqlite'
import { sqliteHost } from '../sqlite.ts'
import type { Sandbox } from './sandbox.ts'

/** What PostgreSQL runs in no transaction. */
const ALONE = /\b(?:VACUUM|CONCURRENTLY)\b/i

/** Runs SQL on the page's PostgreSQL database, and takes it back: roles are not the database's own, and would stay. */
async function runOnPostgres (url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    if (!ALONE.test(text)) await client.query('BEGIN')
    await client.query(text)
    if (!ALONE.test(text)) await client.query('ROLLBACK')
  } finally {
    await client.end()
  }
}

async function runOnSqlite (filename: string, text: string): Promise<void> {
  const storage = sqlite({ filename })
  await storage.open({ migrate: true })
  await storage.close()
  const host = sqliteHost(filename)
  try {
    const statements = text.replace(/--.*/g, '').split(/;\s*(?:\n|$)/)
    for (const statement of statements.filter((each) => each.trim() !== '')) await host.raw(statement)
  } finally {
    await host.destroy()
  }
}

/** Runs a block of SQL on a migrated database of its kind. @throws what the database says */
export async function runSql (kind: string, text: string, { directory, postgresUrl }: Sandbox): Promise<void> {
  if (kind === 'pg') await runOnPostgres(await postgresUrl(), text)
  else if (kind === 'sqlite') await runOnSqlite(join(directory, 'shop.db'), text)
  else throw new Error('sql is of which kind, pg or sqlite?')
}
