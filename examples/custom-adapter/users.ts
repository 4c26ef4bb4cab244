import {
  isAskedUser, type OpenOptions, type Outcome, pageOf, type Row, sortedPage, type Storage, StorageError,
  type UserFilter, type UserKeys, type UserRecord, type UserSort, wordsOfUser
} from 'fastify-users/storage'
import { type Entry, type LmdbDatabase, Table } from './database.ts'

type UserRow = Row<'users'>
export type LmdbUsers = ReturnType<typeof lmdbUsers>
export type Taken = Omit<Outcome & { code: 'taken' }, 'at'>

/** What the store was opened for. */
interface Needs { unique: string[], searchable: string | null }

/** The most users that are read together. */
const READ_PART = 1000

const keysOf = ({ keys }: UserRow): UserKeys => ({ emailKey: '', nameKey: '', ...keys })

/** Each field is an index, by the JSON text of its value, which tells `1` from `"1"`. */
const fieldEntries = ({ fields }: UserRecord): Entry[] => Object.entries(fields)
  .flatMap(([field, value]): Entry[] => typeof value === 'object' ? [] : [[`field.${field}`, JSON.stringify(value)]])

/** Users, and what they are found by. */
export function lmdbUsers ({ root, requireOpen, read, write }: LmdbDatabase) {
  const opened = new Table<Needs, string>(root, 'opened')
  const needs = (): Needs => opened.get('needs') ?? { unique: [], searchable: null }

  const users = new class extends Table<UserRow, string> {
    /** Keys that are not given stay. */
    override put (id: string, row: UserRow): void {
      super.put(id, { ...row, keys: { ...this.get(id)?.keys, ...row.keys } })
    }
  }(root, 'users', (row) => [
    ['tenant', row.record.tenant ?? ''],
    ['email', keysOf(row).emailKey],
    ...wordsOfUser(keysOf(row)).map((word): Entry => ['word', word]),
    ...fieldEntries(row.record)
  ])

  const memberships = new Table<Row<'memberships'>, string>(root, 'memberships', ({ record, of }) =>
    [['of', of ?? ''], ['member', record.member]])
  const isAsked = (row: UserRow, filter: UserFilter): boolean =>
    isAskedUser(row.record, keysOf(row), filter, (id) => memberships.get(id) !== undefined)

  const membersOf = (group: string): string[] => [...memberships.ids('of', group)]
    .flatMap((id) => memberships.get(id)?.record.member ?? [])

  /** The unique value of a user that another one of the tenant has. */
  function takenIn ({ record: user, keys }: UserRow): Taken | null {
    const isTaken = (index: string, text: string): boolean => [...users.ids(index, text)]
      .some((id) => id !== user.id && users.get(id)?.record.tenant === user.tenant)
    const emailKey = keys.emailKey ?? users.get(user.id)?.keys.emailKey ?? ''
    if (isTaken('email', emailKey)) return { code: 'taken', member: 'emailKey' }
    const entries = fieldEntries(user)
    const field = needs().unique.find((each) =>
      entries.some(([index, text]) => index === `field.${each}` && isTaken(index, text)))
    return field === undefined ? null : { code: 'taken', member: { field } }
  }

  /** Those who match in the order of ids, by one of the indexes. */
  function matching (filter: UserFilter) {
    const { ids, emailKey, fields, words, tenant, group } = filter
    const [field] = Object.entries(fields)
    const withWord = (word = '') => users.between('word', word, word + '\u{10ffff}'.repeat(64)).map(([, id]) => id)
    let found: Iterable<string> | undefined = ids
    if (emailKey !== null) found = users.ids('email', emailKey)
    else if (field !== undefined) found = users.ids(`field.${field[0]}`, JSON.stringify(field[1]))
    else if (words !== null) found = words.flatMap(([word]) => withWord(word))
    else if (group !== undefined) found = membersOf(group)
    else if (tenant !== undefined) found = users.ids('tenant', tenant)
    const rows = found && [...new Set(found)].sort().flatMap((id) => users.get(id) ?? [])
    return (rows ?? [...users.parts()].flat()).filter((row) => isAsked(row, filter))
      .map((row) => ({ user: row.record, keys: keysOf(row) }))
  }

  /** All who match as they are now, in parts. Orders other than that of ids are made of all of them. */
  function * partsOf (filter: UserFilter, order: 'asc' | 'desc', sort?: UserSort): Generator<UserRecord[]> {
    if (sort === undefined) {
      for (const rows of users.parts(READ_PART, order === 'desc')) {
        yield rows.filter((row) => isAsked(row, filter)).map(({ record }) => record)
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
      const shown = page.sort === undefined ? pageOf(all, page, ({ user }) => user.id) : sortedPage(all, page)
      return { items: shown.map(({ user }) => user), total: all.length }
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
  async function open ({ migrate = false, unique = [], searchable }: OpenOptions = {}) {
    const known = await read(needs)
    const isSearched = searchable === undefined || searchable.key === known.searchable
    if (isSearched && unique.every((field) => known.unique.includes(field))) return { created: false }
    if (!migrate) throw new StorageError('schema_behind', 'what is asked for is not there yet: open with migrate')
    return write(() => {
      const before = needs()
      const hasWords = searchable === undefined || searchable.key === before.searchable
      opened.put('needs', {
        unique: [...new Set([...before.unique, ...unique])], searchable: searchable?.key ?? before.searchable
      })
      for (const row of [...users.parts()].flat()) {
        const taken = takenIn(row)
        if (taken !== null) throw new StorageError('field_taken', 'users have the same value', Object(taken).member)
        if (hasWords) continue
        users.put(row.record.id, { ...row, keys: { ...row.keys, fieldWords: searchable.wordsOf(row.record.fields) } })
      }
      return { created: false }
    })
  }

  return { users, memberships, takenIn, reads, open }
}
