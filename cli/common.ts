import type { Command } from 'commander'
import type { KnexStorage } from '../adapters/knex/index.ts'
import { type DatabaseOptions, openDatabase } from './database.ts'
import { createOutput, type Output } from './output.ts'

/** The options that all commands have. */
export type Common = DatabaseOptions & { json?: boolean }

const URLS = 'postgres://<user>:<password>@<host>/<database> or sqlite:<path>'

/** Adds the options that all commands have. */
export function withCommonOptions (command: Command): Command {
  return command
    .option('-d, --database <url>', `${URLS}; default: the environment variable DATABASE_URL, which keeps a password ` +
      'out of the list of processes')
    .option('--schema <name>', 'PostgreSQL: the schema of the tables')
    .option('--table-prefix <prefix>', 'prefix of the tables (default: "fastify_users_")')
    .option('--pooler', 'PostgreSQL: the connection goes through a pooler such as PgBouncer')
    .option('--json', 'answer in JSON')
}

type Work = (storage: KnexStorage, output: Output) => Promise<void>

/** Opens the database for the work, and closes it afterwards in any case. */
export async function withStorage (options: Common, work: Work, create = false): Promise<void> {
  const storage = openDatabase(options, { create })
  try {
    await work(storage, createOutput(options.json === true))
  } finally {
    await storage.close()
  }
}
