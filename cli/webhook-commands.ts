import type { Command } from 'commander'
import { type Common, type TenantOptions, withStorage, withTenantOption } from './common.ts'
import {
  createWebhook, type CreateWebhookOptions, listWebhooks, replayWebhook, webhooksOf
} from './webhooks.ts'

/** Adds the commands of webhooks. */
export function addWebhookCommands (program: Command): void {
  const webhooks = program.command('webhooks').description('create and list webhooks, and deliver events again')
  const command = (name: string, description: string) =>
    withTenantOption(webhooks.command(name).description(description), 'only webhooks of this tenant')

  command('list', 'list every webhook, oldest first, without the secrets')
    .action((options: Common & TenantOptions) => withStorage(options, async (storage, output) => {
      await storage.open()
      await listWebhooks(webhooksOf(storage, options), output)
    }))

  command('create', 'create a webhook and print its secret')
    .requiredOption('-u, --url <url>', 'where events are sent')
    .option('-t, --types <list>', 'types of events, separated by commas: user.created, user.* (default: all)')
    .option('--description <text>', 'what it is for')
    .option('--allow-http', 'allow http:// to these networks; the servers need their option allowHttp too')
    .option('--allow-networks <list>', 'allow these private networks, separated by commas; the servers need their ' +
      'option allowedNetworks too (WEBHOOK_NETWORKS)')
    .action((options: Common & TenantOptions & CreateWebhookOptions) =>
      withStorage(options, async (storage, output) => {
        await storage.open()
        await createWebhook(storage, output, options)
      }))

  command('replay', 'deliver events again')
    .argument('<id>', 'whk_…')
    .option('--after <id>', 'the events after this one')
    .option('--since <moment>', 'the events since this RFC 3339 date and time')
    .action((id: string, options: Common & TenantOptions & { after?: string, since?: string }) =>
      withStorage(options, async (storage, output) => {
        await storage.open()
        await replayWebhook(webhooksOf(storage, options), output, id, options)
      }))
}
