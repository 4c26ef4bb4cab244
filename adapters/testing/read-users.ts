import assert from 'node:assert/strict'
import { READ_PART_MAX } from '../../lib/core/limits.ts'
import type { PageRequest, UserFilter, UserRecord } from '../../lib/storage/storage.ts'
import type { KitStorage } from './kit-storage.ts'
import { isStorageError } from '../../lib/storage/storage-error.ts'
import type { Cases } from './cases.ts'
import { firstPage, having, idsOf, upTo } from './list-values.ts'
import { addUsers, anyVersion, count, everyone, idOf, keysOf, rename, timeOf, userOf } from './values.ts'

const ORDERS = ['asc', 'desc'] as const

/** Everybody that a store gives for a filter. */
async function readAll (
  storage: KitStorage,
  filter: UserFilter,
  order: PageRequest['order'] = 'asc'
): Promise<UserRecord[]> {
  const users: UserRecord[] = []
  await storage.readUsers(filter, order, async (part) => { users.push(...part) })
  return users
}

const idsIn = (users: readonly UserRecord[]): string[] => users.map(({ id }) => id)

/** Adds many users, some at a time. */
async function addMany (storage: KitStorage, users: readonly UserRecord[]): Promise<void> {
  for (let start = 0; start < users.length; start += 50) {
    await Promise.all(users.slice(start, start + 50).map((user) => storage.createUser(user, keysOf(user), null)))
  }
}

/** Duties of `readUsers`, inside of transactions too. */
export const readingCases: Cases = {
  'readUsers: an empty store gives no part': async (storage) => {
    await storage.readUsers(everyone, 'asc', async () => { assert.fail('a part without users') })
  },

  'readUsers: users come as they are found, ordered by id, ascending or descending': async (storage) => {
    await addUsers(storage, 5, 1, 4, 2)
    const user = userOf(3, { fields: { z: 1, a: { b: [null, 'x'] } }, createdAt: timeOf(0) })
    await storage.createUser(user, keysOf(user), null)
    await storage.updateUser(idOf('usr', 2), rename('Zz'), timeOf(99), anyVersion)
    await storage.deleteUser(idOf('usr', 4), anyVersion)
    const { items } = await storage.listUsers(everyone, firstPage(10))
    assert.deepEqual(await readAll(storage, everyone), items)
    assert.deepEqual(await readAll(storage, everyone, 'desc'), items.toReversed())
    assert.equal(JSON.stringify((await readAll(storage, everyone))[2]?.fields), JSON.stringify(user.fields))
  },

  'readUsers: only users that match the filter come': async (storage) => {
    await storage.migrate({ filterable: ['plan'] })
    await addMany(storage, upTo(12).map((n) => userOf(n, { fields: { plan: n % 2 === 0 ? 'pro' : 'free' } })))
    const pro = { plan: 'pro' }
    const filters: Array<[UserFilter, number[]]> = [
      [having('user', '1'), [1, 10, 11, 12]],
      [having('nobody'), []],
      [having('nul\0'), []],
      [{ ...everyone, emailKey: 'user3@example.org' }, [3]],
      [{ ...everyone, emailKey: 'user3@example.org', fields: pro }, []],
      [{ ...everyone, fields: pro }, [2, 4, 6, 8, 10, 12]],
      [{ ...having('user1'), fields: pro }, [10, 12]]
    ]
    for (const [filter, numbers] of filters) {
      for (const order of ORDERS) {
        const expected = order === 'asc' ? numbers : numbers.toReversed()
        assert.deepEqual(idsIn(await readAll(storage, filter, order)), idsOf(expected), JSON.stringify(filter))
      }
    }
  },

  'readUsers: everybody comes once, in parts of at most 1,000, each after the one before was taken': async (
    storage,
    { records }
  ) => {
    const all = upTo(Math.max(records, READ_PART_MAX + 1))
    await addMany(storage, all.map((n) => userOf(n)))
    for (const order of ORDERS) {
      const met: UserRecord[] = []
      let isTaken = true
      await storage.readUsers(everyone, order, async (part) => {
        assert.ok(isTaken, 'the part before this one is not taken yet')
        isTaken = false
        assert.ok(part.length > 0 && part.length <= READ_PART_MAX, `a part of ${part.length} users`)
        met.push(...part)
        // Long enough for a store that does not wait.
        for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
        isTaken = true
      })
      assert.ok(isTaken, 'it ended before the last part was taken')
      assert.deepEqual(idsIn(met), idsOf(order === 'asc' ? all : all.toReversed()))
    }
  },

  'readUsers: a part that is refused ends it with that error, and the store goes on': async (storage) => {
    await addMany(storage, upTo(READ_PART_MAX + 1).map((n) => userOf(n)))
    const refusal = new Error('the reader is gone')
    for (const fails of [1, 2, 1, 1]) {
      let parts = 0
      const reading = storage.readUsers(everyone, 'asc', async () => {
        if (++parts === fails) throw refusal
      })
      assert.equal(await reading.then(() => 'no error', (error: unknown) => error), refusal)
      assert.equal(parts, fails, 'no part comes after the one that was refused')
    }
    await addUsers(storage, READ_PART_MAX + 2)
    assert.equal((await readAll(storage, everyone)).length, READ_PART_MAX + 2)
  }
}

