import assert from 'node:assert/strict'
import type { JsonObject, UserFilter, UserKeys } from '../../lib/storage/storage.ts'
import type { Cases } from './cases.ts'
import { LOOKALIKES } from './hostile-values.ts'
import type { KitStorage } from './kit-storage.ts'
import { firstPage, having, idsOf, listedIds, upTo } from './list-values.ts'
import { addUsers, anyVersion, everyone, idOf, keysOf, timeOf, userOf } from './values.ts'

/** Adds the nth user with these words. */
async function addWith (storage: KitStorage, n: number, words: Partial<UserKeys>, fields: JsonObject = {}) {
  const user = userOf(n, { fields })
  await storage.createUser(user, { ...keysOf(user), nameWords: [], emailWords: [], ...words }, null)
}

async function found (storage: KitStorage, filter: UserFilter): Promise<{ ids: string[], total: number }> {
  const { items, total } = await storage.listUsers(filter, firstPage(400))
  return { ids: items.map(({ id }) => id), total }
}

const usersWith = (...numbers: number[]) => ({ ids: idsOf(numbers), total: numbers.length })

/** What a field of this name is searched by: its words, as they are. */
const searchable = (name: string) => ({
  key: name, wordsOf: (fields: JsonObject) => String(fields[name] ?? '').split(' ').filter((word) => word !== '')
})

