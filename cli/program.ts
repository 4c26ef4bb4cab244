import { Command } from 'commander'
import type { KnexStorage } from '../adapters/knex/index.ts'
import { SCOPES } from '../lib/api-keys/scopes.ts'
import { DEFAULT_KEY_PREFIX } from '../lib/api-keys/key-text.ts'
import { type DatabaseOptions, openDatabase } from './database.ts'
import { createKey, type CreateKeyOptions, keysOf, type KeyOptions, listKeys, revokeKey, rotateKey } from './keys.ts'
import { createOutput, type Output } from './output.ts'
import { check, filterableOf, migrate, migrationStatus } from './schema.ts'

type Common = DatabaseOptions & { json?: boolean }
interface Filtering { filterable?: string }

/** A command with the options that all have. */
function common (command: Command): Command {
  return command
    .option('-d, --database <url>', 'postgres://<user>:<password>@<host>/<database> or sqlite:<path>; by default the environment variable DATABASE_URL, which keeps a password out of the list of processes')
    .option('--schema <name>', 'PostgreSQL: the schema of the tables')
    .option('--table-prefix <prefix>', 'what the tables begin with (default: "fastify_users_")')
    .option('--pooler', 'PostgreSQL: the connection goes through a pooler such as PgBouncer')
    .option('--json', 'answer in JSON')
}

/** Opens the database for a piece of work, and closes it whatever comes of that. */
async function withStorage (options: Common, work: (storage: KnexStorage, output: Output) => Promise<void>, create = false): Promise<void> {
  const storage = openDatabase(options, { create })
  try {
    await work(storage, createOutput(options.json === true))
  } finally {
    await storage.close()
  }
}

/** Builds the command line. Commands throw what failureOf() knows. */
export function buildProgram (version: string): Command {
  const program = new Command('fastify-users')
    .description('Looks after the API keys and the tables of fastify-users.')
    .version(version)
    .exitOverride()
    .showHelpAfterError('Add --help for what there is.')
    .addHelpText('after', '\nExit codes: 0 done, 1 refused or a problem found, 2 wrong usage, 3 the database can not be reached.\nAnswers go to standard output, all else to standard error.')

  const withKeys = (options: Common & KeyOptions, work: (keys: ReturnType<typeof keysOf>, output: Output) => Promise<void>) => withStorage(options, async (storage, output) => {
    const keys = keysOf(storage, options)
    await storage.check()
    return work(keys, output)
  })
  const keys = program.command('keys').description('API keys: make, list, replace and end them')
    .addHelpText('after', '\nA pepper that the server was given is read from the environment variable FASTIFY_USERS_PEPPER.')
  const keyCommand = (name: string, description: string) => common(keys.command(name).description(description))

  keyCommand('create', 'make a key; its text is the answer, and can not be had again')
    .requiredOption('-n, --name <name>', 'what it is for')
    .option('-s, --scopes <list>', `with commas: ${SCOPES.join(', ')} (default: the three of users)`)
    .option('--expires-in <time>', 'seconds, or 15m, 24h, 30d (default: 365d)')
    .option('--expires-at <moment>', 'a date and time of RFC 3339')
    .option('--no-expires', 'it never expires')
    .option('--key-prefix <prefix>', `the prefix that the server was given (default: "${DEFAULT_KEY_PREFIX}")`)
    .addHelpText('after', '\nExamples:\n  fastify-users keys create -d sqlite:data/users.db --name "billing job" --scopes users:read --expires-in 90d\n  KEY=$(fastify-users keys create --name deploy)')
    .action((options: Common & KeyOptions & CreateKeyOptions) => withKeys(options, (keys, output) => createKey(keys, output, options)))

  keyCommand('list', 'every key, oldest first, the revoked and expired ones too; no texts')
    .action((options: Common) => withKeys(options, listKeys))

  keyCommand('rotate', 'make a successor with the same name, scopes and lifetime; its text is the answer')
    .argument('<id>', 'key_…')
    .option('--overlap <time>', 'how long the old key goes on working: seconds, or 15m, 24h, 7d (default: 24h)')
    .option('--key-prefix <prefix>', `the prefix that the server was given (default: "${DEFAULT_KEY_PREFIX}")`)
    .action((id: string, options: Common & KeyOptions & { overlap?: string }) => withKeys(options, (keys, output) => rotateKey(keys, output, id, options)))

  keyCommand('revoke', 'end a key for good')
    .argument('<id>', 'key_…')
    .action((id: string, options: Common) => withKeys(options, (keys, output) => revokeKey(keys, output, id)))

  const migration = common(program.command('migrate').description('make the tables, or bring them to the version of this package'))
    .option('--filterable <list>', 'with commas: fields of your own that lists are narrowed by, as in the option of the server; each gets an index')
    .action((options: Common & Filtering) => withStorage(options, (storage, output) => migrate(storage, output, filterableOf(options.filterable)), true))
  common(migration.command('status').description('which migrations are still to be applied; exit code 1 where there are any'))
    .action((_options: Common, command: Command) => withStorage(command.optsWithGlobals(), migrationStatus))

  common(program.command('check').description('look for a schema behind, missing indexes and triggers, and wrong counts; exit code 1 where there is any'))
    .option('--fix', 'count all users anew', false)
    .option('--filterable <list>', 'look for the indexes of these fields too')
    .action((options: Common & Filtering & { fix: boolean }) => withStorage(options, (storage, output) => check(storage, output, options, filterableOf(options.filterable))))

  return program
}