/** Those that are not about transactions: they write beside the reader. */
export const readingBesideCases: Cases = {
  'readUsers: all parts are of one snapshot, whatever is written meanwhile': async (storage) => {
    await storage.migrate({ filterable: ['plan'] })
    // The even numbers, so that others can be created between them.
    const numbers = upTo(READ_PART_MAX + 20).map((n) => n * 2)
    await addMany(storage, numbers.map((n) => userOf(n, { fields: { plan: 'pro' } })))
    const first = await readAll(storage, everyone)
    let next = 0
    for (const filter of [everyone, having('user'), { ...everyone, fields: { plan: 'pro' } }]) {
      for (const order of ORDERS) {
        const before = await readAll(storage, filter, order)
        const met: UserRecord[] = []
        await storage.readUsers(filter, order, async (part) => {
          met.push(...part)
          if (met.length > part.length) return
          // Behind the part that is taken, and in it.
          for (const each of [...before.slice(-7), ...before.slice(0, 2)]) {
            if (next++ % 2 === 0) await storage.deleteUser(each.id, anyVersion)
            else await storage.updateUser(each.id, { ...rename(`Zz ${next}`), fields: {} }, timeOf(99), anyVersion)
          }
          for (const at of [30, numbers.length - 4, numbers.length + next]) {
            const user = userOf(at * 2 + 1, { email: `user-${at}-${next}@example.org`, fields: { plan: 'pro' } })
            const creation = storage.createUser(user, keysOf(user), null)
            await creation.catch((error: unknown) => { assert.equal(isStorageError(error) && error.code, 'fault') })
          }
        })
        assert.deepEqual(met, before, `${JSON.stringify(filter)}, ${order}`)
      }
    }
    assert.ok(first.length > READ_PART_MAX)
  },

  'readUsers: writers do not wait for it': async (storage) => {
    await addUsers(storage, 1, 2, 3)
    const met: UserRecord[] = []
    await storage.readUsers(everyone, 'asc', async (part) => {
      met.push(...part)
      await storage.updateUser(idOf('usr', 1), rename('Ann'), timeOf(5), anyVersion)
      await storage.deleteUser(idOf('usr', 2), anyVersion)
      await addUsers(storage, 4)
      assert.equal(await count(storage), 3)
    })
    assert.deepEqual(met, [1, 2, 3].map((n) => userOf(n)))
    assert.deepEqual(idsIn(await readAll(storage, everyone)), idsOf([1, 3, 4]))
  },

  'readUsers: two run concurrently, each with a snapshot of its own': async (storage) => {
    await addUsers(storage, 1, 2)
    const met: string[][] = []
    await storage.readUsers(everyone, 'asc', async (part) => {
      await addUsers(storage, 3)
      met.push(idsIn(await readAll(storage, everyone)), idsIn(part))
    })
    assert.deepEqual(met, [idsOf([1, 2, 3]), idsOf([1, 2])])
  },

  'close, readUsers: closing does not wait for a reader, which gets all or unavailable': async (storage) => {
    await addUsers(storage, 1, 2)
    let release = (): void => {}
    const taken = new Promise<void>((resolve) => { release = resolve })
    let begun = (): void => {}
    const hasBegun = new Promise<void>((resolve) => { begun = resolve })
    const reading = storage.readUsers(everyone, 'asc', async () => {
      begun()
      await taken
    }).then(() => 'all', (error: unknown) => isStorageError(error) ? error.code : error)
    await hasBegun
    await storage.close()
    release()
    assert.match(String(await reading), /^(?:all|unavailable)$/)
  }
}
