import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { Test } from 'tap'
import { ALL_SCOPES, testApp, type TestAppOptions } from './app.ts'
import { listen } from './raw.ts'
import type { Exchange, Transport } from './transports.ts'
import { until } from './until.ts'

export type Send = (method: string, path: string, headers?: Record<string, string>) => Exchange
/** Ways in which a server breaks a response off. */
export type Ways = Array<[way: string, run: (t: Test, transport: Transport) => Promise<Exchange>]>

/** A host that listens, and what sends it requests. */
export async function served (t: Test, { server, open }: Transport, options: TestAppOptions = {}) {
  let running = 0
  const bodies: Readable[] = []
  const host = await testApp(t, {
    // Some members of a request can't be read behind a proxy once its connection has gone.
    server: { trustProxy: true, ...server },
    // Over HTTP/2 hooks see an answer even if none was sent.
    openapi: false,
    ...options,
    apiKeys: { cache: 0, ...options.apiKeys },
    before (app) {
      app.addHook('onRequest', async (request, reply) => {
        bodies.push(request.raw)
        running++
        reply.raw.once('close', () => { running-- })
      })
    }
  })
  const { id, key } = await host.app.users.apiKeys.create({ name: 'client', scopes: ALL_SCOPES })
  const port = await listen(host.app)
  const exchanges: Exchange[] = []
  t.teardown(() => { for (const each of exchanges) each.cancel() })
  const send: Send = (method, path, headers = {}) => {
    const exchange = open({ port, method, path: `/v1${path}`, headers: { authorization: `Bearer ${key}`, ...headers } })
    exchanges.push(exchange)
    return exchange
  }
  return {
    app: host.app,
    send,
    /** How many requests have no whole answer yet, and still a client. */
    running: () => running,
    awaitsBody: () => bodies.some((body) => body.readableFlowing === true),
    revoke: () => host.app.users.apiKeys.revoke(id)
  }
}

/** How the response ends that is being read. */
export async function endingOf (exchange: Exchange): Promise<string | null> {
  await until('the response has ended', () => exchange.ending() !== null)
  return exchange.ending()
}

/** Waits while no time passes. */
export async function turns (what: string, condition: () => boolean): Promise<void> {
  for (let n = 0; !condition(); n++) {
    if (n > 200_000) throw new Error(`${what} did not happen`)
    await setImmediate()
  }
}
