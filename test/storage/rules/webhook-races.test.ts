// Concurrent changes of endpoints and claims of deliveries, judged by what is there afterwards.
import { rulesOutside } from './on-stores.ts'
import { concurrently, eventOf, idOf, RACERS, timeOf, upTo } from './values.ts'
import { addWebhooks, deliver, deliveriesIn, deliveryOf, SUCCEEDED, webhookOf } from './webhook-values.ts'

const FIRST = idOf('whk', 1)
const CLAIM = { now: timeOf(50), until: timeOf(60), limit: 4 }

rulesOutside('of concurrent changes of an endpoint none is lost', async (t, { repository }) => {
  const { webhooks } = repository
  await webhooks.insert(webhookOf(1, { description: '0' }))
  const { values } = await concurrently((i) => webhooks.change(FIRST, null, ({ description, ...webhook }) => ({
    webhook: { ...webhook, description: String(Number(description) + 1) }, deliveries: [deliveryOf(i)]
  })))
  t.strictSame(values.map((webhook) => Number(webhook?.description)).toSorted((a, b) => a - b), upTo(RACERS))
  t.equal((await webhooks.find(FIRST))?.description, String(RACERS))
  t.equal((await deliveriesIn(repository)).length, RACERS)
})

rulesOutside('of concurrent decisions only those that are made record an event', async (t, subject) => {
  const { repository, recorded } = subject
  await addWebhooks(repository, 1)
  const event = (n: number) => ({
    ...eventOf(n, 'webhook.disabled'), subject: FIRST, data: {}, before: null
  })
  await concurrently((i) => repository.webhooks.change(FIRST, null, (webhook) => webhook.enabled
    ? { webhook: { ...webhook, enabled: false }, event: event(i) }
    : null))
  t.equal((await recorded()).length, 1)
})

rulesOutside('concurrent changes bring nothing of a removed endpoint back', async (t, { repository }) => {
  const { webhooks } = repository
  await addWebhooks(repository, 1)
  await deliver(repository, upTo(RACERS).map((n) => deliveryOf(100 + n)))
  const { values, codes } = await concurrently(async (i) => {
    if (i % 4 === 3) return await webhooks.remove(FIRST)
    if (i % 4 === 2) return (await webhooks.claim(FIRST, { ...CLAIM, now: timeOf(900) })).length > 99
    return await webhooks.change(FIRST, null, (webhook) => ({ webhook, deliveries: [deliveryOf(i)] })) === undefined
  })
  t.strictSame([codes, values.filter((isRemoved) => isRemoved)], [[], [true]])
  t.strictSame([await webhooks.find(FIRST), await deliveriesIn(repository), await webhooks.due(timeOf(999))],
    [null, [], []])
  for (const n of [...upTo(RACERS), 101]) t.equal(await webhooks.findDelivery(idOf('dlv', n)), null)
})

rulesOutside('an event that many add concurrently has one pending delivery', async (t, { repository }) => {
  await addWebhooks(repository, 1)
  await concurrently((i) => deliver(repository, [1, 2].map((n) => deliveryOf(2 * i + n, { event: idOf('evt', n) }))))
  const events = (await deliveriesIn(repository)).map(({ event }) => event)
  t.strictSame(events.toSorted(), [idOf('evt', 1), idOf('evt', 2)])
})

rulesOutside('each delivery has one of many concurrent claims', async (t, { repository }) => {
  await addWebhooks(repository, 1)
  const given = upTo(30).map((n) => deliveryOf(n))
  await deliver(repository, given)
  const { values } = await concurrently(() => repository.webhooks.claim(FIRST, CLAIM))
  t.ok(values.every(({ length }) => length <= CLAIM.limit))
  const claimed = values.flat()
  // A claim may leave out a delivery that another claim has locked. The next claim gets it.
  for (let more = claimed.slice(0, 1); more.length > 0;) {
    claimed.push(...(more = await repository.webhooks.claim(FIRST, CLAIM)))
  }
  const expected = given.map((delivery) => ({ ...delivery, claims: 1, dueAt: CLAIM.until }))
  t.strictSame(claimed.toSorted((a, b) => a.id < b.id ? -1 : 1), expected)
  t.strictSame(await deliveriesIn(repository), expected)
})

rulesOutside('a claim and an outcome that race are made one after the other', async (t, { repository }) => {
  const { webhooks } = repository
  await addWebhooks(repository, 1)
  const numbers = upTo(RACERS)
  await deliver(repository, numbers.map((n) => deliveryOf(n)))
  const { values } = await concurrently(async (i) => {
    const [claims] = await Promise.all([
      webhooks.claim(FIRST, { ...CLAIM, limit: 1 }),
      webhooks.change(FIRST, idOf('dlv', i + 1), (_webhook, delivery) =>
        delivery === null ? null : { deliveries: [{ ...delivery, ...SUCCEEDED }] })
    ])
    return claims
  })
  const claimed = new Set(values.flat().map(({ id }) => id))
  t.strictSame(await deliveriesIn(repository), numbers.map((n) =>
    deliveryOf(n, { ...SUCCEEDED, claims: claimed.has(idOf('dlv', n)) ? 1 : 0 })))
})

rulesOutside('a delivery that is pruned by many is counted by one', async (t, { repository }) => {
  await addWebhooks(repository, 1)
  await deliver(repository, upTo(30).map((n) => deliveryOf(n, SUCCEEDED)))
  const { values } = await concurrently(() => repository.webhooks.prune(timeOf(99), 30))
  t.equal(values.reduce((sum, count) => sum + count, 0), 30)
  t.strictSame(await deliveriesIn(repository), [])
})
