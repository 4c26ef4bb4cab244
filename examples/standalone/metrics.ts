import { channel as channelOf, type ChannelListener, tracingChannel } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import type { DeliveryTrace, KeyCheckTrace, Storage, StorageTrace } from 'fastify-users'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Calls back when something that the plugin tells about has ended, with how many seconds it took. */
function onEnd (name: string, listener: (trace: object, seconds: number) => void): () => void {
  const { start, asyncEnd } = tracingChannel(`fastify-users:${name}`)
  const begun = new WeakMap<object, number>()
  const begin: ChannelListener = (trace) => { begun.set(Object(trace), performance.now()) }
  const end: ChannelListener = (trace) => {
    const since = begun.get(Object(trace))
    if (since !== undefined) listener(Object(trace), (performance.now() - since) / 1000)
  }
  channelOf(start.name).subscribe(begin)
  channelOf(asyncEnd.name).subscribe(end)
  return () => {
    channelOf(start.name).unsubscribe(begin)
    channelOf(asyncEnd.name).unsubscribe(end)
  }
}

/** What a receiver of webhooks has answered, in few words: each label makes a series. */
function resultOf ({ answer }: DeliveryTrace): string {
  if (typeof answer !== 'number') return answer === undefined ? 'error' : 'no_answer'
  return answer < 300 ? 'delivered' : 'refused'
}

/**
 * Metrics for Prometheus at `/metrics` below a path, of what the plugin tells by `node:diagnostics_channel`. Registered
 * before the plugin. No label has a name, an address, an id or a key.
 */
export function metrics (app: FastifyInstance, storage: Storage, base: string): void {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const histogram = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Histogram({ name, help, labelNames, buckets: SECONDS, registers })
  const requests = histogram('users_request_duration_seconds', 'Requests, by operation and status.',
    ['operation', 'status'])
  const calls = histogram('users_storage_duration_seconds', 'Calls of the storage, by method.', ['method', 'outcome'])
  const waits = histogram('users_wait_duration_seconds', 'Requests that waited for their turn at the storage.', [])
  const rounds = histogram('users_compaction_duration_seconds', 'Rounds of the work that keeps counting cheap.', [])
  const keys = new Counter({
    name: 'users_key_checks_total', help: 'Checks of API keys, by outcome.', labelNames: ['outcome'], registers
  })
  const deliveries = new Counter({
    name: 'users_deliveries_total', help: 'Attempts to deliver events, by result.', labelNames: ['result'], registers
  })
  const { server } = storage
  if (server?.connections !== undefined) {
    const connections = server.connections.bind(server)
    const gauge = new Gauge({
      name: 'users_connections',
      help: 'Connections of the pool to the database, and calls that wait for one.',
      labelNames: ['state'],
      registers,
      collect () {
        for (const [state, count] of Object.entries(connections())) gauge.set({ state }, count)
      }
    })
  }

  const ends = [
    onEnd('key-check', (trace: KeyCheckTrace) => keys.inc({ outcome: trace.outcome ?? 'error' })),
    onEnd('storage', (trace, seconds) => {
      const { method, error }: Partial<StorageTrace> = trace
      calls.observe({ method: String(method), outcome: error === undefined ? 'success' : 'error' }, seconds)
    }),
    onEnd('wait', (_, seconds) => waits.observe(seconds)),
    onEnd('compaction', (_, seconds) => rounds.observe(seconds)),
    onEnd('delivery', (trace) => deliveries.inc({ result: resultOf(Object(trace)) }))
  ]
  app.addHook('onClose', async () => { for (const end of ends) end() })
  // Requests that were refused before they became operations are counted too.
  app.addHook('onResponse', async ({ routeOptions }, reply) => {
    const operation = routeOptions.config.fastifyUsersOperation
    if (operation === undefined) return
    requests.observe({ operation, status: String(reply.statusCode) }, reply.elapsedTime / 1000)
  })
  app.get(`${base}/metrics`, { schema: { hide: true }, logLevel: 'warn' }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()))
}
