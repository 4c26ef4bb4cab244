import type { Command } from 'commander'
import { type Common, type TenantOptions, withNewKeyOptions, withStorage, withTenantOption } from './common.ts'
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
    .addHelpText('after', EXAMPLE)
  withNewKeyOptions(create)
    .action((options: Common & KeyOptions & TenantOptions & CreateKeyOptions) =>
      withStorage(options, async (storage, output) => {
        await storage.open()
        await warnOfSettings(storage, output, options)
        await createKey(keysOf(storage, options, await isLogged(storage)), output, { ...options, scopes: SCOPES })
      }))
}
