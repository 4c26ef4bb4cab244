// What writes of API keys mean.
import type { Repository } from '../../../lib/storage/repository.ts'
import type { ApiKeyRecord } from '../../../lib/storage/storage.ts'
import { rules } from './on-stores.ts'
import { addKey, addKeys, apiKeyOf, idOf, idsOf, keysIn, revoke, rotate, timeOf, touch, upTo } from './values.ts'

const NOT_FOUND = { code: 'not_found' }
const INACTIVE = { code: 'api_key_inactive' }
const LAST = { code: 'last_admin_key' }
const ADMIN = { scopes: ['users:read', 'keys:write'] }
const KEEP = { keepOneWith: ['keys:write'] }

const doneWith = (key: ApiKeyRecord | null, changed = true) => ({ code: 'done', changed, key })

/** How a key is found: by its id and by its start. */
async function found ({ apiKeys }: Repository, n: number): Promise<Array<ApiKeyRecord | null>> {
  return [await apiKeys.find({ id: idOf('key', n) }), await apiKeys.find({ start: apiKeyOf(n).start })]
}

rules('a first key is added only where there is none, in its tenant if it has one', async (t, { repository }) => {
  const { apiKeys } = repository
  const first = (n: number, members: Partial<ApiKeyRecord> = {}) =>
    apiKeys.write(addKey(n, members, { onlyFirst: true }))
  t.match(await first(1, { tenant: 'acme', expiresAt: timeOf(1) }), { changed: true })
  for (const [n, tenant] of [[2, {}], [3, { tenant: 'acme' }]] as const) {
    t.strictSame(await first(n, tenant), doneWith(null, false), 'an expired key is a key')
  }
  await apiKeys.write(revoke(1, 50))
  t.strictSame(await first(3, { tenant: 'acme' }), doneWith(null, false), 'and so is a revoked one')
  t.match(await first(4, { tenant: 'beta' }), { changed: true })
  t.strictSame((await keysIn(repository)).map(({ id }) => id), idsOf('key', [1, 4]))
})

rules('a rotation adds the successor, and lets the old key end', async (t, { repository }) => {
  const { apiKeys } = repository
  await addKeys(repository, apiKeyOf(1), apiKeyOf(2, { expiresAt: timeOf(100), lastUsedAt: timeOf(5) }))
  const old = apiKeyOf(1, { expiresAt: timeOf(200), rotatedAt: timeOf(50) })
  t.strictSame(await apiKeys.write(rotate(1, 3)), doneWith(old))
  t.strictSame(await found(repository, 1), [old, old])
  const successor = apiKeyOf(3, { rotatedFrom: idOf('key', 1) })
  t.strictSame(await found(repository, 3), [successor, successor])
  const ended = apiKeyOf(2, { expiresAt: timeOf(100), lastUsedAt: timeOf(5), rotatedAt: timeOf(50) })
  t.strictSame(await apiKeys.write(rotate(2, 4)), doneWith(ended), 'at its own end, if that is earlier')
  t.match(await apiKeys.write(rotate(1, 5, { now: timeOf(199), expiresAt: timeOf(150) })),
    { key: { expiresAt: timeOf(150), rotatedAt: timeOf(199) } }, 'and immediately, if that is asked for')
})

rules('an inactive key is not rotated', async (t, { repository }) => {
  const { apiKeys } = repository
  await addKeys(repository, apiKeyOf(1, { revokedAt: timeOf(40) }), apiKeyOf(2, { expiresAt: timeOf(50) }),
    apiKeyOf(3, { expiresAt: timeOf(51) }), apiKeyOf(4), apiKeyOf(5), apiKeyOf(6, { revokedAt: timeOf(90) }))
  const before = await keysIn(repository)
  for (const n of [1, 2, 6]) t.strictSame(await apiKeys.write(rotate(n, 90)), INACTIVE, `key ${n}`)
  t.strictSame(await apiKeys.write(rotate(9, 90)), NOT_FOUND)
  t.strictSame(await keysIn(repository), before)
  t.match(await apiKeys.write(rotate(3, 91)), { changed: true })
  const at = (now: number, end: number) => ({ now: timeOf(now), expiresAt: timeOf(end) })
  await apiKeys.write(rotate(4, 92, at(200, 200)))
  t.strictSame(await apiKeys.write(rotate(4, 90, at(199, 500))), INACTIVE, 'a clock goes back: it has ended')
  await apiKeys.write(rotate(5, 93, at(200, 201)))
  t.match(await apiKeys.write(rotate(5, 94, at(199, 500))), { key: { expiresAt: timeOf(201) } }, 'within the overlap')
})

