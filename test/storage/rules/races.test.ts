// Concurrent calls of one process, judged by what is there afterwards.
import { setImmediate as turn } from 'node:timers/promises'
import { races } from './on-stores.ts'
import {
  addKey, addKeys, apiKeyOf, concurrently, create, done, eventOf, idOf, keysIn, onlyVersion, RACERS, readdress,
  remove, rename, revoke, rotate, tally, timeOf, touch, update, upTo, userOf, usersIn
} from './values.ts'
import { addWebhooks, deliver, deliveriesIn, deliveryOf, SUCCEEDED, webhookOf } from './webhook-values.ts'

const LAST = { code: 'last_admin_key' }
const ADMIN = { scopes: ['users:read', 'keys:write'] }
const KEEP = { keepOneWith: ['keys:write'] }
const FIRST = idOf('whk', 1)
const CLAIM = { now: timeOf(50), until: timeOf(60), limit: 4 }

races('of concurrent creations with one address, one unique value or one id one is made', async (
  t, { repository, write }
) => {
  const byAddress = await concurrently((i) => write(create(userOf(i, { email: i % 2 === 0 ? 'a@b.org' : 'A@B.org' }))))
  t.strictSame([tally(byAddress.values), byAddress.codes], [{ done: 1, email_taken: RACERS - 1 }, []])
  const byField = await concurrently((i) => write(create(userOf(100 + i, { fields: { legacyId: 'x' } }))))
  t.strictSame(tally(byField.values), { done: 1, field_taken: RACERS - 1 })
  const byId = await concurrently((i) => write(create({ ...userOf(200 + i), id: idOf('usr', 300) })))
  t.strictSame([tally(byId.values), byId.codes], [{ done: 1 }, Array(RACERS - 1).fill('fault')])
  t.equal((await usersIn(repository)).length, 3)
})

races('of concurrent updates none is lost, and of those with one version or one address one is made', async (
  t, { repository, write }
) => {
  for (const n of upTo(RACERS)) await write(create(userOf(n)))
  const guard = onlyVersion(1)
  const guarded = await concurrently((i) => write(update(1, rename(`Winner ${i}`), { guard })))
  t.strictSame(tally(guarded.values), { done: 1, version_mismatch: RACERS - 1 })
  const winner = guarded.values.find(({ code }) => code === 'done')
  t.strictSame(winner, done(await repository.users.find(idOf('usr', 1))))
  const free = await concurrently((i) => write(update(2, i % 2 === 0
    ? { status: i % 4 === 0 ? 'suspended' : 'active', statusReason: `reason ${i}` }
    : rename(`Name ${i}`))))
  t.strictSame([tally(free.values), free.codes], [{ done: RACERS }, []])
  const user = await repository.users.find(idOf('usr', 2))
  t.equal(user?.version, 1 + RACERS)
  t.equal(Number(user?.statusReason?.slice('reason '.length)) % 4 === 0, user?.status === 'suspended')
  const address = await concurrently((i) => write(update(i + 1, readdress('one@example.org'))))
  t.strictSame(tally(address.values), { done: 1, email_taken: RACERS - 1 })
})

races('of concurrent deletions one is made, and it has every update that was answered', async (
  t, { repository, write }
) => {
  await write(create(userOf(1)))
  const { values, codes } = await concurrently((i) =>
    write(i % 2 === 0 && i >= RACERS / 2 ? remove(1) : update(1, rename(`Name ${i}`))))
  t.strictSame(codes, [])
  const versions = values.flatMap((outcome) => outcome.code === 'done' ? [outcome.user?.version ?? 0] : [])
  const last = Math.max(...versions)
  t.strictSame(versions.toSorted((a, b) => a - b), [...upTo(last).slice(1), last], 'the deletion has the last version')
  t.strictSame(await usersIn(repository), [])
})

races('of concurrent first keys, and of those with one id or start, one is added', async (t, { repository }) => {
  const { apiKeys } = repository
  const first = await concurrently((i) => apiKeys.write(addKey(i, {}, { onlyFirst: true })))
  t.strictSame(first.codes, [])
  t.equal(first.values.filter((made) => made.code === 'done' && made.changed).length, 1)
  for (const same of [{ id: idOf('key', 500) }, { start: apiKeyOf(501).start }]) {
    const { values, codes } = await concurrently((i) => apiKeys.write(addKey(100 + Object.keys(same).length * i, same)))
    t.strictSame([values.length, codes], [1, Array(RACERS - 1).fill('fault')])
  }
  t.equal((await keysIn(repository)).length, 3)
})

races('of concurrent rotations without overlap, and of revocations, one is made', async (t, { repository }) => {
  const { apiKeys } = repository
  await addKeys(repository, apiKeyOf(100), apiKeyOf(200))
  const rotations = await concurrently((i) =>
    apiKeys.write(rotate(100, i, { now: timeOf(200 - i), expiresAt: timeOf(200 - i) })))
  t.strictSame(tally(rotations.values), { done: 1, api_key_inactive: RACERS - 1 })
  t.equal((await keysIn(repository)).length, 3)
  const { values } = await concurrently((i) => apiKeys.write(revoke(200, 100 + i)))
  t.equal(values.filter((made) => made.code === 'done' && made.changed).length, 1)
  t.equal(new Set(values.map((made) => made.code === 'done' && made.key?.revokedAt)).size, 1)
})

