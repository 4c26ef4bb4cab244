import type { JsonObject, UserFilter, UserRange, UserRecord, Words } from '../../../lib/storage/storage.ts'
import { ALL, arranges, asks, compares, lists, type Mistake, puts, reads } from './users-wrappers.ts'

const ADDRESS = 'users.list, users.walk: an e-mail key matches exactly'
const TOGETHER = 'users.list: e-mail keys that are asked for at the same time'
const KEYS = 'users.list, users.walk: keys are compared byte by byte, and folded'
const FIELD = 'users.list, users.walk: a field has the same value'
const APART = 'users.list: a field tells every two values apart'
const MANY = 'users.list, users.walk: every one of many conditions'
const NOW = 'users.list, users.walk: filters find what users have now'
const MOMENTS = 'users.list, users.walk: moments are bounded'
const BOUNDS = 'users.list, users.walk: numbers and texts are bounded'
const SEVERAL = 'users.list, users.walk: one of several values'
const EXISTS = 'users.list, users.walk: a user has a value of a field'
const IDS = 'users.list, users.walk: ids and e-mail keys'
const RANDOM = 'users.list, users.walk: random lists'
const BEGINS = 'users.list, users.walk: each word of a search begins'
const LISTS = 'users.list, users.walk: a search may have several lists'
const ONCE = 'users.list: a search lists each user once'
const BYTES = 'users.list: words are compared byte by byte'
const MANY_WORDS = 'users.list, users.walk: a user may have many words'
const NEW_WORDS = 'users.list: after a change a search finds the new words'
const REFUSED = 'users.list: a refused write leaves no words'

const fold = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number'

/** A mistake in which addresses an e-mail key finds. */
const addresses = (failed: string, name: string, same: (stored: string, wanted: string) => boolean): Mistake =>
  arranges(failed, name, (all, _page, { emailKey }) => all.filter(({ email }) =>
    emailKey === null || same(email.toLowerCase(), emailKey)), (filter) => ({ ...filter, emailKey: null }))

const texts = (failed: string, name: string, same: (stored: string, wanted: string) => boolean): Mistake =>
  compares(failed, name, (stored, wanted) => isText(stored) && isText(wanted) && same(stored, wanted))

const numbers = (failed: string, name: string, same: (stored: number, wanted: number) => boolean): Mistake =>
  compares(failed, name, (stored, wanted) => isNumber(stored) && isNumber(wanted) && same(stored, wanted))

const ranges = (failed: string, name: string, change: (range: UserRange) => UserRange): Mistake =>
  asks(failed, name, ({ ranges, ...filter }) => ({ ...filter, ...(ranges && { ranges: ranges.map(change) }) }))

const without = (filter: UserFilter, condition: keyof UserFilter): UserFilter =>
  ({ ...filter, [condition]: { fields: {}, words: null, emailKey: null }[String(condition)] })

/** A mistake in the words of a search. */
const words = (failed: string, name: string, change: (lists: readonly Words[]) => readonly Words[]): Mistake =>
  asks(failed, name, (filter) => ({ ...filter, words: filter.words && change(filter.words) }))

/** A mistake in the words that users are put with. */
const kept = (failed: string, name: string, change: (words: Words, member: string) => Words): Mistake =>
  puts(failed, name, (row) => ({
    ...row,
    keys: {
      ...row.keys,
      nameWords: change(row.keys.nameWords ?? [], 'name'),
      emailWords: change(row.keys.emailWords ?? [], 'email'),
      fieldWords: change(row.keys.fieldWords ?? [], 'fields')
    }
  }))

