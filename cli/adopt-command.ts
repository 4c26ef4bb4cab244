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

Times without a time zone are read as UTC, and numbers as seconds or milliseconds since 1970.
NULL means that the user does not have the member. With tenant=<column> each row names the tenant of its user.`

/** Adds the command that takes users in from a table. */
export function addAdoptCommand (program: Command): void {
  withImportingOptions(program.command('adopt')
    .description('import the rows of a table as users, in the order of a key; exit code 1 if any row is refused'))
    .requiredOption('--table <name>', 'the table, or <schema>.<table>')
    .requiredOption('--map <pairs>', '<member>=<column>, separated by commas; fields.plan=plan is an own field')
    .option('--from <url>', 'the database of the table, PostgreSQL or SQLite (default: that of the users)')
    .option('--key <column>', 'a column with a different value in each row; rows are read in its order', 'id')
    .option('--where <condition>', 'only rows that meet this SQL condition')
    .option('--since <moment>', 'only rows changed since this time (RFC 3339), by updatedAt, or by createdAt if NULL')
    .option('--after <key>', 'only rows with a greater key, to continue where a run stopped')
    .addOption(new Option('--report <which>', 'which users are listed (default: "groups", the reasons for refusals)')
      .choices(['groups', 'faults', 'all']))
    .addHelpText('after', EXAMPLES)
    .action((options: Common & AdoptOptions) => withStorage(
      options,
      (storage, output) => adoptTable(storage, output, databaseUrl(options), options),
      { takesRows: true }
    ))
}