rules('of the active keys with all of the scopes one stays', async (t, { repository }) => {
  const { apiKeys } = repository
  await addKeys(repository, apiKeyOf(1, ADMIN), apiKeyOf(2, { scopes: ['users:read', 'monkeys:write', 'keys:writer'] }),
    apiKeyOf(3, { ...ADMIN, expiresAt: timeOf(70) }), apiKeyOf(4, { ...ADMIN, revokedAt: timeOf(20) }),
    apiKeyOf(5, { ...ADMIN, tenant: 'acme' }))
  const keep = (n: number, at: number, keepOneWith = KEEP.keepOneWith) => apiKeys.write(revoke(n, at, { keepOneWith }))
  t.strictSame(await keep(1, 70), LAST, 'those that expired, are revoked, have other scopes or a tenant do not count')
  t.strictSame(await keep(5, 70), LAST)
  t.strictSame(await found(repository, 1), [apiKeyOf(1, ADMIN), apiKeyOf(1, ADMIN)])
  for (const [n, changed] of [[2, true], [3, true], [4, false]] as const) t.match(await keep(n, 70), { changed })
  t.strictSame(await keep(9, 70), NOT_FOUND)
  await addKeys(repository, apiKeyOf(6, { ...ADMIN, expiresAt: timeOf(71) }))
  t.match(await keep(1, 70), { key: { revokedAt: timeOf(70) } }, 'another key is active')
  t.match(await keep(1, 72), { changed: false })
  t.strictSame(await keep(6, 70), LAST)
  t.match(await keep(6, 71), { changed: true }, 'it has ended by itself')
  await addKeys(repository, apiKeyOf(7, { ...ADMIN, tenant: 'acme' }))
  t.match(await keep(5, 70), { changed: true }, 'another key of its tenant is active')
  const both = ['users:read', 'keys:write']
  await addKeys(repository, apiKeyOf(10, ADMIN), apiKeyOf(11, { scopes: ['keys:write'] }),
    apiKeyOf(12, { scopes: ['users:read', 'users:write'] }))
  t.strictSame(await keep(10, 70, both), LAST, 'another one must have all of them')
  t.match(await keep(11, 70, both), { changed: true }, 'one with less may go')
  await addKeys(repository, apiKeyOf(13, { scopes: ['keys:read', 'keys:write', 'users:read'] }))
  t.match(await keep(10, 70, both), { changed: true }, 'in any order')
  t.match(await apiKeys.write(revoke(13, 70)), { changed: true }, 'an empty list keeps none')
})

rules('the key that stays may be behind many others', async (t, { repository }) => {
  for (const n of upTo(101)) await addKeys(repository, apiKeyOf(n))
  await addKeys(repository, apiKeyOf(200, ADMIN), apiKeyOf(201, ADMIN))
  t.match(await repository.apiKeys.write(revoke(200, 70, KEEP)), { changed: true })
  t.strictSame(await repository.apiKeys.write(revoke(201, 70, KEEP)), LAST)
})

