// Concurrent reads that are combined into one statement, or done once for all.
import { test } from 'tap'
import { gather } from '../../lib/core/gather.ts'
import { migrated } from '../helpers/migrated.ts'
import { everyone, idOf, userOf } from '../helpers/records.ts'
import { stores } from '../helpers/stores.ts'
import { addUser } from '../helpers/writes.ts'

const numbers = (length: number) => Array.from({ length }, (_, n) => n)

for (const { name, create: make } of stores) {
  test(`${name}: concurrent reads each get their own result`, async (t) => {
    const storage = await migrated(t, await make(t))
    const create = (n: number) => addUser(storage, userOf(n))
    await Promise.all(numbers(200).map(create))
    const odd = ['usr_\0', '\ud800', "'; DROP TABLE users; --", '{a,"b}']
    const ids = [...numbers(300).map((n) => idOf('usr', n)), idOf('usr', 7), ...odd]
    const users = await Promise.all(ids.map((id) => storage.users.find(id)))
    t.strictSame(users, ids.map((_, n) => n < 200 ? userOf(n) : n === 300 ? userOf(7) : null))
    for (const user of users) if (user !== null) user.name = 'changed by a caller'
    const twice = [storage.users.find(idOf('usr', 7)), storage.users.find(idOf('usr', 7))]
    t.strictSame(await Promise.all(twice), [userOf(7), userOf(7)])

    const list = (offset: number) => storage.users.list(everyone, { order: 'asc', limit: 3, from: { offset } })
    const offsets = [0, 0, 100, 100, 0]
    const pages = await Promise.all(offsets.map(list))
    const seen = pages.map(({ items, total }) => [items.map(({ id }) => id), total])
    t.strictSame(seen, offsets.map((offset) => [[0, 1, 2].map((n) => idOf('usr', offset + n)), 200]))
    for (const { items } of pages.slice(1)) for (const user of items) user.name = 'changed by a caller'
    t.strictSame(pages[0]?.items, [0, 1, 2].map((n) => userOf(n)))
  })

  test(`${name}: every list that is asked for after the answer to a creation has the new user`, async (t) => {
    const storage = await migrated(t, await make(t))
    const create = (n: number) => addUser(storage, userOf(n))
    const list = () => storage.users.list(everyone, { order: 'asc', limit: 3, from: { offset: 0 } })
    await Promise.all(numbers(200).map(create))
    // Others ask for the same list at the same moment.
    const results = await Promise.all(numbers(100).map(async (n) => {
      const before = list()
      await create(200 + n)
      const { total } = await list()
      await before
      return { total, id: (await storage.users.find(idOf('usr', 200 + n)))?.id }
    }))
    t.strictSame(results.map(({ id }) => id), numbers(100).map((n) => idOf('usr', 200 + n)))
    t.equal((await list()).total, 300)
    t.ok(results.every(({ total }) => total > 200 && total <= 300))
  })
}

test('`work` gets the distinct requests of one turn, at most `max` per call', async (t) => {
  const asked: Array<readonly number[]> = []
  const ask = gather(3, (n: number) => String(n), async (numbers) => {
    asked.push(numbers)
    return numbers.map((n) => n * 10)
  })
  t.strictSame(await Promise.all([1, 2, 2, 3, 4, 1, 5].map(ask)), [10, 20, 20, 30, 40, 10, 50])
  t.strictSame(asked, [[1, 2, 3], [4, 5]])
  t.equal(await ask(1), 10, 'a later call is work of its own')
  t.strictSame(asked, [[1, 2, 3], [4, 5], [1]])
})

test('work begins when nobody can join it any more', async (t) => {
  let state = 'old'
  const ask = gather(8, (key: string) => key, async (keys) => keys.map(() => state))
  const first = ask('a')
  await null
  const second = ask('a')
  state = 'new'
  t.strictSame(await Promise.all([first, second]), ['new', 'new'])
})

test('a failure reaches every caller of a combined read, and no other one', async (t) => {
  let broken = true
  const ask = gather(2, (key: string) => key, async (keys) => {
    if (broken && keys.includes('a')) throw new Error('no database')
    return keys
  })
  const settled = await Promise.allSettled(['a', 'b', 'a', 'c'].map(ask))
  t.strictSame(settled.map(({ status }) => status), ['rejected', 'rejected', 'rejected', 'fulfilled'])
  await t.rejects(ask('a'), { message: 'no database' })
  broken = false
  t.strictSame(await Promise.all(['a', 'b', 'a', 'c'].map(ask)), ['a', 'b', 'a', 'c'])
})
