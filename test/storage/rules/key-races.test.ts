// Concurrent writes of API keys, judged by what is there afterwards.
import { setImmediate as turn } from 'node:timers/promises'
import { rulesOutside } from './on-stores.ts'
import {
  addKey, addKeys, apiKeyOf, concurrently, idOf, keysIn, RACERS, revoke, rotate, tally, timeOf, touch
} from './values.ts'

const LAST = { code: 'last_admin_key' }
const ADMIN = { scopes: ['users:read', 'keys:write'] }
const KEEP = { keepOneWith: ['keys:write'] }

rulesOutside('of concurrent first keys, and of those with one id or start, one is added', async (t, { repository }) => {
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

rulesOutside('of concurrent rotations without overlap, and of revocations, one is made', async (t, { repository }) => {
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

rulesOutside('of keys that are revoked concurrently one stays, whatever else changes', async (t, { repository }) => {
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

rulesOutside('a key that came from one by a concurrent rotation goes with it', async (t, { repository }) => {
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

rulesOutside('of concurrent uses none is lost', async (t, { repository }) => {
  await addKeys(repository, apiKeyOf(1), apiKeyOf(2))
  const day = '2026-01-01'
  await concurrently((i) => {
    const uses = [{ key: idOf('key', 1), day, uses: i + 1 }, { key: idOf('key', 2), day, uses: 1 }]
    return repository.keyUses.add(i % 2 === 0 ? uses : uses.reverse())
  })
  t.strictSame(await repository.keyUses.list(idOf('key', 1)), [{ day, uses: RACERS * (RACERS + 1) / 2 }])
  t.strictSame(await repository.keyUses.list(idOf('key', 2)), [{ day, uses: RACERS }])
})
