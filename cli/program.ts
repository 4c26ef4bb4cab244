import { Command } from 'commander'
import { DEFAULT_SCOPES, SCOPES } from '../lib/api-keys/scopes.ts'
import { addAdoptCommand } from './adopt-command.ts'
import {
  type Common, KEY_PREFIX, type TenantOptions, withCommonOptions, withNewKeyOptions, withStorage, withTenantOption
} from './common.ts'
import { addExportCommand } from './export-command.ts'
import { addImportCommand } from './import-command.ts'
import { type EventListOptions, explained, listEvents, tailEvents, type TailOptions } from './events.ts'
import {
  createKey, type CreateKeyOptions, isLogged, type KeyOptions, keysOf, listKeys, revokeKey, rotateKey,
  type RotateKeyOptions, showUses
} from './keys.ts'
import { warnOfSettings } from './key-settings.ts'
import type { Output } from './output.ts'
import {
  check, type FoundByOptions, migrate, migrationStatus, requirementsOf, rollback, type RollbackOptions
} from './schema.ts'
import { addScimCommands } from './scim-commands.ts'
import { addTenantCommands } from './tenant-commands.ts'
import { addUserCommands } from './user-commands.ts'
import { addWebhookCommands } from './webhook-commands.ts'

const EXIT_CODES = `
Exit codes: 0 done, 1 refused or a problem found, 2 wrong usage, 3 the database cannot be reached or is busy.
Answers go to standard output, everything else to standard error.
Options that all commands have, such as -d and --json, may also come before the command.`
const CREATE_EXAMPLES = `
Examples:
  fastify-users keys create -d sqlite:data/users.db --name "billing job" --scopes users:read --expires-in 90d
  KEY=$(fastify-users keys create --name reports)`

/** A message of commander without the values that it repeats, which may be secrets. */
function withoutValues (message: string): string {
  return message.replace(/(?<=unknown option '[^=]*)=.*(?=')/s, '').replace(/(?<= argument) '.*'(?= is invalid)/s, '')
}

async function withKeys (
  options: Common & KeyOptions & TenantOptions,
  work: (keys: ReturnType<typeof keysOf>, output: Output) => Promise<void>,
  { makes = false }: { makes?: boolean } = {}
): Promise<void> {
  await withStorage(options, async (storage, output) => {
    await storage.open()
    const keys = keysOf(storage, options, await isLogged(storage))
    if (makes) await warnOfSettings(storage, output, options)
    return work(keys, output)
  })
}

function addKeyCommands (program: Command): void {
  const keys = program.command('keys').description('create, list, rotate and revoke API keys, and count their uses')
    .addHelpText('after', '\nA pepper of the server is read from the environment variable FASTIFY_USERS_PEPPER.\n' +
      'Separate several peppers by commas, with the one for new keys first.')
  const keyCommand = (name: string, description: string) =>
    withTenantOption(keys.command(name).description(description), 'only keys that are bound to this tenant')

  const create = keyCommand('create', 'create a key and print it; the key itself is not stored')
    .requiredOption('-n, --name <name>', 'what it is for')
    .option('-s, --scopes <list>', `separated by commas: ${SCOPES.join(', ')}, or the server's own scopes ` +
      `(default: ${DEFAULT_SCOPES.join(', ')})`)
    .addHelpText('after', CREATE_EXAMPLES)
  withNewKeyOptions(create)
    .action((options: Common & KeyOptions & CreateKeyOptions) =>
      withKeys(options, (keys, output) => createKey(keys, output, options), { makes: true }))

  keyCommand('list', 'list every key, oldest first, including revoked and expired ones, without their secrets')
    .action((options: Common & TenantOptions) => withKeys(options, listKeys))

  keyCommand('uses', 'show how often a key was used on each day, in UTC, if the servers count that')
    .argument('<id>', 'key_…')
    .action((id: string, options: Common & TenantOptions) =>
      withKeys(options, (keys, output) => showUses(keys, output, id)))

  keyCommand('rotate', 'create a successor with the same name, scopes and bounds, and print it')
    .argument('<id>', 'key_…')
    .option('--overlap <time>', 'how long the old key keeps working: seconds, or 15m, 24h, 7d (default: 24h)')
    .option('--expires-in <time>', 'seconds, or 15m, 24h, 30d (default: the lifetime of the old key)')
    .option('--expires-at <moment>', 'an RFC 3339 date and time')
    .option('--no-expires', 'it never expires')
    .option(...KEY_PREFIX)
    .action((id: string, options: Common & KeyOptions & RotateKeyOptions) =>
      withKeys(options, (keys, output) => rotateKey(keys, output, id, options), { makes: true }))

  keyCommand('revoke', 'revoke a key for good')
    .argument('<id>', 'key_…')
    .option('--successors', 'also revoke every key that was created by rotating it', false)
    .action((id: string, options: Common & { successors: boolean }) =>
      withKeys(options, (keys, output) => revokeKey(keys, output, id, options)))
}