const fieldOf = ({ fields }: UserRecord, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

/** Mistakes in filters, and in searches by words. */
export const usersFilters: Mistake[] = [
  addresses(ADDRESS, 'an e-mail key ignores case', (stored, wanted) => stored === wanted.toLowerCase()),
  addresses(ADDRESS, 'an e-mail key is a prefix', (stored, wanted) => stored.startsWith(wanted)),
  addresses(ADDRESS, 'an underscore of an e-mail key is any character', (stored, wanted) =>
    stored.length === wanted.length && [...wanted].every((char, i) => char === '_' || char === stored[i])),
  lists(ADDRESS, 'an address is of one user of all tenants', async (list, filter, page) => {
    const { items, total } = await list(filter, page)
    return filter.emailKey === null ? { items, total } : { items: items.slice(0, 1), total: Math.min(1, total) }
  }),
  asks(ADDRESS, 'an empty e-mail key is none', (filter) => ({ ...filter, emailKey: filter.emailKey || null })),
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
  puts(KEYS, 'e-mail keys are made of addresses', (row) =>
    ({ ...row, keys: { ...row.keys, emailKey: row.record.email.toLowerCase() } })),
  arranges(KEYS, 'several e-mail keys are looked for in addresses', (all, _page, { emailKeys }) =>
    all.filter(({ email }) => emailKeys === undefined || emailKeys.includes(email.toLowerCase())),
  ({ emailKeys, ...filter }) => filter),
  compares(FIELD, 'a number and its text are the same', (stored, wanted) =>
    typeof stored !== 'object' && String(stored) === String(wanted)),
  compares(FIELD, '1 and true are the same', (stored, wanted) =>
    typeof stored !== 'object' && !isText(stored) && Number(stored) === Number(wanted) && stored !== undefined),
  compares(FIELD, 'whoever lacks a field has an empty text', (stored, wanted) => stored === undefined && wanted === ''),
  compares(FIELD, 'a list has its values', (stored, wanted) => Array.isArray(stored) && stored.includes(wanted)),
  asks(FIELD, '0, false and an empty text do not filter', (filter) => ({
    ...filter, fields: Object.fromEntries(Object.entries(filter.fields).filter(([, value]) => Boolean(value)))
  })),
  texts(FIELD, 'texts are compared without case', (stored, wanted) => stored.toLowerCase() === wanted.toLowerCase()),
  texts(FIELD, 'a per cent sign is any text', (stored, wanted) =>
    wanted.endsWith('%') && stored.startsWith(wanted.slice(0, -1))),
  texts(APART, 'texts are compared by 255 characters', (stored, wanted) =>
    stored.slice(0, 255) === wanted.slice(0, 255)),
  texts(APART, 'texts are compared without accents', (stored, wanted) => fold(stored) === fold(wanted)),
  texts(APART, 'composed and decomposed texts are the same', (stored, wanted) =>
    stored.normalize() === wanted.normalize()),
  texts(APART, 'spaces around a text do not count', (stored, wanted) => stored.trim() === wanted.trim()),
  numbers(APART, 'numbers are compared as 32-bit floats', (stored, wanted) =>
    Math.fround(stored) === Math.fround(wanted)),
  numbers(APART, 'numbers are compared with a tolerance', (stored, wanted) => Math.abs(stored - wanted) < 1e-6),
  asks(MANY, 'fields are left out beside words', (filter) =>
    filter.words === null ? filter : without(filter, 'fields')),
  asks(MANY, 'words are left out beside an e-mail key', (filter) =>
    filter.emailKey === null ? filter : without(filter, 'words')),
  asks(MANY, 'the tenant is left out beside ids', (filter) =>
    filter.ids === undefined ? filter : without(filter, 'tenant')),
  asks(MANY, 'one field alone filters', (filter) =>
    ({ ...filter, fields: Object.fromEntries(Object.entries(filter.fields).slice(0, 1)) })),
  asks(MANY, 'one range alone filters', ({ ranges, ...filter }) =>
    ({ ...filter, ...(ranges && { ranges: ranges.slice(0, 1) }) })),
  reads(NOW, 'fields are those that users were put with first', ({ list }, storage) => {
    const first = new Map<string, JsonObject>()
    return {
      async list (filter, page) {
        for (const { id, fields } of (await list({ ...filter, fields: {} }, ALL)).items) {
          const [row] = await storage.find('users', [{ id }])
          if (!first.has(id) && row?.record.version === 1) first.set(id, fields)
        }
        const found = await list({ ...filter, fields: {} }, ALL)
        const wanted = Object.entries(filter.fields)
        if (wanted.length === 0) return list(filter, page)
        const items = found.items.filter(({ id }) => wanted.every(([name, value]) => first.get(id)?.[name] === value))
        return { items, total: items.length }
      }
    }
  }),
  puts(NOW, 'a change keeps the status', (put, was) =>
    ({ ...put, record: { ...put.record, status: was?.record.status ?? put.record.status } })),
  ranges(MOMENTS, 'a range has its end', ({ lt, ...range }) => ({ ...range, ...(lt !== undefined && { lte: lt }) })),
  ranges(MOMENTS, 'a range lacks its beginning', ({ gte, ...range }) =>
    ({ ...range, ...(gte !== undefined && { gt: gte }) })),
  ranges(MOMENTS, 'the last change is the creation', (range) =>
    ({ ...range, of: range.of === 'updatedAt' ? 'createdAt' : range.of })),
  arranges(BOUNDS, 'texts of digits are within bounds of numbers', (all, _page, { ranges: [range] = [] }) =>
    all.filter((user) => {
      if (range === undefined || typeof range.of === 'string') return true
      const value = Number(fieldOf(user, range.of.field) ?? NaN)
      const { gte = -Infinity, lt = Infinity, gt = -Infinity, lte = Infinity } = range
      return [gte, gt, lt, lte].some(isText) || (value >= Number(gte) && value < Number(lt) && value > Number(gt) &&
        value <= Number(lte))
    }), (filter) => filter.ranges?.some(({ gte, gt, lt, lte }) => [gte, gt, lt, lte].some(isText)) === true
    ? filter
    : without(filter, 'ranges')),
  arranges(BOUNDS, 'texts are bounded by UTF-16', (all, _page, { ranges: [range] = [] }) =>
    all.filter((user) => {
      const value = range === undefined || typeof range.of === 'string' ? null : fieldOf(user, range.of.field)
      return !isText(value) || !isText(range?.gt) || value > range.gt
    })),
  asks(SEVERAL, 'a list of values has its first alone', ({ anyOf = {}, ...filter }) => ({
    ...filter, anyOf: Object.fromEntries(Object.entries(anyOf).map(([name, values]) => [name, values.slice(0, 1)]))
  })),
  asks(SEVERAL, 'a list without values does not filter', ({ anyOf = {}, ...filter }) => ({
    ...filter, anyOf: Object.fromEntries(Object.entries(anyOf).filter(([, values]) => values.length > 0))
  })),
  asks(SEVERAL, 'several values are compared as texts', ({ anyOf = {}, ...filter }) => ({
    ...filter,
    anyOf: Object.fromEntries(Object.entries(anyOf).map(([name, values]) => [name, [...values, ...values.map(String)]]))
  })),
  asks(EXISTS, 'nobody lacks a field', ({ exists = {}, ...filter }) => ({
    ...filter, exists: Object.fromEntries(Object.entries(exists).filter(([, is]) => is))
  })),
  arranges(EXISTS, 'a list is a value', (all, _page, { exists = {} }) => all.filter((user) =>
    Object.entries(exists).every(([name, is]) => is === ((fieldOf(user, name) ?? null) !== null))),
  (filter) => without(filter, 'exists')),
  asks(IDS, 'a list without ids does not filter', ({ ids, ...filter }) =>
    ({ ...filter, ...(ids !== undefined && ids.length > 0 && { ids }) })),
  arranges(IDS, 'users are in the order of the ids that are asked for', (all, { sort }, { ids = [] }) =>
    sort === undefined ? all.toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id)) : all),
  arranges(IDS, 'an id that is given twice has two users', (all, _page, { ids = [] }) =>
    all.flatMap((user) => ids.filter((id) => id === user.id).length > 1 ? [user, user] : [user])),
  asks(RANDOM, 'the status is left out beside words', (filter) =>
    filter.words === null ? filter : without(filter, 'status')),
  words(BEGINS, 'short words are not looked up', (all) => all.map((list) => list.filter((word) => word.length > 3))),
  words(BEGINS, 'one word of a search is enough', (all) => all.flatMap((list) => list.map((word) => [word]))),
  kept(BEGINS, 'words are found in their middle', (all) =>
    all.flatMap((word) => Array.from(word, (_, i) => word.slice(i)))),
  kept(BEGINS, 'words of fields are not found', (all, member) => member === 'fields' ? [] : all),
  kept(BEGINS, 'the words of a member are one text', (all) => [...all, all.join('')]),
  words(LISTS, 'a search has its first list alone', (all) => all.slice(0, 1)),
  words(LISTS, 'all lists of a search must match', (all) => [all.flat()]),
  lists(ONCE, 'who has a word in two members counts twice', async (list, filter, page) => {
    const given = await list(filter, page)
    if (filter.words === null) return given
    const all = (await list(filter, ALL)).items
    const twice = all.filter(({ name, email }) => filter.words?.flat().every((word) =>
      name.toLowerCase().startsWith(word) && email.toLowerCase().startsWith(word)))
    return { ...given, total: given.total + twice.length }
  }),
  kept(BYTES, 'words are kept without accents', (all) => all.map(fold)),
  words(BYTES, 'words are looked up in lower case', (all) => all.map((list) => list.map((word) => word.toLowerCase()))),
  words(BYTES, 'a NUL ends a word', (all) => all.map((list) => list.map((word) => word.split('\0')[0] ?? ''))),
  kept(BYTES, 'words are kept with 62 characters', (all) => all.map((word) => word.slice(0, 62))),
  kept(MANY_WORDS, 'a member has at most 100 words', (all) => all.slice(0, 100)),
  kept(MANY_WORDS, 'words are cut to 100 bytes', (all) =>
    all.map((word) => Buffer.from(word).toString('utf8', 0, 100))),
  puts(NEW_WORDS, 'words before a change stay', (put, was) =>
    ({ ...put, keys: { ...put.keys, nameWords: [...put.keys.nameWords ?? [], ...was?.keys.nameWords ?? []] } })),
  puts(NEW_WORDS, 'a change of the status loses words', (put) =>
    put.record.status === 'active' ? put : { ...put, keys: { ...put.keys, emailWords: [], nameWords: [] } }),
  puts(NEW_WORDS, 'fields without words keep those before', (put, was) => (put.keys.fieldWords ?? []).length > 0
    ? put
    : { ...put, keys: { ...put.keys, fieldWords: was?.keys.fieldWords ?? [] } }),
  {
    name: 'words are noted before a write is made',
    failed: REFUSED,
    make (storage) {
      const noted: string[] = []
      return {
        ...storage,
        async commit (units) {
          for (const { writes } of units) {
            for (const write of writes) {
              if (write.in === 'users' && write.put !== null) noted.push(...write.put.keys.nameWords ?? [])
            }
          }
          return storage.commit(units)
        },
        users: {
          ...storage.users,
          async list (filter, page) {
            const { items, total } = await storage.users.list(filter, page)
            const [word] = filter.words?.[0] ?? []
            return { items, total: word === undefined ? total : Math.max(total, Number(noted.includes(word))) }
          }
        }
      }
    }
  }
]
