import type { LookupFunction } from 'node:net'
import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { defaulted, type Option, optional, type OptionsOf, readOptions } from './core/option-table.ts'
import { fromStorage } from './storage/storage-errors.ts'
import { Type } from './core/typebox.ts'
import { requireMount } from './mount/mounts.ts'
import { webhookOperations } from './operations/webhooks.ts'
import { flag, method, positive } from './mount/option-schemas.ts'
import { isNetwork, type Network, parseNetwork } from './webhooks/addresses.ts'
import { createGate, sharesOf } from './webhooks/bounds.ts'
import { createDeliver } from './webhooks/deliver.ts'
import { createWebhooks } from './webhooks/in-process.ts'
import { createSend } from './webhooks/send.ts'
import { createWebhooksService } from './webhooks/service.ts'
import { createTargets } from './webhooks/targets.ts'
import { createWorker } from './webhooks/worker.ts'

const PRUNE_MINUTES = 10
const PRUNED_TOGETHER = 1000
const MAX_WEBHOOKS = 200
const MAX_IN_FLIGHT = 50
// Seconds: 30 days, and a hundred years.
const RETENTION = 2_592_000
const YEARS = 3_153_600_000
const identifier = {
  schema: Type.String({ pattern: '^[A-Za-z_$][A-Za-z0-9_$]*$' }),
  message: 'must be a JavaScript identifier'
}

const networks: Option<readonly string[], readonly Network[], false> = {
  required: false,
  problem: (value) => Array.isArray(value) && value.every(isNetwork)
    ? null
    : 'must be a list of networks such as 10.1.0.0/16',
  read: (given = []) => given.map(parseNetwork)
}

const optionTable = {
  /** Name of the decorator of the users that it belongs to. */
  users: defaulted<string>('users', identifier),
  /** Name of the decorator on the Fastify instance. */
  decoratorName: defaulted<string>('webhooks', identifier),
  /** Offer the routes of webhooks. */
  routes: defaulted<boolean>(true, flag),
  /** Make deliveries in this process. */
  deliver: defaulted<boolean>(true, flag),
  /** Allow http beside https, to `allowedNetworks`. */
  allowHttp: defaulted<boolean>(false, flag),
  /** Non-public networks, in CIDR form, that deliveries may go to, such as `10.1.0.0/16`. */
  allowedNetworks: networks,
  /** Resolves names, as the option of `net.connect()` with this name; `lookup` of `node:dns` by default. */
  lookup: optional<LookupFunction>({ schema: method, message: 'must be a function' }),
  /** Maximum number of webhooks of a tenant, and of those that belong to none. More are refused. */
  maxWebhooks: defaulted<number>(MAX_WEBHOOKS, positive),
  /**
   * Attempts that run concurrently in this process, together with tests, and with checks of where a URL leads to. A
   * fifth is for the last two.
   */
  maxInFlight: defaulted<number>(MAX_IN_FLIGHT, {
    schema: Type.Integer({ minimum: 2 }),
    message: 'must be a whole number, 2 or more'
  }),
  /** Seconds from a delivery's creation to its deletion, if it has ended by then. */
  retention: defaulted<number>(RETENTION, {
    schema: Type.Integer({ minimum: 60, maximum: YEARS }),
    message: `must be a whole number of seconds from 60 to ${YEARS}`
  })
}

/** The options of webhooks. */
export interface WebhooksOptions extends OptionsOf<typeof optionTable> {}

const NAME = 'fastify-users/webhooks'

const plugin: FastifyPluginAsync<WebhooksOptions> = async (host, given) => {
  const options = readOptions(NAME, optionTable, given)
  const mount = requireMount(host, NAME, options.users)
  if (mount.eventLog === null) throw new Error(`${NAME}: fastify-users needs the option eventLog`)
  const { events: log, webhooks: store } = mount.repository
  if (host.hasDecorator(options.decoratorName)) {
    const mend = 'set another name with the option decoratorName'
    throw new Error(`${NAME}: app.${options.decoratorName} already exists: ${mend}`)
  }

  const { pageSize, present } = mount
  const { allowHttp, allowedNetworks, lookup, maxWebhooks } = options
  const shares = sharesOf(options.maxInFlight)
  const targets = createTargets({ allowHttp, allowedNetworks, lookup })
  const deliver = createDeliver(log, createSend(targets), present)
  const worker = options.deliver
    ? createWorker({ store, log, logger: mount.log, deliver, shares, publish: mount.publishDisabled })
    : null
  const wake = (): void => worker?.wake()
  mount.onChange(wake)

  // What only registers, such as a script that prints a description, delivers nothing.
  host.addHook('onReady', async () => worker?.start())

  const prune = async (): Promise<void> => {
    const before = new Date(Date.now() - options.retention * 1000).toISOString()
    while (await fromStorage(() => store.prune(before, PRUNED_TOGETHER)) === PRUNED_TOGETHER);
  }
  let pruned = Promise.resolve()
  const pruning = setInterval(() => {
    pruned = prune().catch(() => {
      mount.log.warn(`could not prune old deliveries; retrying in ${PRUNE_MINUTES} minutes`)
    })
  }, PRUNE_MINUTES * 60 * 1000).unref()
  const closing = new AbortController()
  host.addHook('preClose', async () => closing.abort())
  // Before the storage is closed: hooks of what was registered later are called first.
  host.addHook('onClose', async () => {
    clearInterval(pruning)
    await worker?.close()
    await pruned
  })

  const gate = createGate(shares)
  const service = createWebhooksService({
    store, log, targets, pageSize, deliver, gate, maxWebhooks, closing: closing.signal, wake
  })
  host.decorate(options.decoratorName, createWebhooks(service, mount.requireTenant))
  if (!options.routes) return
  await mount.addOperations(host, (settings) => webhookOperations(service, {
    ...settings, ownerOf: mount.ownerOf, claims: mount.claims
  }))
}

/** The plugin: `await app.register(webhooks)`, after fastify-users with the option `eventLog`. */
export const webhooks = fp(plugin, { name: 'fastify-users-webhooks', fastify: '5.x || 6.x' })
export default webhooks
export type { Delivery, Webhook } from './storage/webhook.ts'
export type { TenantWebhooks, Webhooks } from './webhooks/in-process.ts'
export type { ReplayStart, WebhookInput, WebhookPatch } from './webhooks/rules.ts'
export type { NewWebhook } from './webhooks/service.ts'
