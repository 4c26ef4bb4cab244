import type { UserRange, UserRecord, UserValue, Words } from '../../../lib/storage/storage.ts'
import { arranges, asks, compares, lists, puts, reads, totals } from './users-wrappers.ts'
import { ALL, type Mistake } from './wrappers.ts'

const ADDRESS = 'users.list, users.walk: an e-mail key matches exactly'
const KEYS = 'users.list, users.walk: keys are compared byte by byte, and folded'
const FIELD = 'users.list, users.walk: a field has the same value'
const APART = 'users.list: a field tells every two values apart'
const MANY = 'users.list, users.walk: every one of many conditions'
const MOMENTS = 'users.list, users.walk: moments are bounded'
const BOUNDS = 'users.list, users.walk: numbers and texts are bounded'
const SEVERAL = 'users.list, users.walk: one of several values'
const EXISTS = 'users.list, users.walk: a user has a value of a field'
const TOGETHER = 'users.list: e-mail keys that are asked for at the same time'
const IDS = 'users.list, users.walk: ids and e-mail keys'
const BEGINS = 'users.list, users.walk: each word of a search begins'
const LISTS = 'users.list, users.walk: a search may have several lists'
const BYTES = 'users.list: words are compared byte by byte'
const MANY_WORDS = 'users.list, users.walk: a user may have many words'
const NEW_WORDS = 'users.list: after a change a search finds the new words'

const isText = (value: unknown): value is string => typeof value === 'string'
const fold = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

