import assert from 'node:assert/strict'
import type { Cases } from './cases.ts'
import { firstPage, idsOf, listedIds } from './list-values.ts'
import { addUsers, idOf, userOf } from './values.ts'

/** Duties of `listUsers` with an e-mail key. */
export const filterCases: Cases = {
  'listUsers: an e-mail key matches exactly its user': async (storage) => {
    await addUsers(storage, 1, 2, 12)
    const filter = { emailKey: 'user2@example.org', words: null, fields: {} }
    assert.deepEqual(await storage.listUsers(filter, firstPage(5)), { items: [userOf(2)], total: 1 })
    for (const from of [{ offset: 1 }, { after: idOf('usr', 2) }, { after: idOf('usr', 3) }]) {
      assert.deepEqual(
        await storage.listUsers(filter, { order: 'asc', limit: 5, from }),
        { items: [], total: 1 },
        'a page position applies to a filtered list'
      )
    }
    for (const n of [1, 2]) {
      assert.deepEqual(
        await storage.listUsers(filter, { order: 'desc', limit: 5, from: { after: idOf('usr', n) } }),
        { items: [], total: 1 },
        'in descending order too'
      )
    }
    assert.deepEqual(
      await listedIds(storage, filter, { order: 'asc', limit: 5, from: { after: idOf('usr', 1) } }),
      idsOf([2])
    )
    assert.deepEqual(
      await listedIds(storage, filter, { order: 'desc', limit: 5, from: { after: idOf('usr', 3) } }),
      idsOf([2])
    )
    for (const emailKey of ['user2@example', 'User2@Example.org', '%', 'user_@example.org', 'nobody@example.org']) {
      assert.deepEqual(
        await storage.listUsers({ emailKey, words: null, fields: {} }, firstPage(5)),
        { items: [], total: 0 },
        JSON.stringify(emailKey)
      )
    }
  }
}
