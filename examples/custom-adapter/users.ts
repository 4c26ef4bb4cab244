import {
  isAskedUser, type OpenOptions, pageOf, type Row, sortedPage, type Storage, StorageError, type UserFilter,
  type UserKeys, type UserRecord, type UserSort, wordsOfUser
} from 'fastify-users/storage'
import { type Entry, type LmdbDatabase, Table } from './database.ts'
import type { Refusal } from './rows.ts'

type UserRow = Row<'users'>
export type LmdbUsers = ReturnType<typeof lmdbUsers>

/** What the store was opened for. */
interface Needs { fields: string[], unique: string[], searchable: string | null }

/** The most users that are read together. */
const READ_PART = 1000

const keysOf = ({ keys }: UserRow): UserKeys => ({ emailKey: '', nameKey: '', ...keys })

/** The JSON text of a field's value, which tells `1` from `"1"`; null: nothing is found by it. */
function valueOf ({ fields }: UserRecord, field: string): string | null {
  const value = Object.hasOwn(fields, field) ? fields[field] : null
  return typeof value === 'object' ? null : JSON.stringify(value)
}

/** Users, and what they are found by. */
export function lmdbUsers ({ root, requireOpen, read, write }: LmdbDatabase) {
  const opened = new Table<Needs, string>(root, 'opened')
  const needs = (): Needs => opened.get('needs') ?? { fields: [], unique: [], searchable: null }

  class Users extends Table<UserRow, string> {
    /** Keys that are not given stay. */
    override put (id: string, row: UserRow): void {
      super.put(id, { ...row, keys: { ...this.get(id)?.keys, ...row.keys } })
    }
  }
  const users = new Users(root, 'users', (row) => [
    ['tenant', row.record.tenant ?? ''],
    ['email', keysOf(row).emailKey],
    ...wordsOfUser(keysOf(row)).map((word): Entry => ['word', word]),
    ...needs().fields.flatMap((field): Entry[] => {
      const value = valueOf(row.record, field)
      return value === null ? [] : [[`field.${field}`, value]]
    })
  ])

  /** The unique value of a user that another one of the tenant has. */
  function takenIn ({ record: user, keys }: UserRow): Refusal | null {
    const isTaken = (index: string, text: string): boolean => [...users.ids(index, text)]
      .some((id) => id !== user.id && users.get(id)?.record.tenant === user.tenant)
    if (isTaken('email', keys.emailKey ?? users.get(user.id)?.keys.emailKey ?? '')) return { code: 'taken', member: 'emailKey' }
    const field = needs().unique.find((each) => {
      const value = valueOf(user, each)
      return value !== null && isTaken(`field.${each}`, value)
    })
    return field === undefined ? null : { code: 'taken', member: { field } }
  }

  /** Those who match in the order of ids, by one of the indexes. */
  function matching (filter: UserFilter) {
    const { ids, emailKey, fields, words, tenant } = filter
    const [field] = Object.entries(fields).filter(([name]) => needs().fields.includes(name))
    let found: Iterable<string> | undefined = ids
    if (found !== undefined) found = ids
    else if (emailKey !== null) found = users.ids('email', emailKey)
    else if (field !== undefined) found = users.ids(`field.${field[0]}`, JSON.stringify(field[1]))
    else if (words !== null) {
      const withWord = (word: string) => users.between('word', word, `${word}\u{10ffff}`)
      found = words.flatMap(([word = '']) => withWord(word).map(([, id]) => id))
    } else if (tenant !== undefined) found = users.ids('tenant', tenant)
    const rows = found && [...new Set(found)].sort().flatMap((id) => users.get(id) ?? [])
    return (rows ?? [...users.parts()].flat()).map((row) => ({ user: row.record, keys: keysOf(row) }))
      .filter(({ user, keys }) => isAskedUser(user, keys, filter))
  }

  /** All who match as they are now, in parts. Orders other than that of ids are made of all of them. */
  function * partsOf (filter: UserFilter, order: 'asc' | 'desc', sort?: UserSort): Generator<UserRecord[]> {
    if (sort === undefined) {
      for (const rows of users.parts(READ_PART, order === 'desc')) {
        yield rows.filter((row) => isAskedUser(row.record, keysOf(row), filter)).map(({ record }) => record)
      }
      return
    }
    const all = sortedPage(matching(filter), { sort, order, limit: Infinity, from: { offset: 0 } })
    for (let at = 0; at < all.length; at += READ_PART) yield all.slice(at, at + READ_PART).map(({ user }) => user)
  }

  const reads: Storage['users'] = {
    find: (id) => read(() => users.get(id)?.record ?? null),

    list: (filter, page) => read(() => {
      const all = matching(filter)
      const items = page.sort === undefined ? pageOf(all, page, ({ user }) => user.id) : sortedPage(all, page)
      return { items: items.map(({ user }) => user), total: all.length }
    }),

    async walk (filter, order, onPart, sort) {
      await read(() => {})
      for (const part of partsOf(filter, order, sort)) {
        if (part.length > 0) await onPart(part)
        requireOpen()
      }
    }
  }

  /** Makes what is needed, or says that it is missing. */
  async function open ({ migrate = false, filterable = [], unique = [], searchable }: OpenOptions = {}) {
    const { fields, unique: areUnique, searchable: key } = await read(needs)
    const isReady = filterable.every((field) => fields.includes(field)) &&
      unique.every((field) => areUnique.includes(field)) && (searchable === undefined || searchable.key === key)
    if (isReady) return { created: false }
    if (!migrate) throw new StorageError('schema_behind', 'what is asked for is not indexed yet: open with migrate')
    return write(() => {
      const before = needs()
      const rows = [...users.parts()].flat()
      for (const { record: { id } } of rows) users.drop(id)
      opened.put('needs', {
        fields: [...new Set([...before.fields, ...filterable, ...unique])],
        unique: [...new Set([...before.unique, ...unique])],
        searchable: searchable?.key ?? before.searchable
      })
      for (const row of rows) {
        const taken = takenIn(row)
        const { field } = Object(Object(taken).member)
        if (taken !== null) throw new StorageError('field_taken', 'users have the same value', { field })
        const words = searchable === undefined || searchable.key === before.searchable
          ? {}
          : { fieldWords: searchable.wordsOf(row.record.fields) }
        users.put(row.record.id, { ...row, keys: { ...row.keys, ...words } })
      }
      return { created: false }
    })
  }

  return { users, takenIn, reads, open }
}
