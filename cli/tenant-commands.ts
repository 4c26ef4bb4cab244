import type { Command } from 'commander'
import { type Common, withCommonOptions, withStorage } from './common.ts'
import { assignToTenant, deleteTenant, listTenants } from './tenants.ts'

/** Adds the commands of tenants. */
export function addTenantCommands (program: Command): void {
  const tenants = program.command('tenants').description('list the tenants, with the numbers of their users')
  withCommonOptions(tenants).action((options: Common) => withStorage(options, async (storage, output) => {
    await storage.open()
    await listTenants(storage, output)
  }))
  withCommonOptions(tenants.command('assign')
    .description('assign the users without a tenant to one, with their events'))
    .argument('<name>', 'its name')
    .option('--yes', 'confirm that they will belong to this tenant for good', false)
    .action((name: string, _options: Common, command: Command) => {
      const options: Common & { yes: boolean } = command.optsWithGlobals()
      return withStorage(options, async (storage, output) => {
        await storage.open()
        await assignToTenant(storage, output, name, options)
      })
    })
  withCommonOptions(tenants.command('delete')
    .description('delete a tenant for good, with its users, keys and webhooks, and the values in its events'))
    .argument('<name>', 'its name')
    .option('--yes', 'confirm that all of it will be lost', false)
    .action((name: string, _options: Common, command: Command) => {
      const options: Common & { yes: boolean } = command.optsWithGlobals()
      return withStorage(options, async (storage, output) => {
        await storage.open()
        await deleteTenant(storage, output, name, options)
      })
    })
}