function addEventCommands (program: Command): void {
  const events = program.command('events').description('the event log')
  const description = 'print events, oldest first; with --json, one complete event per line'
  const withFilters = (command: Command): Command =>
    withTenantOption(command, 'only events of this tenant')
      .option('--type <type>', 'only events of this type, or of all types that begin with it: user.*')
      .option('--subject <id>', 'only events of this user, key or webhook, even if deleted')
      .option('--actor <id>', 'only changes by this key or caller')
      .option('--since <time>', 'only events from this time on: 2026-01-31T12:00:00Z')
  withFilters(events.command('list').description('print the newest events, the newest first'))
    .option('--until <time>', 'only events before this time')
    .option('--limit <number>', 'how many, at most 100', '20')
    .action((options: Common & TenantOptions & EventListOptions) => withStorage(options, async (storage, output) => {
      await storage.open()
      await listEvents(storage, output, options)
    }))
  withFilters(events.command('tail').description(description))
    .option('--after <id>', 'only events after this one; now, with --follow: only new events')
    .option('-f, --follow', 'keep printing new events until Ctrl+C', false)
    .action((options: Common & TenantOptions & TailOptions) => withStorage(options, async (storage, output) => {
      await storage.open()
      const ending = new AbortController()
      const end = (): void => ending.abort()
      process.once('SIGINT', end).once('SIGTERM', end)
      await tailEvents(storage, output, options, ending.signal).catch((error) => { throw explained(error) })
    }))
}

function addSchemaCommands (program: Command): void {
  const migration = program.command('migrate').description('create the tables, or migrate them to this version')
  withCommonOptions(migration)
    .option('--filterable <list>', 'own fields that lists are filtered by, separated by commas; each gets an index')
    .option('--unique <list>', 'own fields whose values must be unique, separated by commas')
    .option('--searchable <list>', 'own fields that are searched, separated by commas, such as company,phone:digits')
    .action((options: Common & FoundByOptions) => withStorage(
      options,
      (storage, output) => migrate(storage, output, requirementsOf(options)),
      { creates: true }
    ))
  withCommonOptions(migration.command('status').description('show migrations to apply; exit code 1 if there are any'))
    .action((_options: Common, command: Command) => withStorage(command.optsWithGlobals(), migrationStatus))
  withCommonOptions(migration.command('rollback').description('roll the tables back to an earlier version'))
    .requiredOption('--to <version>', 'the version of the tables; 0 removes them, with all users')
    .option('--yes', 'confirm that data stored since that version may be lost', false)
    .action((_options: Common, command: Command) => {
      const options: Common & RollbackOptions = command.optsWithGlobals()
      return withStorage(options, (storage, output) => rollback(storage, output, options))
    })

  withCommonOptions(program.command('check')
    .description('find an old schema, missing indexes and triggers, and wrong counts; exit code 1 if there are any'))
    .option('--fix', 'count all users again', false)
    .option('--filterable <list>', 'check the indexes of these fields too')
    .option('--unique <list>', 'check the unique indexes of these fields too')
    .option('--searchable <list>', 'check whether users are found by these fields too')
    .action((options: Common & FoundByOptions & { fix: boolean }) => withStorage(
      options,
      (storage, output) => check(storage, output, options, requirementsOf(options))
    ))
}

/** Builds the command line. `writeHelp` gets the help and the version. Commands throw what `failureOf` handles. */
export function buildProgram (version: string, writeHelp: (text: string) => void): Command {
  const program = new Command('fastify-users')
    .description('Manages the API keys, users, webhooks, tenants and tables of fastify-users, imports and ' +
      'exports users, and prints events.')
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: writeHelp, outputError: (message, write) => write(withoutValues(message)) })
    .showHelpAfterError('Add --help to see the usage.')
    .addHelpText('after', EXIT_CODES)
  addKeyCommands(program)
  addUserCommands(program)
  addEventCommands(program)
  addWebhookCommands(program)
  addScimCommands(program)
  addTenantCommands(program)
  addExportCommand(program)
  addImportCommand(program)
  addAdoptCommand(program)
  addSchemaCommands(program)
  return program
}