rules('with successors all that came from a key by rotation go, and nothing else', async (t, { repository }) => {
  const { apiKeys } = repository
  await addKeys(repository, apiKeyOf(1), apiKeyOf(8))
  for (const [from, to] of [[1, 2], [1, 3], [2, 4], [4, 5], [8, 9]] as const) await apiKeys.write(rotate(from, to))
  const revocations = async () => (await keysIn(repository)).map(({ revokedAt }) =>
    revokedAt === null ? null : Date.parse(revokedAt) - Date.parse(timeOf(0)))
  await apiKeys.write(revoke(4, 70))
  t.strictSame(await apiKeys.write(revoke(2, 80, { successors: true })), {
    ...doneWith(apiKeyOf(2, {
      rotatedFrom: idOf('key', 1),
      expiresAt: timeOf(200),
      rotatedAt: timeOf(50),
      revokedAt: timeOf(80)
    })),
    successors: [{ key: apiKeyOf(5, { rotatedFrom: idOf('key', 4), revokedAt: timeOf(80) }), event: null }]
  }, 'those that this call has revoked')
  t.strictSame(await revocations(), [null, 80, null, 70, 80, null, null])
  t.match(await apiKeys.write(revoke(1, 90)), { changed: true, successors: undefined })
  t.match(await apiKeys.write(revoke(1, 95, { successors: true })),
    { changed: false, key: { revokedAt: timeOf(90) }, successors: [{ key: { id: idOf('key', 3) } }] },
    'also of a key that was revoked before')
  t.strictSame(await revocations(), [90, 80, 95, 70, 80, null, null])
  t.match(await apiKeys.write(revoke(1, 99, { successors: true })), { changed: false, successors: [] })
  t.strictSame(await apiKeys.write(revoke(99, 90, { successors: true })), NOT_FOUND)
})

rules('a chain of rotations may be long, and wide', async (t, { repository }) => {
  const { apiKeys } = repository
  await addKeys(repository, apiKeyOf(1))
  for (const n of upTo(101)) await apiKeys.write(rotate(1, 100 + n))
  await apiKeys.write(rotate(201, 300))
  await apiKeys.write(rotate(300, 301))
  const made = await apiKeys.write(revoke(1, 80, { successors: true }))
  t.equal(made.code === 'done' && made.successors?.length, 103)
  t.ok((await keysIn(repository)).every(({ revokedAt }) => revokedAt === timeOf(80)))
})

rules('a use is noted unless a later one is', async (t, { repository }) => {
  const { apiKeys } = repository
  await addKeys(repository, apiKeyOf(1))
  for (const [at, ifBefore, noted] of [[200, 140, 200], [250, 190, 200], [260, 200, 260], [100, 300, 100]] as const) {
    t.strictSame(await apiKeys.write(touch(1, at, ifBefore)), doneWith(null, noted === at))
    const key = apiKeyOf(1, { lastUsedAt: timeOf(noted) })
    t.strictSame(await found(repository, 1), [key, key])
  }
  t.strictSame(await apiKeys.write(touch(2, 200, 140)), NOT_FOUND)
})

rules('a caller that is bound to a tenant meets the keys of it alone', async (t, { repository }) => {
  const { apiKeys } = repository
  await addKeys(repository, apiKeyOf(1, { tenant: 'acme' }), apiKeyOf(2))
  for (const n of [1, 2]) {
    for (const write of [rotate(n, 9), revoke(n, 70), touch(n, 70, 60)]) {
      t.strictSame(await apiKeys.write(write, 'beta'), NOT_FOUND)
    }
    t.equal(await apiKeys.find({ id: idOf('key', n) }, 'beta'), null)
    t.equal(await apiKeys.find({ start: apiKeyOf(n).start }, 'beta'), null)
  }
  t.strictSame(await keysIn(repository), [apiKeyOf(1, { tenant: 'acme' }), apiKeyOf(2)])
  t.match(await apiKeys.write(addKey(3), 'beta'), { key: { tenant: 'beta' } })
  t.match(await apiKeys.write(rotate(1, 4), 'acme'), { key: { tenant: 'acme' } })
  t.match(await apiKeys.write(rotate(2, 5)), { changed: true })
  const listed = async (tenant: string) => {
    const { items, total } = await apiKeys.list({ order: 'asc', limit: 9, from: { offset: 0 }, tenant })
    return [items.map(({ id }) => id), total]
  }
  t.strictSame([await listed('acme'), await listed('beta')], [[idsOf('key', [1, 4]), 2], [idsOf('key', [3]), 1]])
})
