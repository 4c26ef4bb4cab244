import type { Test } from 'tap'
import { webhooks, type WebhooksOptions } from '../../lib/webhooks.ts'
import { testApp, type TestAppOptions } from '../helpers/app.ts'

export const LOOPBACK = { allowHttp: true, allowedNetworks: ['127.0.0.0/8'] }
export const user = (n: number) => ({ name: `User ${n}`, email: `user${n}@example.org` })

/** A host with webhooks that may lead to this machine. */
export async function hooked (t: Test, options: WebhooksOptions = {}, given: TestAppOptions = {}) {
  const host = await testApp(t, { eventLog: true, ...given })
  await host.app.register(webhooks, { ...LOOPBACK, ...options })
  await host.app.ready()
  return host
}
