import assert from 'node:assert/strict'
import type { CollectionName, RowWrite, Storage } from '../../lib/storage/storage.ts'
import type { Begin } from './host-transaction.ts'
import { wholeLog } from './log.ts'
import { awaitedLater, turns } from './concurrency.ts'
import { add, addNth, CHANGES, commit, drop, eventOf, make, move, nextOf, nth, rowIn, withMembers } from './rows.ts'
import { ended, endingOf, inTime, ISOLATIONS, meet, unlessLate } from './meeting.ts'
import { inside, type TransactionCases } from './transactions.ts'
import { everyone, idOf } from './values.ts'

const first = { order: 'asc', limit: 10, from: { offset: 0 } } as const
async function meetOnRow (storage: Storage, begin: Begin, name: CollectionName): Promise<void> {
  for (const [i, isolation] of ISOLATIONS.entries()) {
    const n = 10 + i
    await addNth(storage, name, n)
    const row = nth[name](n)
    const [theirs, ours] = [nextOf(row, CHANGES[name]), nextOf(row, name === 'users' ? { name: 'Ours' } : {})]
    const [isOurs, isTheirs] = await meet(storage, await begin(isolation), {
      read: (within) => within.find(name, [{ id: row.record.id }]),
      outside: [move(name, row, theirs)],
      within: [move(name, row, ours)],
      most: 1
    })
    const expected = isOurs ? ours : isTheirs ? theirs : row
    const what = `${name}, ${isolation ?? 'as the host begins it'}`
    assert.deepEqual(await rowIn(storage, name, row.record.id), expected, what)
  }
}

/** A unit inside and one outside, where only one may add what it adds. */
async function meetOnValue (
  storage: Storage, begin: Begin, writesOf: (n: number) => RowWrite[], count: () => Promise<number>,
  read: (within: Storage) => Promise<unknown>
): Promise<void> {
  for (const isolation of ISOLATIONS) {
    const before = await count()
    assert.equal(before, 0)
    const meeting = { read, outside: writesOf(1), within: writesOf(2), most: 1 }
    const made = await meet(storage, await begin(isolation), meeting)
    const isMade = made.includes(true)
    assert.equal(await count(), Number(isMade), isolation ?? 'as the host begins it')
    const { items: users } = await storage.users.list(everyone, first)
    const rows = await storage.find('users', users.map(({ id }) => ({ id })))
    const { items: keys } = await storage.list('apiKeys', { page: first })
    const { items: marks } = await storage.list('marks', { page: first })
    await make(storage, [
      ...rows.flatMap((was) => was === null ? [] : [{ in: 'users', put: null, was } as const]),
      ...keys.map((was) => ({ in: 'apiKeys', put: null, was } as const)),
      ...marks.map((was) => ({ in: 'marks', put: null, was } as const))
    ])
  }
}

const sameAddress = (n: number) =>
  add('users', { ...nth.users(n), keys: { ...nth.users(n).keys, emailKey: 'one@x.org' } })
const oneAddress = { ...everyone, emailKey: 'one@x.org' }

