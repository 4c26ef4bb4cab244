import type {
  Outcome, Page, Row, Storage, Unit, UserFilter, UserPageRequest, UserReads, UserRecord
} from '../../../lib/storage/storage.ts'

/** A store that is right but for one thing, and the beginning of the name of the duty that must fail on it. */
export interface Mistake {
  name: string
  make: (storage: Storage) => Storage
  failed: string
}

type Walk = Parameters<UserReads['walk']>
type UserRow = Row<'users'>

export const ALL = { order: 'asc', limit: 10_000, from: { offset: 0 } } as const
export const EVERYONE: UserFilter = { emailKey: null, words: null, fields: {} }

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
/** The value without its type: mistakes give values of other types than they promise. */
export const untyped = (value: unknown) => Object({ value }).value

/** A mistake in methods that read users. */
export function reads (
  failed: string, name: string, wrong: (right: UserReads, storage: Storage) => Partial<UserReads>
): Mistake {
  return {
    name, failed, make: (storage) => ({ ...storage, users: { ...storage.users, ...wrong(storage.users, storage) } })
  }
}

/** A mistake in lists. */
export function lists (
  failed: string,
  name: string,
  wrong: (list: UserReads['list'], filter: UserFilter, page: UserPageRequest) => Promise<Page<UserRecord>>
): Mistake {
  return reads(failed, name, ({ list }) => ({ list: (filter, page) => wrong(list, filter, page) }))
}

/** A mistake in the page that is asked for. */
export const pages = (failed: string, name: string, change: (page: UserPageRequest) => UserPageRequest): Mistake =>
  lists(failed, name, (list, filter, page) => list(filter, change(page)))

/** A mistake in what a filter asks for, of lists and walks. */
export function asks (failed: string, name: string, change: (filter: UserFilter) => UserFilter): Mistake {
  return reads(failed, name, ({ list, walk }) => ({
    list: (filter, page) => list(change(filter), page),
    walk: (filter, ...others) => walk(change(filter), ...others)
  }))
}

/** All pages by offset or id, cut of the whole list. */
function cut (all: readonly UserRecord[], { order, limit, from }: UserPageRequest): Page<UserRecord> {
  const rest = 'after' in from
    ? all.filter(({ id }) => order === 'asc' ? id > from.after : id < from.after)
    : all.slice('offset' in from ? from.offset : 0)
  return { items: rest.slice(0, limit), total: all.length }
}

/** A mistake in which users match, or in their order. Pages behind a place stay right. */
export function arranges (
  failed: string,
  name: string,
  wrong: (all: UserRecord[], page: UserPageRequest, filter: UserFilter) => UserRecord[],
  wider: (filter: UserFilter) => UserFilter = (filter) => filter
): Mistake {
  return lists(failed, name, async (list, filter, page) => {
    if ('behind' in page.from) return list(filter, page)
    const { items } = await list(wider(filter), { ...page, limit: 10_000, from: { offset: 0 } })
    return cut(wrong(items, page, filter), page)
  })
}

/** A mistake in how fields are compared with a filter. */
export function compares (
  failed: string, name: string, same: (stored: unknown, wanted: string | number | boolean) => boolean
): Mistake {
  return arranges(failed, name, (all, _page, { fields }) => all.filter((user) =>
    Object.entries(fields).every(([field, wanted]) => {
      const stored = Object.hasOwn(user.fields, field) ? user.fields[field] : undefined
      return stored === wanted || same(stored, wanted)
    })), (filter) => ({ ...filter, fields: {} }))
}

/** A mistake in walks. */
export const walks = (
  failed: string, name: string, wrong: (walk: UserReads['walk'], ...given: Walk) => Promise<void>
): Mistake => reads(failed, name, ({ walk }) => ({ walk: (...given) => wrong(walk, ...given) }))

/** A mistake in the rows of users that are put. `was`: the row before. */
export function puts (failed: string, name: string, change: (put: UserRow, was: UserRow | null) => UserRow): Mistake {
  const changed = (unit: Unit): Unit => ({
    ...unit,
    writes: unit.writes.map((write) => write.in === 'users' && write.put !== null
      ? { ...write, put: change(write.put, write.was) }
      : write)
  })
  return { name, failed, make: (storage) => ({ ...storage, commit: (units) => storage.commit(units.map(changed)) }) }
}

/** A mistake in what is kept of users. */
export const keeps = (failed: string, name: string, change: (user: UserRecord) => UserRecord): Mistake =>
  puts(failed, name, (row) => ({ ...row, record: change(row.record) }))

/** A mistake in the users that are given. */
export function gives (failed: string, name: string, change: (user: UserRecord) => unknown): Mistake {
  return reads(failed, name, ({ find, list, walk }) => ({
    async find (id) {
      const user = await find(id)
      return user === null ? null : untyped(change(user))
    },
    async list (filter, page) {
      const { items, total } = await list(filter, page)
      return { items: untyped(items.map(change)), total }
    },
    walk: (filter, order, onPart, sort) => walk(filter, order, (part) => onPart(untyped(part.map(change))), sort)
  }))
}

/** A mistake in which single users are refused. `refusal` is asked of each that is put. */
export function refuses (
  failed: string,
  name: string,
  wrong: () => { refusal: (put: UserRow) => Outcome | null, done: (put: UserRow | null, was: UserRow | null) => void }
): Mistake {
  return {
    name,
    failed,
    make (storage) {
      const { refusal, done } = wrong()
      const commitOne = async (unit: Unit): Promise<Outcome> => {
        const [write] = unit.writes
        const given = write?.in === 'users' ? write : null
        const refused = given === null || given.put === null ? null : refusal(given.put)
        if (refused !== null) return refused
        const [outcome = { code: 'ok' }] = await storage.commit([unit])
        if (outcome.code === 'ok' && given !== null) done(given.put, given.was)
        return outcome
      }
      return {
        ...storage,
        async commit (units) {
          const outcomes: Outcome[] = []
          for (const unit of units) outcomes.push(await commitOne(unit))
          return outcomes
        }
      }
    }
  }
}
