import assert from 'node:assert/strict'
import type { Storage, UserFilter, Words } from '../../../lib/storage/storage.ts'
import type { Subject } from '../cases.ts'
import { LOOKALIKES } from '../hostile-values.ts'
import { firstPage, having, idsOf, upTo } from '../list-values.ts'
import { everyone, idOf, timeOf, userOf } from '../values.ts'
import { idsIn, ORDERS, requireFound, requirePage } from './compare.ts'
import { changeUser, dropAt, dropUsers, outcomeOf, putUsers, rowOf, type UserRow } from './put.ts'
import { tenantOf } from './samples.ts'

/** The nth user with these words. */
const withWords = (n: number, nameWords: Words, emailWords: Words = [], fieldWords: Words = []): UserRow =>
  rowOf(userOf(n, tenantOf(n)), { nameWords, emailWords, fieldWords })

async function found (storage: Storage, filter: Partial<UserFilter>): Promise<{ ids: string[], total: number }> {
  const { items, total } = await storage.users.list({ ...everyone, ...filter }, firstPage(400))
  return { ids: idsIn(items), total }
}

const usersWith = (numbers: readonly number[]) => ({ ids: idsOf(numbers), total: numbers.length })

/** Lists by the words of a search. */
export const search: Subject = {
  needs: {},
  cases: {
    'users.list, users.walk: each word of a search begins a word of the user, in any member and order': async (
      storage
    ) => {
      const rows = [
        withWords(1, ['maria', 'gonzales'], ['mg', 'example'], ['acme']),
        withWords(2, ['mario', 'example'], ['gonzo', 'org']),
        withWords(3, ['maria'], ['maria', 'marian'])
      ]
      await putUsers(storage, rows)
      for (const [words, numbers] of [
        [['maria'], [1, 3]], [['mari'], [1, 2, 3]], [['m'], [1, 2, 3]], [['gonzales', 'maria'], [1]],
        [['gon', 'mar'], [1, 2]], [['exam', 'gonz'], [1, 2]], [['acme', 'mg', 'maria'], [1]], [['acm'], [1]],
        [['aria'], []], [['onzales'], []], [['mariagonzales'], []], [['mariam'], []], [['maria', 'gonzo'], []],
        [['marian', 'gonzales'], []], [['acme', 'org'], []], [['gonzales', 'x'], []]
      ] as const) {
        assert.deepEqual(await requireFound(storage, rows, having(...words)), idsOf(numbers), words.join(' '))
      }
    },

    'users.list, users.walk: a search may have several lists of words, of which one is enough': async (storage) => {
      const rows = [
        withWords(1, ['studio', '54'], [], ['2024']), withWords(2, ['studio'], [], ['542024']),
        withWords(3, ['studio', '54'])
      ]
      await putUsers(storage, rows)
      for (const [words, numbers] of [
        [[['54', '2024'], ['542024']], [1, 2]], [[['542024'], ['54']], [1, 2, 3]], [[['x'], ['y', '54']], []],
        [[['studio'], ['studio', '54']], [1, 2, 3]], [[['x'], ['2024', 'studio']], [1]],
        [[...upTo(199).map((n) => ['studio', `x${n}`]), ['542024']], [2]]
      ] as const) {
        const name = words.map((list) => list.join(' ')).join(', or ')
        assert.deepEqual(await requireFound(storage, rows, { words }), idsOf(numbers), name)
      }
    },

    'users.list: a search lists each user once, on every page': async (storage) => {
      const rows = upTo(12).map((n) => rowOf(userOf(n, tenantOf(n))))
      await putUsers(storage, rows)
      assert.deepEqual(await found(storage, having('user')), usersWith(upTo(12)), 'by several words')
      for (const filter of [having('user1'), having('us'), { ...having('us'), tenant: 'acme' }]) {
        for (const order of ORDERS) {
          for (const from of [...[0, 1, 3, 12].map((offset) => ({ offset })),
            ...[0, 5, 11, 12, 20].map((n) => ({ after: idOf('usr', n) }))]) {
            await requirePage(storage, rows, filter, { order, limit: 3, from })
          }
        }
      }
    },

    'users.list: words are compared byte by byte, and folded in no way': async (storage) => {
      const isWord = (text: string) => /^[a-z0-9\u0080-\u{10ffff}]+$/u.test(text) && text.isWellFormed()
      const long = ['x'.repeat(62), 'x'.repeat(61)].flatMap((text) => [`${text}y`, `${text}z`])
      const rare = ['z\ud7ff', 'z\ud7ffx', 'z\ue000', 'z\uffffx', 'z\u{10000}', 'z\u{10ffff}', 'z\u{10ffff}y']
      const words = [...new Set([...LOOKALIKES.filter(isWord), ...long, ...rare, 'z🦊a', 'z🦊b', '\u{10ffff}'])]
      await putUsers(storage, words.map((word, n) => withWords(n, [word], [`${word}b`])))
      for (const word of [...words, 'z', 'z🦊', 'x'.repeat(60), 'q'.repeat(64), 'x\ufffd']) {
        const expected = words.flatMap((each, n) => each.startsWith(word) || `${each}b`.startsWith(word) ? [n] : [])
        assert.deepEqual(await found(storage, having(word)), usersWith(expected), JSON.stringify(word))
      }
      for (const text of ['x\ud800', 'x\udc00', 'z\0', 'z\ufffd\0', '\0z']) {
        assert.deepEqual(await found(storage, having(text)), usersWith([]), `no text has ${JSON.stringify(text)}`)
      }
    },

    'users.list, users.walk: a user may have many words, and no other finds it': async (storage) => {
      const many = Array.from({ length: 254 }, (_, n) => `w${n}`)
      const longest = ['🦊'.repeat(64), 'x'.repeat(64)]
      const rows = [withWords(1, many, longest, many.map((word) => `f${word}`)), withWords(2, [])]
      await putUsers(storage, rows)
      for (const words of [['w253', 'fw253'], longest, ['w25'], ['fw9', 'x']]) {
        assert.deepEqual(await requireFound(storage, rows, having(...words)), idsOf([1]), words.join(' '))
      }
      assert.deepEqual(await requireFound(storage, rows, having('w254')), [])
    },

    'users.list: after a change a search finds the new words alone': async (storage) => {
      let row = withWords(1, ['ann'], ['mail'], ['acme'])
      const other = withWords(2, ['ann'], ['mail'], ['acme'])
      await putUsers(storage, [row, other])
      const steps: Array<[Partial<UserRow['record']>, Partial<UserRow['keys']>]> = [
        [{ name: 'Zoe' }, { nameWords: ['zoe', 'neu'], emailWords: ['mail'] }],
        [{ email: 'post@x.de' }, { nameWords: ['zoe', 'neu'], emailWords: ['post'] }],
        [{ fields: { company: 'Bolt' } }, { nameWords: ['zoe'], emailWords: ['post'], fieldWords: ['bolt', 'inc'] }],
        [{ fields: {} }, { nameWords: ['zoe'], emailWords: ['post'], fieldWords: [] }],
        [{ status: 'suspended' }, { nameWords: ['zoe'], emailWords: ['post'] }]
      ]
      for (const [n, [members, keys]] of steps.entries()) {
        row = await changeUser(storage, row, { ...members, updatedAt: timeOf(50 + n) }, keys)
        for (const words of [['ann'], ['mail'], ['acme'], ['zoe'], ['neu'], ['post'], ['bolt'], ['zoe', 'inc']]) {
          await requirePage(storage, [row, other], having(...words), firstPage(9))
        }
      }
      await requirePage(storage, [row, other], { ...having('zoe'), status: 'suspended' }, firstPage(9))
      await dropUsers(storage, [row])
      await requirePage(storage, [other], having('zoe'), firstPage(9))
    },

    'users.list: a refused write leaves no words, and a user who is back has those that it brings': async (storage) => {
      const rows = [withWords(1, ['ann']), withWords(4, ['bob'])]
      await putUsers(storage, rows)
      const taken = rowOf(userOf(7, { email: 'user1@example.org', ...tenantOf(7) }), { nameWords: ['zoe'] })
      assert.deepEqual(await outcomeOf(storage, taken), { code: 'taken', at: 0, member: 'emailKey' })
      await requirePage(storage, rows, having('zoe'), firstPage(9))
      await dropAt(storage, rows, 0)
      rows.push(withWords(1, ['eve']))
      await putUsers(storage, rows.slice(1))
      for (const word of ['ann', 'eve', 'bob']) await requirePage(storage, rows, having(word), firstPage(9))
    }
  }
}
