import assert from 'node:assert/strict'
import { awaitedLater, turns } from './concurrency.ts'
import { addNth, add, eventOf, make, nth } from './rows.ts'
import { ids, inside, letCallbacksRun, type TransactionCases, userIds } from './transactions.ts'
import { idOf } from './values.ts'

/** Duties about what comes after a commit, and what a savepoint undoes. */
export const afterCommitCases: TransactionCases = {
  'join: afterCommit calls back once for each call, in order, and not before the commit': async (storage, begin) => {
    const host = await begin()
    const called: number[] = []
    for (const n of [1, 2, 3]) inside(storage, host).afterCommit(() => called.push(n))
    const within = inside(storage, host)
    await addNth(within, 'users', 1)
    const same = () => called.push(4)
    within.afterCommit(same)
    within.afterCommit(same)
    const seen = awaitedLater(new Promise((resolve, reject) => {
      within.afterCommit(() => { storage.users.find(idOf('usr', 1)).then(resolve, reject) })
    }))
    await turns(50)
    assert.deepEqual(called, [])
    await host.commit()
    await letCallbacksRun(() => called.length === 5)
    assert.deepEqual(called, [1, 2, 3, 4, 4])
    assert.deepEqual(await seen, nth.users(1).record, 'what has committed is there')
    await turns(50)
    assert.equal(called.length, 5)
  },

  'join: afterCommit of a rolled back transaction is called by no later one': async (storage, begin) => {
    const called: string[] = []
    const one = await begin()
    await addNth(inside(storage, one), 'users', 9)
    inside(storage, one).afterCommit(() => called.push('rolled back'))
    await one.rollback()
    const two = await begin()
    const within = inside(storage, two)
    await addNth(within, 'users', 1)
    within.afterCommit(() => called.push('committed'))
    await two.commit()
    await letCallbacksRun(() => called.length > 0)
    await turns(20)
    assert.deepEqual(called, ['committed'])
  },

  'join: what a savepoint of the host has undone is not there, and calls back never': async (storage, begin) => {
    for (const [ofNested, end] of [
      ['commit', 'commit'], ['rollback', 'commit'], ['commit', 'rollback'], ['rollback', 'rollback']
    ] as const) {
      const before = await userIds(storage)
      const n = 10 * before.length
      const host = await begin()
      if (host.nested === undefined) return
      const called: string[] = []
      await addNth(inside(storage, host), 'users', n)
      inside(storage, host).afterCommit(() => called.push('before'))
      const nested = await host.nested()
      const within = inside(storage, nested)
      await make(within, [add('users', nth.users(n + 1))], [eventOf(n + 1)])
      within.afterCommit(() => called.push('nested'))
      await nested[ofNested]()
      await turns(20)
      assert.equal(called.length, 0, 'not before the outer commit')
      await addNth(inside(storage, host), 'users', n + 2)
      inside(storage, host).afterCommit(() => called.push('behind'))
      await host[end]()
      const isKept = ofNested === 'commit'
      const expected: string[] = end === 'rollback' ? [] : ['before', ...isKept ? ['nested'] : [], 'behind']
      await letCallbacksRun(() => called.length === expected.length)
      await turns(20)
      assert.deepEqual(called, expected, `nested ${ofNested}, ${end}`)
      const added = end === 'rollback' ? [] : ids(n, ...isKept ? [n + 1] : [], n + 2)
      assert.deepEqual(await userIds(storage), [...before, ...added].sort())
      assert.equal(await storage.log.find(idOf('evt', n + 1)) !== null, isKept && end === 'commit')
    }
  }
}
