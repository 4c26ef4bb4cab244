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
  /** Name of the users decorator that the webhooks belong to. */
  users: defaulted<string>('users', identifier),
  /** Name of the decorator on the Fastify instance. */
  decoratorName: defaulted<string>('webhooks', identifier),
  /** Add the routes for webhooks. */
  routes: defaulted<boolean>(true, flag),
  /** Make deliveries in this process. */
  deliver: defaulted<boolean>(true, flag),
  /** Allow http besides https, but only to `allowedNetworks`. */
  allowHttp: defaulted<boolean>(false, flag),
  /** Non-public networks, in CIDR form, that deliveries may go to, such as `10.1.0.0/16`. */
  allowedNetworks: networks,
  /** Resolves host names, like the option `lookup` of `net.connect()`. Default: `lookup` of `node:dns`. */
  lookup: optional<LookupFunction>({ schema: method, message: 'must be a function' }),
  /** Maximum number of webhooks per tenant, and of those without a tenant. More are refused. */
  maxWebhooks: defaulted<number>(MAX_WEBHOOKS, positive),
  /**
   * Maximum number of attempts, tests and URL checks that run concurrently in this process. A
   * fifth is reserved for tests and URL checks.
   */
  maxInFlight: defaulted<number>(MAX_IN_FLIGHT, {
    schema: Type.Integer({ minimum: 2 }),
    message: 'must be a whole number, 2 or more'
  }),
  /** Seconds from the creation of a delivery to its deletion. A pending delivery is kept longer. */
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
