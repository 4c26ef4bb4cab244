import type { Command } from 'commander'
import { type Common, type TenantOptions, withStorage, withTenantOption } from './common.ts'
import { createKey, type CreateKeyOptions, isLogged, type KeyOptions, keysOf } from './keys.ts'
import { warnOfSettings } from './key-settings.ts'

const SCOPES = 'scim:users,scim:groups'
const EXAMPLE = `
Example:
  fastify-users scim keys create -d sqlite:data/users.db --name okta --tenant acme`

/** Adds the commands for identity providers. */
export function addScimCommands (program: Command): void {
  const keys = program.command('scim').description('connect identity providers')
    .command('keys').description('keys for identity providers')
  const create = keys.command('create')
    .description('create a key for an identity provider and print it; the key itself is not stored')
  withTenantOption(create, 'the tenant whose users the provider manages')
    .requiredOption('-n, --name <name>', 'the provider, who stands in the history of each user')
    .option('--expires-in <time>', 'seconds, or 15m, 24h, 30d (default: 365d)')
    .option('--expires-at <moment>', 'an RFC 3339 date and time')
    .option('--no-expires', 'it never expires')
    .option('--owner <text>', 'who is responsible for the key, as a note for people')
    .option('--addresses <list>', 'networks that the key works from, in CIDR form, separated by commas (default: any)')
    .option('--key-prefix <prefix>', 'the option apiKeys.prefix of the server')
    .addHelpText('after', EXAMPLE)
    .action((options: Common & KeyOptions & TenantOptions & CreateKeyOptions) =>
      withStorage(options, async (storage, output) => {
        await storage.open()
        await warnOfSettings(storage, output, options)
        await createKey(keysOf(storage, options, await isLogged(storage)), output, { ...options, scopes: SCOPES })
      }))
}