/** Duties about a transaction of the host's and a writer outside of it. */
export const meetingCases: TransactionCases = {
  'join: a row that others change behind a read is changed, or a conflict, and never a lost update': async (
    storage, begin
  ) => {
    for (const name of ['users', 'apiKeys', 'webhooks', 'idempotency', 'marks'] as const) {
      await meetOnRow(storage, begin, name)
    }
  },

  'join: an address that others take behind a read is taken': async (storage, begin) => {
    const count = async () => (await storage.users.list(oneAddress, first)).total
    await meetOnValue(storage, begin, (n) => [sameAddress(n)], count, (within) => within.users.list(oneAddress, first))
  },

  'join: a start of a key that others take behind a read is taken': async (storage, begin) => {
    const { start } = nth.apiKeys(1).record
    const count = async () => (await storage.find('apiKeys', [{ start }])).filter((row) => row !== null).length
    await meetOnValue(storage, begin, (n) => [add('apiKeys', withMembers(nth.apiKeys(n), { start }))], count,
      (within) => within.find('apiKeys', [{ start }]))
  },

  'join: an idempotency key that others keep behind a read is kept once': async (storage, begin) => {
    const row = { ...nth.idempotency(1), of: null }
    const count = async () => (await storage.users.list(everyone, first)).total
    for (const isolation of ISOLATIONS) {
      const n = ISOLATIONS.indexOf(isolation) * 10
      const key = withMembers(row, { id: `key${n}`.padEnd(43, '_') })
      const writesOf = (i: number) => [add('users', nth.users(n + i)), add('idempotency', key)]
      const before = await count()
      const made = await meet(storage, await begin(isolation), {
        read: (within) => within.find('idempotency', [{ id: key.record.id }]),
        outside: writesOf(1),
        within: writesOf(2),
        most: 1
      })
      assert.equal(await count() - before, Number(made.includes(true)))
      const there = await storage.find('users', [1, 2].map((i) => ({ id: idOf('usr', n + i) })))
      assert.deepEqual(there.map((each) => each !== null), [made[1], made[0]])
    }
  },

  'join: of two first keys that move one mark, one is added': async (storage, begin) => {
    const count = async () => (await storage.list('apiKeys', { page: first })).total
    const writesOf = (n: number) => [add('apiKeys', nth.apiKeys(n)), add('marks', nth.marks(1))]
    await meetOnValue(storage, begin, writesOf, count, async (within) => {
      await within.find('marks', [{ id: nth.marks(1).record.id }])
      return within.list('apiKeys', { page: first })
    })
  },

  'join: of the last two keys whose removals move one mark, one stays': async (storage, begin) => {
    for (const [i, isolation] of ISOLATIONS.entries()) {
      const mark = nth.marks(i)
      const keys = [nth.apiKeys(10 * i), nth.apiKeys(10 * i + 1)]
      await make(storage, [add('marks', mark), ...keys.map((key) => add('apiKeys', key))])
      const writesOf = (n: number): RowWrite[] => [move('marks', mark), drop('apiKeys', nth.apiKeys(10 * i + n))]
      const made = await meet(storage, await begin(isolation), {
        async read (within) {
          await rowIn(within, 'marks', mark.record.id)
          return within.list('apiKeys', { page: first })
        },
        outside: writesOf(0),
        within: writesOf(1),
        most: 1
      })
      const there = await storage.find('apiKeys', keys.map(({ record: { id } }) => ({ id })))
      assert.deepEqual(there.map((row) => row === null), [made[1], made[0]])
    }
  },

  'join: a writer of the same row waits or is refused, and does not hang after the end': async (storage, begin) => {
    for (const [i, end] of (['commit', 'rollback'] as const).entries()) {
      await addNth(storage, 'users', i)
      const [row, host] = [nth.users(i), await begin()]
      const ours = nextOf(row, { name: 'Ours' })
      const theirs = nextOf(row, { name: 'Theirs' })
      await make(inside(storage, host), [move('users', row, ours)], [eventOf(10 * i)])
      const outside = awaitedLater(endingOf(commit(storage, [move('users', row, theirs)], [eventOf(10 * i + 1)])))
      const early = await unlessLate(outside)
      assert.ok(early === null || early === 'conflict', `before the end of the transaction it was ${early}`)
      const isCommitted = await ended(host, end)
      const ending = await inTime(outside, 'the unit outside')
      if (isCommitted) assert.ok(ending !== 'ok', `after the commit it was ${ending}`)
      else assert.ok(ending !== 'changed', `after the rollback it was ${ending}`)
      const expected = isCommitted ? ours : ending === 'ok' ? theirs : row
      assert.deepEqual(await rowIn(storage, 'users', row.record.id), expected)
      const recorded = [await storage.log.find(idOf('evt', 10 * i)), await storage.log.find(idOf('evt', 10 * i + 1))]
      assert.deepEqual(recorded.map((event) => event !== null), [isCommitted, ending === 'ok'])
    }
  },

  'join: a writer of another row is not refused while a transaction is open, and loses nothing': async (
    storage, begin
  ) => {
    await addNth(storage, 'users', 1)
    for (const [i, end] of (['commit', 'rollback', 'commit'] as const).entries()) {
      const [own, other] = [10 + 2 * i, 11 + 2 * i]
      const host = await begin()
      await make(inside(storage, host), [add('users', nth.users(own))], [eventOf(own)])
      // A store may delay this write until the transaction has ended.
      const outside = awaitedLater(make(storage, [add('users', nth.users(other))], [eventOf(other)]))
      await turns(5)
      const isCommitted = await ended(host, end)
      await inTime(outside, 'the unit outside')
      assert.deepEqual(await rowIn(storage, 'users', idOf('usr', other)), nth.users(other))
      assert.deepEqual(await rowIn(storage, 'users', idOf('usr', own)), isCommitted ? nth.users(own) : null)
      assert.equal(await storage.log.find(idOf('evt', own)) !== null, isCommitted)
    }
  },

  'join: what commits later is read later, and whoever reads on misses no event': async (storage, begin) => {
    await addNth(storage, 'marks', 1)
    const host = await begin()
    await make(inside(storage, host), [add('marks', nth.marks(2))], [eventOf(1), eventOf(2)])
    const outside = awaitedLater(make(storage, [move('marks', nth.marks(1))], [eventOf(3)]))
    const seen = await unlessLate(outside.then(() => wholeLog(storage))) ?? []
    assert.ok(seen.every(({ id }) => id === idOf('evt', 3)), 'nothing is read of what has not committed')
    const isCommitted = await ended(host, 'commit')
    await inTime(outside, 'the unit outside')
    const after = await storage.log.read({ after: seen.at(-1)?.id ?? null, limit: 9, types: null })
    const all = [...seen, ...after?.events ?? []].map(({ id }) => id)
    assert.deepEqual(all.toSorted(), (isCommitted ? [1, 2, 3] : [3]).map((n) => idOf('evt', n)))
    assert.deepEqual((await wholeLog(storage)).map(({ id }) => id), all, 'and in the order of commits')
    if (isCommitted) assert.ok(all.indexOf(idOf('evt', 1)) < all.indexOf(idOf('evt', 2)))
  },

  'join: after a deadlock nothing of the transaction is there alone': async (storage, begin) => {
    await addNth(storage, 'users', 1, 2)
    const host = await begin()
    const within = inside(storage, host)
    const [one, two] = [nth.users(1), nth.users(2)]
    await make(within, [move('users', one), add('marks', nth.marks(1))], [eventOf(1)])
    // It takes the second row, and waits for the first: or the first, and both wait for nothing.
    const outside = awaitedLater(endingOf(commit(storage, [move('users', two), move('users', one)])))
    await unlessLate(outside)
    const met = await endingOf(commit(within, [move('users', two), add('marks', nth.marks(2))], [eventOf(2)]))
    // The host goes on, whatever became of it: some databases have ended its transaction by then.
    const third = commit(within, [add('marks', nth.marks(3))], [eventOf(3)])
    const last = await third.then(({ code }) => code, () => 'refused')
    const isCommitted = await ended(host, 'commit')
    await inTime(outside, 'the unit outside')
    const there = await storage.find('marks', [1, 2, 3].map((n) => ({ id: nth.marks(n).record.id })))
    const made = [isCommitted, isCommitted && met === 'ok', isCommitted && last === 'ok']
    const what = `the second unit was ${met}, the third ${last}, the transaction ${isCommitted ? '' : 'not '}committed`
    assert.deepEqual(there.map((row) => row !== null), made, what)
    const events = await Promise.all([1, 2, 3].map((n) => storage.log.find(idOf('evt', n))))
    assert.deepEqual(events.map((event) => event !== null), made, what)
  }
}
