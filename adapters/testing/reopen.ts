import assert from 'node:assert/strict'
import type { Storage } from '../../lib/storage/storage.ts'
import { having } from './list-values.ts'
import { wholeLog } from './log.ts'
import {
  add, addNth, CHANGES, COLLECTIONS, commit, countAll, drop, eventOf, make, move, nextOf, nth, rowIn
} from './rows.ts'
import { everyone, idOf, timeOf } from './values.ts'

/** Duties by name that get a way to close the store and open it again; without one they end where they need it. */
export type ReopenCases = Record<string, (storage: Storage, reopen?: () => Promise<Storage>) => Promise<void>>

const page = { order: 'asc', limit: 10, from: { offset: 0 } } as const

/** What a store has, in every way in which it is read. */
async function everythingIn (storage: Storage) {
  const rows = COLLECTIONS.map((name) => storage.find(name, [1, 2, 3].map((n) => ({ id: nth[name](n).record.id }))))
  const lists = COLLECTIONS.flatMap((name) => name === 'users' ? [] : [storage.list(name, { page })])
  return {
    rows: await Promise.all(rows),
    lists: await Promise.all(lists),
    users: await Promise.all([everyone, having('user')].map((filter) => storage.users.list(filter, page))),
    tenants: await storage.listTenants(page),
    log: await wholeLog(storage),
    pruned: await storage.log.pruned(),
    counts: await countAll(storage)
  }
}

export const reopenCases: ReopenCases = {
  'close, open: all that was answered is there when the store is opened again, if create() gives reopen': async (
    storage, reopen
  ) => {
    const events = [1, 2, 3, 4].map((n) => eventOf(n, { subject: idOf('usr', n) }))
    for (const name of COLLECTIONS) await addNth(storage, name, 1, 2, 3)
    const changes = COLLECTIONS.map((name) => move(name, nth[name](1), nextOf(nth[name](1), CHANGES[name])))
    await make(storage, changes, events)
    // A cascade with an erasure, and a prune.
    const gone = (['apiKeys', 'webhooks', 'userGroups', 'users'] as const).map((name) => drop(name, nth[name](2)))
    await make(storage, gone, [], [{ of: { subject: idOf('usr', 2) }, make: (event) => ({ ...event, data: {} }) }])
    assert.equal(await storage.log.prune(timeOf(3), 9), 1)
    const before = await everythingIn(storage)
    if (reopen === undefined) return
    await storage.close()
    const late = nth.marks(9)
    const code = await commit(storage, [add('marks', late)]).then((outcome) => outcome.code, () => 'refused')
    const again = await reopen()
    assert.deepEqual(await rowIn(again, 'marks', late.record.id), code === 'ok' ? late : null,
      `a unit after close was ${code}`)
    if (code === 'ok') await make(again, [drop('marks', late)])
    assert.deepEqual(await everythingIn(again), before)
    await addNth(again, 'users', 4)
  }
}
