// What changes of endpoints and of their deliveries mean.
import type { Repository } from '../../../lib/storage/repository.ts'
import type { WebhookRecord } from '../../../lib/storage/storage.ts'
import { rules } from './on-stores.ts'
import { firstPage, idOf, idsOf, timeOf, upTo } from './values.ts'
import { addWebhooks, deliver, deliveriesIn, deliveryOf, SUCCEEDED, webhookOf } from './webhook-values.ts'

const FIRST = idOf('whk', 1)
const FAILED = {
  status: 'failed',
  dueAt: null,
  failures: 8,
  attempts: [{ at: timeOf(60), status: null, milliseconds: 12, error: 'timeout' }]
} as const
const failed = (n: number) => deliveryOf(n, { ...FAILED, attempts: [...FAILED.attempts] })

const never = (): never => { throw new Error('a change was asked for') }

const webhooksIn = async ({ webhooks }: Repository): Promise<WebhookRecord[]> =>
  (await webhooks.list(firstPage())).items

rules('a change writes what is decided, and what it leaves out stays', async (t, { repository }) => {
  const { webhooks } = repository
  await addWebhooks(repository, 1, 2)
  const changed = webhookOf(1, { enabled: false, disabledReason: 'gone', types: [], secrets: [] })
  const asked: unknown[] = []
  const made = await webhooks.change(FIRST, null, (...given) => {
    asked.push(structuredClone(given))
    given[0].secrets.push({ text: 'changed', expiresAt: null })
    return { webhook: structuredClone(changed), deliveries: [deliveryOf(1), deliveryOf(2)] }
  })
  t.strictSame([made, asked], [changed, [[webhookOf(1), null]]])
  made?.types.push('changed')
  for (const nothing of [{ deliveries: [deliveryOf(3)] }, { deliveries: [] }, {}, null]) {
    t.strictSame(await webhooks.change(FIRST, null, (webhook) => {
      webhook.types.push('changed')
      return nothing
    }), changed)
  }
  t.strictSame(await webhooksIn(repository), [changed, webhookOf(2)])
  t.strictSame(await deliveriesIn(repository), [1, 2, 3].map((n) => deliveryOf(n)))
  t.equal(await webhooks.change(idOf('whk', 9), null, never), null)
  t.equal(await webhooks.remove(idOf('whk', 9)), false)
})

rules('a change may depend on a delivery of the endpoint', async (t, { repository }) => {
  const { webhooks } = repository
  await addWebhooks(repository, 1, 2)
  await deliver(repository, [deliveryOf(1), failed(2)])
  const asked: unknown[] = []
  for (const id of [idOf('dlv', 2), null]) {
    await webhooks.change(FIRST, id, (_webhook, delivery) => {
      asked.push(structuredClone(delivery))
      Object.assign(delivery ?? {}, { claims: 9 })
      return null
    })
  }
  t.strictSame(asked, [failed(2), null])
  t.equal(await webhooks.change(FIRST, idOf('dlv', 9), never), null)
  t.equal(await webhooks.change(idOf('whk', 2), idOf('dlv', 1), never), null, 'of another endpoint')
  t.strictSame(await deliveriesIn(repository), [deliveryOf(1), failed(2)])
})

rules('a delivery that is known is written over, and an event has one that is pending', async (t, { repository }) => {
  const { webhooks } = repository
  await addWebhooks(repository, 1, 2)
  await deliver(repository, [failed(1), deliveryOf(2), deliveryOf(3)])
  await deliver(repository, [deliveryOf(4, { event: idOf('evt', 1) })])
  await deliver(repository, [deliveryOf(5, { webhook: idOf('whk', 2), event: idOf('evt', 2) })], 2)
  const again = deliveryOf(3, { claims: 4, dueAt: timeOf(70) })
  const retried = deliveryOf(1, { claims: 1 })
  await deliver(repository, [retried, again])
  const now = [retried, deliveryOf(2), again, deliveryOf(4, { event: idOf('evt', 1) })]
  t.strictSame(await deliveriesIn(repository), now)
  await webhooks.claim(FIRST, { now: timeOf(50), until: timeOf(80), limit: 9 })
  const change = {
    webhook: webhookOf(1, { after: idOf('evt', 2) }),
    deliveries: [deliveryOf(6, { event: idOf('evt', 2) }), deliveryOf(7), deliveryOf(8, { event: idOf('evt', 3) })]
  }
  t.strictSame(await webhooks.change(FIRST, null, () => change), change.webhook, 'the rest of a change is written')
  t.strictSame((await deliveriesIn(repository)).map(({ id }) => id), idsOf('dlv', [1, 2, 3, 4, 7]))
  await deliver(repository, [deliveryOf(9, { webhook: idOf('whk', 2), event: idOf('evt', 1) })], 2)
  t.equal((await deliveriesIn(repository, 2)).length, 2, 'another endpoint has deliveries of its own')
  await deliver(repository, [deliveryOf(2, SUCCEEDED), deliveryOf(7, SUCCEEDED)])
  await deliver(repository, [deliveryOf(10, { event: idOf('evt', 2) })])
  t.equal((await deliveriesIn(repository)).length, 6, 'what is done is not pending')
})

rules('many deliveries are added together, beside pending ones', async (t, { repository }) => {
  await addWebhooks(repository, 1)
  await deliver(repository, upTo(150).map((n) => deliveryOf(n)))
  await deliver(repository, upTo(151).map((n) => deliveryOf(n + 200, { event: idOf('evt', n) })))
  t.strictSame((await deliveriesIn(repository)).map(({ id }) => id), idsOf('dlv', [...upTo(150), 351]))
})

