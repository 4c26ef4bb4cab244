// A process that dies leaves no delivery undone. That several share deliveries: test/storage/rules/between.test.ts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { postgres } from '../../adapters/postgres.ts'
import { plainNode } from '../helpers/plain-node.ts'
import { pgUrl, temporarySchema } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'
import { startReceiver } from '../helpers/webhook-receiver.ts'
import { hooked, user } from './hooked.ts'

const PROGRAM = join(import.meta.dirname, '..', 'helpers', 'deliver-webhooks.mjs')

async function place (t: Test) {
  const schema = temporarySchema(t)
  return { storage: postgres({ connection: pgUrl(), schema }), args: [pgUrl(), schema] }
}

async function deliverer (t: Test, args: string[]) {
  const [node, given] = plainNode(PROGRAM, ...args)
  const child = spawn(node, given, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

test('a process that dies in the middle of its attempts leaves them to others', async (t) => {
  const { storage, args } = await place(t)
  const { app } = await hooked(t, { deliver: false }, { storage })
  const receiver = await startReceiver(t)
  // It answers nobody until the first process is dead.
  receiver.answer = () => {}
  const { id } = await app.webhooks.create({ url: receiver.url, types: ['user.created'] })
  const first = await deliverer(t, args)
  await Promise.all(Array.from({ length: 20 }, (_, n) => app.users.create(user(n))))
  await until('attempts are under way', () => receiver.received.length >= 5)
  first.kill('SIGKILL')
  await once(first, 'exit')
  receiver.answer = (response) => { response.writeHead(204).end() }
  // Its claims would end after 30 seconds: a test does not wait for that.
  const { data: claimed } = await app.webhooks.deliveries(id)
  const ofFirst = claimed.filter(({ nextAttemptAt = '' }) => nextAttemptAt > new Date().toISOString())
  t.ok(ofFirst.length >= 5 && ofFirst.every(({ nextAttemptAt }) =>
    Date.parse(String(nextAttemptAt)) <= Date.now() + 30_000), 'they are due again soon')
  for (const delivery of ofFirst) await app.webhooks.retry(id, delivery.id)
  const second = await deliverer(t, args)
  await until('all came', () => new Set(receiver.ids()).size === 20, 30_000)
  await until('all are kept', async () =>
    (await app.webhooks.deliveries(id, { limit: 100 })).data.every(({ status }) => status === 'succeeded'))
  second.kill('SIGTERM')
  t.strictSame(await once(second, 'exit'), [0, null])
})
