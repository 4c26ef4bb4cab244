import { type Command, Option } from 'commander'
import { CONFLICT_RULES, IMPORT_FORMATS } from '../lib/transfer/import-settings.ts'
import { MAX_REFUSED, REPORTS } from '../lib/transfer/import-answer.ts'
import { type Common, withStorage, withTenantOption } from './common.ts'
import { importFile, type ImportOptions } from './import.ts'

const EXAMPLES = `
Examples:
  fastify-users import users.ndjson --dry-run
  fastify-users import users.csv --on-conflict update --by legacyId --fields fields.json --unique legacyId
  fastify-users import okta.csv --map "name=firstName,name=lastName" --ignore-unknown
  zcat users.ndjson.gz | fastify-users import - --report all`

/** Adds the options of every command that takes users in. */
export function withImportingOptions (command: Command): Command {
  return withTenantOption(command, 'the tenant of all users; default: the column or member tenant of each')
    .addOption(new Option('--on-conflict <rule>', 'what to do with a user who already exists (default: "fail")')
      .choices(CONFLICT_RULES))
    .option('--by <member>', 'the member that identifies a user: email, id, or a unique field (default: "email")')
    .option('--dry-run', 'write nothing, and show what would happen to each user')
    .option('--fail-fast', 'stop before the first user who is refused')
    .option('--max-refused <count>', `list at most this many refused users (default: ${MAX_REFUSED})`)
    .option('--fields <file>', 'the JSON Schema of the own fields: the option fields of the server')
    .option('--unique <list>', 'the option fields.unique of the server, separated by commas')
}

/** Adds the command that imports users. */
export function addImportCommand (program: Command): void {
  withImportingOptions(program.command('import')
    .description('import users from lines of JSON or a table; exit code 1 if any is refused')
    .argument('<file>', 'a path; - is standard input'))
    .addOption(new Option('--format <format>', 'lines of JSON, or a table (default: csv for *.csv, *.tsv and *.txt)')
      .choices(IMPORT_FORMATS))
    .option('--map <pairs>', '<member>=<column>, separated by commas, for a file of another system')
    .option('--ignore-unknown', 'leave out columns and members that users do not have')
    .addOption(new Option('--report <which>', 'which users are listed (default: "groups", reasons for refusals, how ' +
      'many users, and the first of them; "faults", each one, with --json or --max-refused)')
      .choices(['groups', ...REPORTS]))
    .addHelpText('after', EXAMPLES)
    .action((path: string, options: Common & ImportOptions) =>
      withStorage(options, (storage, output) => importFile(storage, output, path, options), { takesRows: true }))
}
