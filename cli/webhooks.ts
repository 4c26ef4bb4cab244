import { repositoryOf } from '../lib/storage/repository.ts'
import type { Storage } from '../lib/storage/storage.ts'
import type { Webhook } from '../lib/storage/webhook.ts'
import { eventPresenter } from '../lib/events/presenter.ts'
import { parseNetwork } from '../lib/webhooks/addresses.ts'
import { FROM_PROCESS } from '../lib/webhooks/call.ts'
import { createDeliver } from '../lib/webhooks/deliver.ts'
import { createSend } from '../lib/webhooks/send.ts'
import { createWebhooksService, type WebhooksService } from '../lib/webhooks/service.ts'
import { createTargets } from '../lib/webhooks/targets.ts'
import { type Bound, callOf, type TenantOptions } from './common.ts'
import { isLogged } from './keys.ts'
import { UsageError } from './failure.ts'
import { type Output, writeOnce } from './output.ts'
import type { Cell } from './table.ts'

const PAGE = 100
const NETWORKS_TOO = 'Servers deliver to such networks only with their own option allowedNetworks, or ' +
  'WEBHOOK_NETWORKS of the standalone service.'

/** Where webhooks may lead to: the options that the server has too. */
export interface TargetOptions {
  allowHttp?: boolean
  allowNetworks?: string
}

export interface CreateWebhookOptions extends TargetOptions, TenantOptions {
  url: string
  types?: string
  description?: string
}

function networksOf (list = ''): Array<ReturnType<typeof parseNetwork>> {
  try {
    return list.split(',').filter((text) => text !== '').map(parseNetwork)
  } catch {
    throw new UsageError('--allow-networks must be networks such as 10.1.0.0/16, separated by commas')
  }
}

/** The webhooks of a storage. */
export function webhooksOf (
  storage: Storage,
  { allowHttp = false, allowNetworks, ...options }: TargetOptions & TenantOptions
): Bound<WebhooksService> {
  const { webhooks: store, events: log } = repositoryOf(storage)
  const targets = createTargets({ allowHttp, allowedNetworks: networksOf(allowNetworks) })
  // Own fields as they are stored: the command line does not know the host's schema.
  const present = eventPresenter({ pastFields: (fields) => fields, showsTenant: true })
  const deliver = createDeliver(log, createSend(targets), present)
  const service = createWebhooksService({
    store,
    log,
    targets,
    pageSize: { default: PAGE, max: PAGE },
    deliver,
    // One command does one thing, for whoever may do everything.
    gate: (_caller, work) => work(),
    maxWebhooks: Infinity,
    wake: () => {}
  })
  return { service, call: callOf(options) }
}

function stateOf ({ enabled, disabledReason, failingSince }: Webhook, output: Output): Cell {
  if (!enabled) return { text: disabledReason ?? 'disabled', tone: disabledReason === undefined ? 'warning' : 'bad' }
  if (failingSince === undefined) return { text: 'enabled' }
  return { text: `failing since ${output.moment(failingSince)}`, tone: 'bad' }
}

/** Shows every webhook, oldest first. @throws UsersError */
export async function listWebhooks (
  { service: webhooks, call }: Bound<WebhooksService>, output: Output
): Promise<void> {
  const all: Webhook[] = []
  for (let page = 1; ; page++) {
    const { items, more } = await webhooks.list({ page, limit: PAGE }, call)
    all.push(...items)
    if (!more) break
  }
  if (output.json) return output.value(all)
  const rows = all.map((webhook) => {
    const { id, url, types, createdAt } = webhook
    const created = { text: output.moment(createdAt) }
    return [id, url, types.length === 0 ? 'all' : types.join(' '), stateOf(webhook, output), created]
  })
  await output.table({ heads: ['ID', 'URL', 'TYPES', 'STATE', 'CREATED'], rows, spare: ['CREATED', 'TYPES'] })
}

/** Creates a webhook and shows its secret. @throws UsersError */
export async function createWebhook (
  storage: Storage,
  output: Output,
  options: CreateWebhookOptions
): Promise<void> {
  const { url, types, description } = options
  const { service, call } = webhooksOf(storage, options)
  const { secret, webhook } = await service.create({
    url,
    ...(types !== undefined && { types: types.split(',').map((type) => type.trim()) }),
    ...(description !== undefined && { description })
  }, { ...FROM_PROCESS, ...call })
  const lost = `${webhook.id} was created, but its secret is lost: ` +
    `create another with POST /webhooks/${webhook.id}/rotate-secret`
  if (output.json) return writeOnce(output, JSON.stringify({ ...webhook, secret }), lost)
  const silent = await isLogged(storage) ? '' : '\nThere are no events yet: does the server have the option eventLog?'
  const bounded = options.allowNetworks === undefined ? '' : `\n${NETWORKS_TOO}`
  output.note(`${webhook.id}  ${webhook.url}${bounded}${silent}\nThe secret, shown only now:`)
  await writeOnce(output, secret, lost)
}

/** Delivers events again. @throws UsageError, UsersError */
export async function replayWebhook (
  { service: webhooks, call }: Bound<WebhooksService>,
  output: Output,
  id: string,
  { after, since }: { after?: string, since?: string }
): Promise<void> {
  if ((after === undefined) === (since === undefined)) throw new UsageError('give one of --after and --since')
  const start = { ...(after !== undefined && { after }), ...(since !== undefined && { since }) }
  const webhook = await webhooks.replay(id, start, { ...FROM_PROCESS, ...call })
  if (output.json) await output.value(webhook)
  else await output.line(`${webhook.id}: the running servers deliver these events again within a few seconds.`)
}
