// How often a write asks a store: what is new, or was written last, need not be read.
import { test } from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { repositoryOf } from '../../../lib/storage/repository.ts'
import type { Outcome } from '../../../lib/storage/storage.ts'
import { until } from '../../helpers/until.ts'
import { asOfServer } from './on-stores.ts'
import {
  addKey, concurrently, create, idOf, keyed, purge, putAway, RACERS, remove, rename, restore, revoke, rotate, SINGLE,
  tally, touch, update, userOf
} from './values.ts'
import { addWebhooks, deliveryOf } from './webhook-values.ts'

/** A repository that remembers rows, and what its store is asked for. */
function watched () {
  const storage = asOfServer(memory())
  const calls: string[] = []
  const repository = repositoryOf({
    ...storage,
    commit: (units) => {
      calls.push('commit')
      return storage.commit(units)
    },
    find: (name, keys) => {
      calls.push(`find ${name}`)
      return storage.find(name, keys)
    },
    users: {
      ...storage.users,
      find: (id) => {
        calls.push('users.find')
        return storage.users.find(id)
      }
    }
  })
  return { repository, calls }
}

test('a write reads what it does not know', async (t) => {
  const { repository: { users }, calls } = watched()
  for (const [write, asked] of [
    [create(userOf(1)), ['commit']],
    [update(1, rename('A')), ['commit']],
    [update(1, rename('A')), ['users.find']],
    [putAway(1), ['find users', 'commit']],
    [update(1, rename('B')), ['users.find']],
    [restore(1), ['find trash', 'commit']],
    [update(1, rename('B')), ['commit']],
    [remove(1), ['commit']],
    [update(1, rename('C')), ['users.find']],
    [create(userOf(1)), ['commit']],
    [purge(1), ['users.find', 'find trash', 'commit']],
    [purge(1), ['users.find', 'find trash', 'users.find', 'find trash']]
  ] as const) {
    await users.writeOne(write)
    t.strictSame(calls.splice(0), asked, write.type)
  }
})

test('a call reads the rows of its writes in one round trip, and does not look for new users', async (t) => {
  const { repository: { users }, calls } = watched()
  for (const [writes, options, asked] of [
    [[create(userOf(1)), create(userOf(2))], SINGLE, ['commit']],
    [[create(userOf(3))], keyed(1), ['commit']],
    [[create(userOf(4)), create(userOf(5))], keyed(2), ['find idempotency', 'commit']],
    [[create(userOf(6))], keyed(3, { note: 1 }), ['find idempotency', 'commit']],
    [[update(1, rename('A')), update(2, rename('A')), update(1, rename('B'))], SINGLE, ['find users', 'commit']],
    [[putAway(1), remove(2)], SINGLE, ['find users', 'commit']],
    [[restore(1)], SINGLE, ['find trash', 'commit']],
    [[purge(1), remove(3)], SINGLE, ['find users', 'find trash', 'commit']]
  ] as const) {
    await users.write(writes, options)
    t.strictSame(calls.splice(0), asked)
  }
  await users.writeOne(create(userOf(9)))
  await users.write([update(9, rename('A'))], SINGLE)
  calls.splice(0)
  await users.writeOne(update(9, rename('B')))
  t.strictSame(calls, ['users.find', 'commit'], 'what a call has written is not remembered')
})

test('a write of a key reads that key', async (t) => {
  const { repository: { apiKeys }, calls } = watched()
  for (const [write, asked] of [
    [addKey(1), ['commit']],
    [addKey(9, {}, { onlyFirst: true }), ['find marks']],
    [rotate(1, 2), ['find apiKeys', 'commit']],
    [touch(1, 9, 8), ['find apiKeys', 'commit']],
    [revoke(1, 70), ['find apiKeys', 'commit']],
    [revoke(1, 70), ['find apiKeys']]
  ] as const) {
    await apiKeys.write(write)
    t.strictSame(calls.splice(0), asked, write.type)
  }
})

/** The writes of each loop, on a store that answers all commits so. */
async function onStoreThat (answers: () => Outcome[]): Promise<Record<string, () => Promise<unknown>>> {
  const storage = memory()
  const before = repositoryOf(storage)
  await before.users.writeOne(create(userOf(1)))
  await before.apiKeys.write(addKey(1))
  await addWebhooks(before, 1)
  const { users, apiKeys, keyUses, webhooks } = repositoryOf({ ...storage, commit: async () => answers() })
  return {
    'users.writeOne': () => users.writeOne(update(1, rename('A'))),
    'users.write': () => users.write([update(1, rename('A'))], SINGLE),
    'webhooks.change': () => webhooks.change(idOf('whk', 1), null, () => ({ deliveries: [deliveryOf(1)] })),
    'apiKeys.write': () => apiKeys.write(touch(1, 9, 8)),
    'keyUses.add': () => keyUses.add([{ key: idOf('key', 1), day: '2026-01-01', uses: 1 }])
  }
}

test('a write that others always come before ends after a while', async (t) => {
  const { now } = performance
  let commits = 0
  // Each attempt seems to take a second.
  t.intercept(performance, 'now', { value: () => now.call(performance) + 1000 * commits })
  const writes = await onStoreThat(() => {
    commits++
    return [{ code: 'changed', at: 0 }]
  })
  for (const [name, write] of Object.entries(writes)) {
    const before = commits
    await t.rejects(write, { code: 'unavailable' }, name)
    t.equal(commits - before, 21, name)
  }
})

test('a store that does not answer for a unit is at fault', async (t) => {
  const writes = Object.entries(await onStoreThat(() => [])).slice(0, 3)
  for (const [name, write] of writes) await t.rejects(write, { code: 'fault' }, name)
})

test('writers of one user wait for each other', async (t) => {
  const { repository: { users }, calls } = watched()
  await users.writeOne(create(userOf(1)))
  calls.splice(0)
  const { values } = await concurrently((i) => users.writeOne(update(1, rename(`Name ${i}`))))
  t.strictSame([tally(values), calls], [{ done: RACERS }, Array(RACERS).fill('commit')])
})

test('new users, and writers of several, do not wait for each other', async (t) => {
  const storage = memory()
  for (const n of [1, 2]) await repositoryOf(storage).users.writeOne(create(userOf(n)))
  let arrived = 0
  const { users } = repositoryOf({
    ...storage,
    async commit (units) {
      arrived++
      await until('the commit of the other one', () => arrived % 2 === 0)
      return storage.commit(units)
    }
  })
  for (const writes of [[create(userOf(3)), create(userOf(4))], [update(1, rename('A')), update(2, rename('A'))]]) {
    t.strictSame(tally(await Promise.all(writes.map((write) => users.writeOne(write)))), { done: 2 })
  }
})