rules('what is due is claimed, the longest due first, until the claim ends', async (t, { repository }) => {
  const { webhooks } = repository
  await addWebhooks(repository, 1, 2, 3)
  await deliver(repository, [
    ...[30, 10, 20, 50, 40].map((at, i) => deliveryOf(i + 1, { dueAt: timeOf(at), claims: i })),
    deliveryOf(6, SUCCEEDED), failed(7)
  ])
  await deliver(repository, [deliveryOf(8, { webhook: idOf('whk', 2), dueAt: timeOf(11) })], 2)
  const due = async (at: number) => [...(await webhooks.due(timeOf(at))).ids].toSorted()
  t.strictSame([await due(9), await due(10), await due(99)], [[], [FIRST], [FIRST, idOf('whk', 2)]])
  const claim = async (now: number, limit: number, until = 900) => (await webhooks.claim(FIRST, {
    now: timeOf(now), until: timeOf(until), limit
  })).map(({ id, claims, dueAt }) => [id, claims, dueAt])
  const claimed = (n: number, claims: number, until = 900) => [idOf('dlv', n), claims, timeOf(until)]
  t.strictSame([await claim(9, 9), await claim(40, 0)], [[], []])
  t.strictSame(await claim(40, 2), [claimed(2, 2), claimed(3, 3)])
  t.strictSame(await claim(40, 1, 60), [claimed(1, 1, 60)])
  t.strictSame([await claim(40, 9), await claim(40, 9)], [[claimed(5, 5)], []])
  t.strictSame(await claim(59, 9), [claimed(4, 4)])
  t.strictSame([await due(59), await due(60)], [[idOf('whk', 2)], [FIRST, idOf('whk', 2)]])
  await deliver(repository, [deliveryOf(2, { ...SUCCEEDED, claims: 2 })])
  t.strictSame(await claim(60, 9, 70), [claimed(1, 2, 70)], 'what was not finished is given again')
  const first = deliveryOf(1, { claims: 2, dueAt: timeOf(70) })
  t.strictSame(await webhooks.findDelivery(first.id), first, 'all else stays')
  t.strictSame(await webhooks.claim(idOf('whk', 9), { now: timeOf(99), until: timeOf(100), limit: 9 }), [])
  t.strictSame((await deliveriesIn(repository, 2)).map(({ claims }) => claims), [0])
})

rules('what was made before and is not pending is pruned, at most as many as asked', async (t, { repository }) => {
  const { webhooks } = repository
  await addWebhooks(repository, 1, 2)
  await deliver(repository, [
    ...[1, 2, 3].map((n) => deliveryOf(n, SUCCEEDED)), failed(4), failed(5), deliveryOf(6, SUCCEEDED),
    deliveryOf(7, { createdAt: timeOf(0) }), deliveryOf(9, { ...SUCCEEDED, createdAt: timeOf(0) }),
    deliveryOf(0, { ...SUCCEEDED, createdAt: timeOf(50) })
  ])
  await deliver(repository, [deliveryOf(20, { ...SUCCEEDED, webhook: idOf('whk', 2), createdAt: timeOf(1) })], 2)
  const counts: number[] = []
  for (const [at, limit] of [[0, 9], [5, 2], [5, 3], [5, 3], [5, 3]] as const) {
    counts.push(await webhooks.prune(timeOf(at), limit))
  }
  t.strictSame(counts, [0, 2, 3, 1, 0])
  t.strictSame((await deliveriesIn(repository)).map(({ id }) => id), idsOf('dlv', [0, 5, 6, 7]))
  t.strictSame(await deliveriesIn(repository, 2), [])
})

rules('a caller that is bound to a tenant meets the endpoints of it alone', async (t, { repository }) => {
  const { webhooks } = repository
  for (const [n, tenant] of [[1, 'acme'], [2, 'beta']] as const) await webhooks.insert(webhookOf(n, { tenant }))
  await addWebhooks(repository, 3)
  for (const n of [1, 2, 3]) {
    await deliver(repository, [deliveryOf(n, { webhook: idOf('whk', n), event: idOf('evt', 1) })], n)
  }
  const before = await webhooksIn(repository)
  for (const n of [1, 3]) {
    const id = idOf('whk', n)
    t.strictSame(await Promise.all([
      webhooks.find(id, 'beta'), webhooks.change(id, null, never, 'beta'), webhooks.remove(id, 'beta')
    ]), [null, null, false])
  }
  t.strictSame(await webhooksIn(repository), before)
  t.strictSame(await webhooks.list({ ...firstPage(1), tenant: 'acme' }), { items: [before[0]], total: 1 })
  const events = [idOf('evt', 1)]
  t.strictSame((await webhooks.deliveriesOf(events, 'beta')).map(({ id }) => id), [idOf('dlv', 2)])
  t.equal((await webhooks.deliveriesOf(events)).length, 3)
  t.strictSame(await webhooks.deliveriesOf(events, 'none'), [])
  t.match(await webhooks.change(FIRST, null, (webhook) => ({ webhook: { ...webhook, enabled: false } }), 'acme'),
    { enabled: false, tenant: 'acme' })
  t.equal(await webhooks.remove(FIRST, 'acme'), true)
})
