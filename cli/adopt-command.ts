import { type Command, Option } from 'commander'
import { adoptTable, type AdoptOptions } from './adopt.ts'
import { type Common, withStorage } from './common.ts'
import { databaseUrl } from './database.ts'
import { withImportingOptions } from './import-command.ts'

const EXAMPLES = `
Examples:
  fastify-users adopt --table accounts --map name=full_name,email=email,createdAt=created_at --dry-run
  fastify-users adopt --table accounts --map name=full_name,email=email,fields.legacyId=id,updatedAt=changed_at \\
    --fields fields.json --unique legacyId --on-conflict update --by legacyId --since 2026-11-01T00:00:00Z

Moments of columns without a time zone are taken to be in UTC, and numbers to be seconds or milliseconds since 1970.
NULL is a member that the user does not have. With tenant=<column> each row says whose user it is.`

/** Adds the command that takes users in from a table. */
export function addAdoptCommand (program: Command): void {
  withImportingOptions(program.command('adopt')
    .description('import the rows of a table as users, in the order of a key; exit code 1 if any row is refused'))
    .requiredOption('--table <name>', 'the table, or <schema>.<table>')
    .requiredOption('--map <pairs>', '<member>=<column>, separated by commas; fields.plan=plan is an own field')
    .option('--from <url>', 'the database of the table (default: that of the users)')
    .option('--key <column>', 'a column that tells rows apart; they are read in its order', 'id')
    .option('--where <condition>', 'only rows for which this condition in SQL holds')
    .option('--since <moment>', 'only rows changed since, by updatedAt, or createdAt where that is NULL (RFC 3339)')
    .option('--after <key>', 'only rows with a greater key, to go on where a run has ended')
    .addOption(new Option('--report <which>', 'which users are named (default: "groups", why some were refused)')
      .choices(['groups', 'faults', 'all']))
    .addHelpText('after', EXAMPLES)
    .action((options: Common & AdoptOptions) =>
      withStorage(options, (storage, output) => adoptTable(storage, output, databaseUrl(options), options)))
}
