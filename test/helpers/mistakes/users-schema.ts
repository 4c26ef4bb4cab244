import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { OpenOptions, Storage } from '../../../lib/storage/storage.ts'
import { compares } from './users-wrappers.ts'
import { ALL, EVERYONE, type Mistake, store, turn } from './wrappers.ts'

const behind = () => new StorageError('schema_behind', 'a field is missing')

const opens = (
  failed: string, name: string, wrong: (open: Storage['open'], options: OpenOptions, before: OpenOptions[]) =>
  ReturnType<Storage['open']>
): Mistake => store(failed, `open: ${name}`, (storage) => {
  const before: OpenOptions[] = []
  return {
    async open (options = {}) {
      const opened = await wrong(storage.open, options, [...before])
      if (options.migrate === true) before.push(options)
      return opened
    }
  }
})

/** The fields that were filterable once. */
const filterableIn = (before: OpenOptions[]): Set<string> =>
  new Set(before.flatMap(({ filterable = [] }) => filterable))

/** A mistake in which users an index of a field has: `missing` notes the ids of those that it lacks. */
function indexes (
  failed: string, name: string, missing: (storage: Storage, lacking: Set<string>) => Partial<Storage>
): Mistake {
  return store(failed, name, (storage) => {
    const lacking = new Set<string>()
    return {
      ...missing(storage, lacking),
      users: {
        ...storage.users,
        async list (filter, page) {
          if (Object.keys(filter.fields).length === 0) return storage.users.list(filter, page)
          const { items } = await storage.users.list(filter, ALL)
          const found = items.filter(({ id }) => !lacking.has(id))
          return { items: page.order === 'asc' ? found : found.reverse(), total: found.length }
        }
      }
    }
  })
}

/** Mistakes in what `open` makes ready. */
export const usersSchema: Mistake[] = [
  opens('commit: a unique value is compared', 'unique fields are not kept unique', (open, { unique, ...options }) =>
    open({ ...options, filterable: [...options.filterable ?? [], ...unique ?? []] })),
  indexes('open, users.list: users from before', 'an index has those that are put later', (storage, lacking) => ({
    async open (options) {
      const opened = await storage.open(options)
      if (options?.filterable === undefined) return opened
      const { items } = await storage.users.list(EVERYONE, ALL)
      for (const { id } of items) lacking.add(id)
      return opened
    }
  })),
  compares('open, users.list: a field may have any name', 'a name is that of a member of each object', (stored) =>
    stored === undefined),
  opens('open, users.list: what earlier calls required', 'what a call requires ends what others did',
    async (open, { migrate = false, ...needs }, before) => {
      const last = before.at(-1)?.filterable ?? []
      const knows = (needs.filterable ?? []).every((name) => last.includes(name))
      if (!migrate && !knows) throw behind()
      return open({ migrate, ...needs })
    }),
  indexes('open, users.list: what is written while it migrates', 'an index lacks what is written meanwhile',
    (storage, lacking) => {
      let making = 0
      return {
        async open (options) {
          making++
          for (let turns = 0; turns < 4; turns++) await turn()
          making--
          return storage.open(options)
        },
        async commit (units) {
          for (const { in: name, put } of units.flatMap(({ writes }) => writes)) {
            if (name === 'users' && put !== null && making > 0) lacking.add(put.record.id)
          }
          return storage.commit(units)
        }
      }
    }),
  opens('open: a field that was not made ready', 'only the first is looked for', async (open, options, before) => {
    const [first] = options.filterable ?? []
    if (options.migrate !== true && first !== undefined && !filterableIn(before).has(first)) throw behind()
    return open(options)
  }),
  store('open: a later migration keeps every user', 'a later migration forgets words', (storage) => {
    let migrations = 0
    return {
      open (options) {
        if (options?.migrate === true) migrations++
        return storage.open(options)
      },
      users: {
        ...storage.users,
        list: async (filter, page) => migrations > 1 && filter.words !== null
          ? { items: [], total: 0 }
          : storage.users.list(filter, page)
      }
    }
  }),
  opens('open, users.list: with another key', 'words of other fields are not made',
    (open, { searchable, ...options }) => open(options)),
  opens('open: a field does not become unique', 'a field becomes unique as far as it can', (open, options) =>
    open(options).catch(() => ({ created: false }))),
  opens('open: what is unique stays unique', 'a filterable field cannot become unique', (open, options, before) =>
    open({ ...options, unique: (options.unique ?? []).filter((name) => !filterableIn(before).has(name)) })),
  opens('open: without migrate it accepts only', 'unique fields are not looked for',
    (open, { migrate = false, ...needs }) =>
      open(migrate ? { migrate, ...needs } : { filterable: needs.filterable ?? [] }))
]
