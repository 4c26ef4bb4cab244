import type { Command } from 'commander'
import { type Common, withCommonOptions, withStorage } from './common.ts'
import {
  createWebhook, type CreateWebhookOptions, listWebhooks, replayWebhook, webhooksOf
} from './webhooks.ts'

/** Adds the commands of webhooks. */
export function addWebhookCommands (program: Command): void {
  const webhooks = program.command('webhooks').description('webhooks: create and list them, deliver events again')
  const command = (name: string, description: string) =>
    withCommonOptions(webhooks.command(name).description(description))

  command('list', 'list every webhook, oldest first; no secrets')
    .action((options: Common) => withStorage(options, async (storage, output) => {
      await storage.check()
      await listWebhooks(webhooksOf(storage, {}), output)
    }))

  command('create', 'create a webhook; its secret is the answer')
    .requiredOption('-u, --url <url>', 'where events are sent')
    .option('-t, --types <list>', 'types of events, separated by commas: user.created, user.* (default: all)')
    .option('--description <text>', 'what it is for')
    .option('--allow-http', 'the option allowHttp of the server')
    .option('--allow-networks <list>', 'the option allowedNetworks of the server, separated by commas')
    .action((options: Common & CreateWebhookOptions) => withStorage(options, async (storage, output) => {
      await storage.check()
      await createWebhook(storage, output, options)
    }))

  command('replay', 'deliver events again')
    .argument('<id>', 'whk_…')
    .option('--after <id>', 'those after this event')
    .option('--since <moment>', 'those since this RFC 3339 date and time')
    .action((id: string, options: Common & { after?: string, since?: string }) =>
      withStorage(options, async (storage, output) => {
        await storage.check()
        await replayWebhook(webhooksOf(storage, {}), output, id, options)
      }))
}
