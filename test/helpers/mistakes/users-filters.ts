import type { UserRange, UserRecord, Words } from '../../../lib/storage/storage.ts'
import { asks, compares, lists, puts, reads, totals } from './users-wrappers.ts'
import { ALL, type Mistake } from './wrappers.ts'

const ranges = (failed: string, name: string, change: (range: UserRange) => UserRange): Mistake =>
  asks(failed, name, ({ ranges, ...filter }) => ({ ...filter, ...(ranges && { ranges: ranges.map(change) }) }))

/** A mistake in the words of a search. */
const words = (failed: string, name: string, change: (lists: readonly Words[]) => readonly Words[]): Mistake =>
  asks(failed, name, (filter) => ({ ...filter, words: filter.words && change(filter.words) }))

/** A mistake in the words that users are put with. */
const kept = (failed: string, name: string, change: (words: Words) => Words): Mistake =>
  puts(failed, name, (row) => ({
    ...row,
    keys: {
      ...row.keys,
      nameWords: change(row.keys.nameWords ?? []),
      emailWords: change(row.keys.emailWords ?? []),
      fieldWords: change(row.keys.fieldWords ?? [])
    }
  }))

const wordsBefore = new Map<string, Words>()

/** Mistakes in filters, and in searches by words. */
export const usersFilters: Mistake[] = [
  lists('users.list, users.walk: an e-mail key matches exactly', 'an address is of one user of all tenants',
    async (list, filter, page) => {
      const { items, total } = await list(filter, page)
      return filter.emailKey === null ? { items, total } : { items: items.slice(0, 1), total: Math.min(1, total) }
    }),
  reads('users.list: e-mail keys that are asked for at the same time', 'look-ups of one address are one',
    ({ list }) => {
      const asked = new Map<string, ReturnType<typeof list>>()
      return {
        async list (filter, page) {
          if (filter.emailKey === null) return list(filter, page)
          const first = asked.get(filter.emailKey) ?? list(filter, page)
          asked.set(filter.emailKey, first)
          return first.finally(() => asked.delete(filter.emailKey ?? ''))
        }
      }
    }),
  puts('users.list, users.walk: keys are compared byte by byte, and folded', 'e-mail keys are composed', (row) =>
    ({ ...row, keys: { ...row.keys, emailKey: row.keys.emailKey?.normalize('NFC') ?? '' } })),
  asks('users.list, users.walk: a field has the same value', '0, false and an empty text do not filter', (filter) => ({
    ...filter, fields: Object.fromEntries(Object.entries(filter.fields).filter(([, value]) => Boolean(value)))
  })),
  compares('users.list: a field tells every two values apart', 'numbers are compared as 32-bit floats',
    (stored, wanted) =>
      typeof stored === 'number' && typeof wanted === 'number' && Math.fround(stored) === Math.fround(wanted)),
  asks('users.list, users.walk: every one of many conditions', 'fields are left out beside words', (filter) =>
    filter.words === null ? filter : { ...filter, fields: {} }),
  puts('users.list, users.walk: filters find what users have now', 'a change keeps the status', (put, was) =>
    ({ ...put, record: { ...put.record, status: was?.record.status ?? put.record.status } })),
  ranges('users.list, users.walk: moments are bounded', 'a range has its end',
    ({ lt, ...range }) => ({ ...range, ...(lt !== undefined && { lte: lt }) })),
  ranges('users.list, users.walk: numbers and texts are bounded', 'numbers are bounded as texts',
    ({ of, ...bounds }) => ({
      of, ...Object.fromEntries(Object.entries(bounds).map(([bound, value]) => [bound, String(value)]))
    })),
  asks('users.list, users.walk: one of several values', 'a list without values does not filter',
    ({ anyOf = {}, ...filter }) => ({
      ...filter, anyOf: Object.fromEntries(Object.entries(anyOf).filter(([, values]) => values.length > 0))
    })),
  asks('users.list, users.walk: a user has a value of a field', 'nobody lacks a field',
    ({ exists = {}, ...filter }) => ({
      ...filter, exists: Object.fromEntries(Object.entries(exists).filter(([, is]) => is))
    })),
  asks('users.list, users.walk: ids and e-mail keys', 'a list without ids does not filter', ({ ids, ...filter }) =>
    ({ ...filter, ...(ids !== undefined && ids.length > 0 && { ids }) })),
  asks('users.list, users.walk: random lists', 'the status is left out beside words', ({ status, ...filter }) =>
    ({ ...filter, ...(filter.words === null && status !== undefined && { status }) })),
  kept('users.list, users.walk: each word of a search begins', 'words are found in their middle', (all) =>
    all.flatMap((word) => Array.from(word, (_, i) => word.slice(i)))),
  words('users.list, users.walk: a search may have several lists', 'all lists of a search must match',
    (all) => [all.flat()]),
  totals('users.list: a search lists each user once', 'who has a word in two members counts twice',
    async ({ total }, list, filter) => {
      if (filter.words === null) return total
      const { items } = await list(filter, ALL)
      const isTwice = ({ name, email }: UserRecord) => filter.words?.flat().every((word) =>
        name.toLowerCase().startsWith(word) && email.toLowerCase().startsWith(word))
      return total + items.filter(isTwice).length
    }),
  words('users.list: words are compared byte by byte', 'a NUL ends a word',
    (all) => all.map((list) => list.map((word) => word.split('\0')[0] ?? ''))),
  kept('users.list, users.walk: a user may have many words', 'a member has at most 100 words',
    (all) => all.slice(0, 100)),
  puts('users.list: after a change a search finds the new words', 'a change of the status loses words', (put) =>
    put.record.status === 'active' ? put : { ...put, keys: { ...put.keys, emailWords: [], nameWords: [] } }),
  puts('users.list: a refused write leaves no words', 'who is back has the words of before', (put, was) => {
    const { record: { id }, keys: { nameWords = [] } } = put
    const before = was === null ? wordsBefore.get(id) ?? [] : []
    wordsBefore.set(id, nameWords)
    return { ...put, keys: { ...put.keys, nameWords: [...nameWords, ...before] } }
  })
]
