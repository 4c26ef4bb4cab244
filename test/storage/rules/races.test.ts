// Concurrent calls of one process, judged by what is there afterwards.
import { setImmediate as turn } from 'node:timers/promises'
import { races } from './on-stores.ts'
import {
  addKey, addKeys, apiKeyOf, concurrently, create, done, idOf, keysIn, onlyVersion, RACERS, readdress, remove, rename,
  revoke, rotate, tally, timeOf, touch, update, upTo, userOf, usersIn
} from './values.ts'
import { addWebhooks, deliver, deliveriesIn, deliveryOf, webhookOf } from './webhook-values.ts'

const LAST = { code: 'last_admin_key' }
const ADMIN = { scopes: ['users:read', 'keys:write'] }
const KEEP = { keepOneWith: ['keys:write'] }
const FIRST = idOf('whk', 1)
const CLAIM = { now: timeOf(50), until: timeOf(60), limit: 4 }

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