/** Duties of `listUsers` with words. */
export const searchCases: Cases = {
  'listUsers: each word of a search begins a word of the user, in any member and order': async (storage) => {
    await addWith(storage, 1, { nameWords: ['maria', 'gonzales'], emailWords: ['mg', 'example'], fieldWords: ['acme'] })
    await addWith(storage, 2, { nameWords: ['mario', 'example'], emailWords: ['gonzo', 'org'] })
    await addWith(storage, 3, { nameWords: ['maria'], emailWords: ['maria', 'marian'] })
    for (const [words, numbers] of [
      [['maria'], [1, 3]], [['mari'], [1, 2, 3]], [['m'], [1, 2, 3]], [['gonzales', 'maria'], [1]],
      [['gon', 'mar'], [1, 2]], [['exam', 'gonz'], [1, 2]], [['acme', 'mg', 'maria'], [1]], [['acm'], [1]],
      [['aria'], []], [['onzales'], []], [['mariagonzales'], []], [['mariam'], []], [['maria', 'gonzo'], []],
      [['marian', 'gonzales'], []], [['acme', 'org'], []], [['gonzales', 'x'], []]
    ] as const) {
      assert.deepEqual(await found(storage, having(...words)), usersWith(...numbers), words.join(' '))
    }
  },

  'listUsers: a search may have several lists of words, of which one is enough': async (storage) => {
    await addWith(storage, 1, { nameWords: ['studio', '54'], fieldWords: ['2024'] })
    await addWith(storage, 2, { nameWords: ['studio'], fieldWords: ['542024'] })
    await addWith(storage, 3, { nameWords: ['studio', '54'] })
    for (const [words, numbers] of [
      [[['54', '2024'], ['542024']], [1, 2]], [[['542024'], ['54']], [1, 2, 3]], [[['x'], ['y', '54']], []],
      [[['studio'], ['studio', '54']], [1, 2, 3]], [[['x'], ['2024', 'studio']], [1]]
    ] as const) {
      const name = words.map((each) => each.join(' ')).join(', or ')
      assert.deepEqual(await found(storage, { ...everyone, words }), usersWith(...numbers), name)
    }
  },

  'listUsers: a search lists each user once, on every page': async (storage) => {
    await addUsers(storage, ...upTo(12))
    assert.deepEqual(await listedIds(storage, having('user'), firstPage(20)), idsOf(upTo(12)), 'by several words')
    for (const [word, numbers] of [
      ['user1', [1, 10, 11, 12]],
      ['us', upTo(12)]
    ] as const) {
      for (const order of ['asc', 'desc'] as const) {
        const all = order === 'asc' ? [...numbers] : numbers.toReversed()
        for (const start of [0, 1, 3, all.length]) {
          const page = await storage.listUsers(having(word), { order, limit: 3, from: { offset: start } })
          const expected = { ids: idsOf(all.slice(start, start + 3)), total: all.length }
          assert.deepEqual({ ids: page.items.map(({ id }) => id), total: page.total }, expected, `${word}, ${order}`)
        }
        for (const after of [0, 5, 11, 12, 20]) {
          const behind = all.filter((n) => order === 'asc' ? n > after : n < after)
          const page = await storage.listUsers(having(word), { order, limit: 3, from: { after: idOf('usr', after) } })
          const expected = { ids: idsOf(behind.slice(0, 3)), total: all.length }
          const shown = { ids: page.items.map(({ id }) => id), total: page.total }
          assert.deepEqual(shown, expected, `${word}, ${order}, after ${after}`)
        }
      }
    }
  },

  'listUsers: words are compared byte by byte, and folded in no way': async (storage) => {
    const isWord = (text: string) => /^[a-z0-9\u0080-\u{10ffff}]+$/u.test(text) && text.isWellFormed()
    const long = ['x'.repeat(63), 'x'.repeat(62)].flatMap((text) => [`${text}y`, `${text}z`])
    const private_ = ['z\ud7ff', 'z\ud7ffx', 'z\ue000', 'z\uffffx', 'z\u{10000}', 'z\u{10ffff}', 'z\u{10ffff}y']
    const words = [...new Set([...LOOKALIKES.filter(isWord), ...long, ...private_, 'z🦊a', 'z🦊b', '\u{10ffff}'])]
    for (const [n, word] of words.entries()) await addWith(storage, n, { nameWords: [word], emailWords: [`${word}b`] })
    for (const word of [...words, 'z', 'z🦊', 'x'.repeat(60), 'q'.repeat(64), 'x\ufffd']) {
      const expected = words.flatMap((each, n) => each.startsWith(word) || `${each}b`.startsWith(word) ? [n] : [])
      assert.deepEqual(await found(storage, having(word)), usersWith(...expected), JSON.stringify(word))
    }
    for (const text of ['x\ud800', 'x\udc00', 'z\0', 'z\ufffd\0', '\0z']) {
      assert.deepEqual(await found(storage, having(text)), usersWith(), `no text has ${JSON.stringify(text)}`)
    }
  },

  'listUsers: a common search stays exact while its users are deleted': async (storage) => {
    const numbers = upTo(300).map((n) => n + 1000)
    for (const n of numbers) {
      const user = userOf(n, { name: `Ann ${n}`, email: `ann.${n}@example.org` })
      await storage.createUser(user, keysOf(user), null)
    }
    for (const gone of [0, 20, 210, 30, 39]) {
      for (const n of numbers.splice(0, gone)) await storage.deleteUser(idOf('usr', n), anyVersion)
      for (const words of [['ann'], ['an', 'example'], ['a']]) {
        assert.deepEqual(await found(storage, having(...words)), usersWith(...numbers), `${words.join()} of the rest`)
      }
    }
  },

  'listUsers: after an update a search finds the new words alone': async (storage) => {
    await addWith(storage, 1, { nameWords: ['ann'], emailWords: ['mail'], fieldWords: ['acme'] }, { company: 'Acme' })
    await addWith(storage, 2, { nameWords: ['ann'], emailWords: ['mail'], fieldWords: ['acme'] }, { company: 'Acme' })
    const id = idOf('usr', 1)
    const update = (changes: Parameters<KitStorage['updateUser']>[1], n: number) =>
      storage.updateUser(id, changes, timeOf(50 + n), anyVersion)
    await update({ name: { value: 'Zoe', key: 'zoe', words: ['zoe', 'neu'] } }, 1)
    assert.deepEqual(await found(storage, having('ann')), usersWith(2))
    for (const words of [['zoe'], ['neu', 'mail'], ['acme', 'zoe']]) {
      assert.deepEqual(await found(storage, having(...words)), usersWith(1), 'the others stay')
    }
    await update({ email: { value: 'post@x.de', key: 'post@x.de', words: ['post'] } }, 2)
    assert.deepEqual(await found(storage, having('mail')), usersWith(2))
    assert.deepEqual(await found(storage, having('post', 'zoe', 'acme')), usersWith(1))
    await update({ fields: { company: 'Bolt Inc' }, fieldWords: ['bolt', 'inc'] }, 3)
    assert.deepEqual(await found(storage, having('acme')), usersWith(2))
    assert.deepEqual(await found(storage, having('inc', 'post')), usersWith(1))
    await update({ fields: { plan: 'pro' } }, 4)
    assert.deepEqual(await found(storage, having('bolt')), usersWith(), 'fields without words have none')
    await update({ status: 'suspended' }, 5)
    assert.deepEqual(await found(storage, { ...having('zoe'), status: 'suspended' }), usersWith(1))
    await storage.deleteUser(id, anyVersion)
    assert.deepEqual(await found(storage, having('zoe')), usersWith())
  },

  'listUsers: an e-mail key and the words must both match': async (storage) => {
    await addUsers(storage, 1, 2)
    for (const [word, total] of [['user1', 1], ['1', 1], ['user2', 0], ['x', 0]] as const) {
      const page = await storage.listUsers({ ...having(word), emailKey: 'user1@example.org' }, firstPage(5))
      assert.deepEqual([page.total, page.items.length], [total, total])
    }
  }
}

/** Duties of `migrate` with fields that users are searched by. */
export const searchSchemaCases: Cases = {
  'migrate: with another key for what is searched, the words of all fields are made anew': async (storage) => {
    await storage.migrate({ searchable: searchable('company') })
    await addWith(storage, 1, { fieldWords: ['acme'] }, { company: 'acme', city: 'bonn' })
    await addWith(storage, 2, { nameWords: ['bonn'] }, { city: 'rom' })
    await storage.migrate({ searchable: searchable('city') })
    await storage.check({ searchable: searchable('city') })
    assert.deepEqual(await found(storage, having('acme')), usersWith())
    assert.deepEqual(await found(storage, having('bonn')), usersWith(1, 2))
    assert.deepEqual(await found(storage, having('rom')), usersWith(2))
    await storage.migrate()
    await storage.check()
    assert.deepEqual(await found(storage, having('rom')), usersWith(2), 'whoever requires nothing changes nothing')
  }
}