const fieldOf = ({ fields }: UserRecord, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

const ranges = (failed: string, name: string, change: (range: UserRange) => UserRange): Mistake =>
  asks(failed, name, ({ ranges, ...filter }) => ({ ...filter, ...(ranges && { ranges: ranges.map(change) }) }))

/** A mistake in lists of values of which one must match. */
const anyOfs = (name: string, change: (values: readonly UserValue[]) => readonly UserValue[] | null): Mistake =>
  asks(SEVERAL, name, ({ anyOf = {}, ...filter }) => ({
    ...filter,
    anyOf: Object.fromEntries(Object.entries(anyOf).flatMap(([field, values]) => {
      const changed = change(values)
      return changed === null ? [] : [[field, changed]]
    }))
  }))

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
  asks(ADDRESS, 'an e-mail key is looked up in lower case', (filter) =>
    ({ ...filter, emailKey: filter.emailKey?.toLowerCase() ?? null })),
  lists(ADDRESS, 'an address is of one user of all tenants', async (list, filter, page) => {
    const { items, total } = await list(filter, page)
    return filter.emailKey === null ? { items, total } : { items: items.slice(0, 1), total: Math.min(1, total) }
  }),
  reads(TOGETHER, 'look-ups of one address are one', ({ list }) => {
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
  puts(KEYS, 'e-mail keys are composed', (row) =>
    ({ ...row, keys: { ...row.keys, emailKey: row.keys.emailKey?.normalize('NFC') ?? '' } })),
  arranges(KEYS, 'several e-mail keys are looked for in addresses', (all, _page, { emailKeys }) =>
    all.filter(({ email }) => emailKeys === undefined || emailKeys.includes(email.toLowerCase())),
  ({ emailKeys, ...filter }) => filter),
  compares(FIELD, 'a number and its text are the same', (stored, wanted) =>
    typeof stored !== 'object' && String(stored) === String(wanted)),
  asks(FIELD, '0, false and an empty text do not filter', (filter) => ({
    ...filter, fields: Object.fromEntries(Object.entries(filter.fields).filter(([, value]) => Boolean(value)))
  })),
  compares(APART, 'texts are compared by 255 characters, without accents', (stored, wanted) =>
    isText(stored) && isText(wanted) && fold(stored.slice(0, 255)) === fold(wanted.slice(0, 255))),
  compares(APART, 'numbers are compared as 32-bit floats', (stored, wanted) =>
    typeof stored === 'number' && typeof wanted === 'number' && Math.fround(stored) === Math.fround(wanted)),
  asks(MANY, 'fields are left out beside words', (filter) =>
    filter.words === null ? filter : { ...filter, fields: {} }),
  asks(MANY, 'one range alone filters', ({ ranges, ...filter }) =>
    ({ ...filter, ...(ranges && { ranges: ranges.slice(0, 1) }) })),
  puts('users.list, users.walk: filters find what users have now', 'a change keeps the status', (put, was) =>
    ({ ...put, record: { ...put.record, status: was?.record.status ?? put.record.status } })),
  ranges(MOMENTS, 'a range has its end', ({ lt, ...range }) => ({ ...range, ...(lt !== undefined && { lte: lt }) })),
  ranges(MOMENTS, 'the last change is the creation', (range) =>
    ({ ...range, of: range.of === 'updatedAt' ? 'createdAt' : range.of })),
  ranges(BOUNDS, 'numbers are bounded as texts', ({ of, ...bounds }) => ({
    of, ...Object.fromEntries(Object.entries(bounds).map(([bound, value]) => [bound, String(value)]))
  })),
  arranges(BOUNDS, 'texts are bounded by UTF-16', (all, _page, { ranges: [range] = [] }) => all.filter((user) => {
    const value = range === undefined || typeof range.of === 'string' ? null : fieldOf(user, range.of.field)
    return !isText(value) || !isText(range?.gt) || value > range.gt
  })),
  anyOfs('a list without values does not filter', (values) => values.length === 0 ? null : values),
  anyOfs('several values are compared as texts', (values) => [...values, ...values.map(String)]),
  asks(EXISTS, 'nobody lacks a field', ({ exists = {}, ...filter }) => ({
    ...filter, exists: Object.fromEntries(Object.entries(exists).filter(([, is]) => is))
  })),
  arranges(EXISTS, 'a list is a value', (all, _page, { exists = {} }) => all.filter((user) =>
    Object.entries(exists).every(([name, is]) => is === ((fieldOf(user, name) ?? null) !== null))),
  ({ exists, ...filter }) => filter),
  asks(IDS, 'a list without ids does not filter', ({ ids, ...filter }) =>
    ({ ...filter, ...(ids !== undefined && ids.length > 0 && { ids }) })),
  arranges(IDS, 'users are in the order of the ids that are asked for', (all, { sort }, { ids = [] }) =>
    sort === undefined ? all.toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id)) : all),
  asks('users.list, users.walk: random lists', 'the status is left out beside words', ({ status, ...filter }) =>
    ({ ...filter, ...(filter.words === null && status !== undefined && { status }) })),
  words(BEGINS, 'short words are not looked up', (all) => all.map((list) => list.filter((word) => word.length > 3))),
  kept(BEGINS, 'words are found in their middle', (all) =>
    all.flatMap((word) => Array.from(word, (_, i) => word.slice(i)))),
  words(LISTS, 'a search has its first list alone', (all) => all.slice(0, 1)),
  words(LISTS, 'all lists of a search must match', (all) => [all.flat()]),
  totals('users.list: a search lists each user once', 'who has a word in two members counts twice',
    async ({ total }, list, filter) => {
      if (filter.words === null) return total
      const { items } = await list(filter, ALL)
      const isTwice = ({ name, email }: UserRecord) => filter.words?.flat().every((word) =>
        name.toLowerCase().startsWith(word) && email.toLowerCase().startsWith(word))
      return total + items.filter(isTwice).length
    }),
  kept(BYTES, 'words are kept without accents', (all) => all.map(fold)),
  words(BYTES, 'a NUL ends a word', (all) => all.map((list) => list.map((word) => word.split('\0')[0] ?? ''))),
  kept(MANY_WORDS, 'a member has at most 100 words', (all) => all.slice(0, 100)),
  kept(MANY_WORDS, 'words are cut to 100 bytes', (all) =>
    all.map((word) => Buffer.from(word).toString('utf8', 0, 100))),
  puts(NEW_WORDS, 'words before a change stay', (put, was) =>
    ({ ...put, keys: { ...put.keys, nameWords: [...put.keys.nameWords ?? [], ...was?.keys.nameWords ?? []] } })),
  puts(NEW_WORDS, 'a change of the status loses words', (put) =>
    put.record.status === 'active' ? put : { ...put, keys: { ...put.keys, emailWords: [], nameWords: [] } }),
  puts('users.list: a refused write leaves no words', 'who is back has the words of before', (put, was) => {
    const { record: { id }, keys: { nameWords = [] } } = put
    const before = was === null ? wordsBefore.get(id) ?? [] : []
    wordsBefore.set(id, nameWords)
    return { ...put, keys: { ...put.keys, nameWords: [...nameWords, ...before] } }
  })
]
