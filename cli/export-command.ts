import { type Command, Option } from 'commander'
import { EXPORT_FORMATS } from '../lib/transfer/export.ts'
import { STATUSES } from '../lib/users/status.ts'
import { type Common, type TenantOptions, withStorage, withTenantOption } from './common.ts'
import { type ExportOptions, exportUsers } from './export.ts'
import { hasTenants } from './tenants.ts'

const EXAMPLES = `
Examples:
  fastify-users export -d sqlite:data/users.db -o users.ndjson
  fastify-users export --format csv --columns id,email --q ann`

/** Adds the command that exports users. */
export function addExportCommand (program: Command): void {
  withTenantOption(
    program.command('export').description('export users, all from one snapshot'),
    'only users of this tenant'
  )
    .addOption(new Option('--format <format>', 'a line of JSON for each user, or a table (default: "ndjson")')
      .choices(EXPORT_FORMATS))
    .option('--columns <list>', 'which columns, in this order, separated by commas; own fields need --fields')
    .option('--sort <order>', 'createdAt, or -createdAt for the newest first')
    .option('--q <text>', 'only users whose name or e-mail address begins with this')
    .option('--email <address>', 'only the user with this e-mail address')
    .addOption(new Option('--status <status>', 'only users with this status').choices(STATUSES))
    .option('--fields <file>', 'the JSON Schema of the own fields: the option fields of the server')
    .option('-o, --output <file>', 'the output file, which appears when it is complete; - is standard output')
    .addHelpText('after', EXAMPLES)
    .action((options: Common & TenantOptions & Omit<ExportOptions, 'ofTenants'>) =>
      withStorage(options, async (storage, output) => {
        await storage.open()
        await exportUsers(storage, output, { ...options, ofTenants: await hasTenants(storage) })
      }))
}