races('of keys that are revoked concurrently one stays, whatever else changes', async (t, { repository }) => {
  const { apiKeys } = repository
  for (let i = 0; i < RACERS; i++) await addKeys(repository, apiKeyOf(i, ADMIN))
  const { values } = await concurrently((i) => apiKeys.write(revoke(i, 100, KEEP)))
  t.strictSame(tally(values), { done: RACERS - 1, last_admin_key: 1 })
  t.equal((await keysIn(repository)).filter(({ revokedAt }) => revokedAt === null).length, 1)
  const last = values.findIndex(({ code }) => code === 'last_admin_key')
  for (const n of [100, 110, 120]) {
    await addKeys(repository, ...[0, 1, 2].map((i) => apiKeyOf(n + i)))
    const others = [
      rotate(n, n + 5), touch(n + 1, 100, 50), revoke(n + 2, 100), addKey(n + 6)
    ].map((write) => apiKeys.write(write))
    t.strictSame(await apiKeys.write(revoke(last, 150, KEEP)), LAST)
    t.strictSame(tally(await Promise.all(others)), { done: 4 })
  }
})

races('a key that came from one by a concurrent rotation goes with it', async (t, { repository }) => {
  const { apiKeys } = repository
  for (const turns of [0, 1, 2, 3, 5, 8]) {
    const first = 100 + turns * 20
    await addKeys(repository, apiKeyOf(first))
    const rotating = [1, 6, 11].map(async (start) => {
      for (let i = 0, from = first; i < 5; from = first + start + i++) {
        const { code } = await apiKeys.write(rotate(from, first + start + i))
        if (code === 'done') continue
        t.equal(code, 'api_key_inactive')
        break
      }
    })
    for (let i = 0; i < turns; i++) await turn()
    await Promise.all([...rotating, apiKeys.write(revoke(first, 80, { successors: true }))])
    const chain = (await keysIn(repository)).filter(({ id }) => id >= idOf('key', first))
    t.ok(chain.every(({ revokedAt }) => revokedAt === timeOf(80)), `after ${turns} turns`)
  }
})

races('of concurrent uses none is lost', async (t, { repository }) => {
  await addKeys(repository, apiKeyOf(1), apiKeyOf(2))
  const day = '2026-01-01'
  await concurrently((i) => {
    const uses = [{ key: idOf('key', 1), day, uses: i + 1 }, { key: idOf('key', 2), day, uses: 1 }]
    return repository.keyUses.add(i % 2 === 0 ? uses : uses.reverse())
  })
  t.strictSame(await repository.keyUses.list(idOf('key', 1)), [{ day, uses: RACERS * (RACERS + 1) / 2 }])
  t.strictSame(await repository.keyUses.list(idOf('key', 2)), [{ day, uses: RACERS }])
})

races('of concurrent changes of an endpoint none is lost', async (t, { repository }) => {
  const { webhooks } = repository
  await webhooks.insert(webhookOf(1, { description: '0' }))
  const { values } = await concurrently((i) => webhooks.change(FIRST, null, ({ description, ...webhook }) => ({
    webhook: { ...webhook, description: String(Number(description) + 1) }, deliveries: [deliveryOf(i)]
  })))
  t.strictSame(values.map((webhook) => Number(webhook?.description)).toSorted((a, b) => a - b), upTo(RACERS))
  t.equal((await webhooks.find(FIRST))?.description, String(RACERS))
  t.equal((await deliveriesIn(repository)).length, RACERS)
})

races('of concurrent decisions only those that are made record an event', async (t, subject) => {
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

races('concurrent changes bring nothing of a removed endpoint back', async (t, { repository }) => {
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

races('an event that many add concurrently has one pending delivery', async (t, { repository }) => {
  await addWebhooks(repository, 1)
  await concurrently((i) => deliver(repository, [1, 2].map((n) => deliveryOf(2 * i + n, { event: idOf('evt', n) }))))
  const events = (await deliveriesIn(repository)).map(({ event }) => event)
  t.strictSame(events.toSorted(), [idOf('evt', 1), idOf('evt', 2)])
})

races('each delivery has one of many concurrent claims', async (t, { repository }) => {
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

races('a claim and an outcome that race are made one after the other', async (t, { repository }) => {
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

races('a delivery that is pruned by many is counted by one', async (t, { repository }) => {
  await addWebhooks(repository, 1)
  await deliver(repository, upTo(30).map((n) => deliveryOf(n, SUCCEEDED)))
  const { values } = await concurrently(() => repository.webhooks.prune(timeOf(99), 30))
  t.equal(values.reduce((sum, count) => sum + count, 0), 30)
  t.strictSame(await deliveriesIn(repository), [])
})
