import type { OpenOptions } from '../../lib/storage/storage.ts'
import type { KnexStorage } from './knex-storage.ts'
import { isUnableToMigrate } from './server-trial.ts'
import type { Profile } from './tables/profiles.ts'

/** How the profile of a storage is found. */
interface Finding {
  make (profile: Profile): KnexStorage
  /** The profile of the tables; null: there are none. */
  recorded (): Promise<Profile | null>
}

/**
 * A storage with the profile of its tables, which is read when it is opened, each time: another process may have moved
 * them since.
 */
export function withFoundProfile ({ make, recorded }: Finding): KnexStorage {
  const made = new Map<Profile, KnexStorage>()
  const classic = madeOf('classic')
  let found = classic

  function madeOf (profile: Profile): KnexStorage {
    const storage = made.get(profile) ?? make(profile)
    made.set(profile, storage)
    return storage
  }

  async function migrated (options: OpenOptions) {
    const profile = await recorded()
    try {
      return await madeOf(profile ?? 'classic').open(options)
    } catch (error) {
      // Another process may have made the tables of the other profile meanwhile, which stood in the way.
      const other = profile === null && !isUnableToMigrate(error) ? await recorded() : 'portable'
      if (profile !== null || other === null) throw error
      return await madeOf(other).open(options)
    } finally {
      found = madeOf(await recorded() ?? 'classic')
    }
  }

  /** Without tables any of them says that they are missing. */
  async function find (): Promise<KnexStorage> {
    const profile = await recorded()
    if (profile !== null) found = madeOf(profile)
    return found
  }

  return {
    ...classic,
    open: async (options = {}) => options.migrate === true ? migrated(options) : (await find()).open(options),
    async close () {
      await Promise.all([...made.values()].map((storage) => storage.close()))
    },
    commit: (units) => found.commit(units),
    find: (name, keys) => found.find(name, keys),
    list: (name, query) => found.list(name, query),
    users: {
      find: (id) => found.users.find(id),
      list: (filter, page) => found.users.list(filter, page),
      walk: (filter, order, onPart, sort) => found.users.walk(filter, order, onPart, sort)
    },
    listTenants: (page) => found.listTenants(page),
    log: {
      read: (request) => found.log.read(request),
      history: (subject, page) => found.log.history(subject, page),
      find: (id) => found.log.find(id),
      before: (id, tenant) => found.log.before(id, tenant),
      rewrite: (rewrite, limit) => found.log.rewrite(rewrite, limit),
      prune: (before, limit) => found.log.prune(before, limit),
      pruned: () => found.log.pruned()
    },
    join: (transaction) => found.join(transaction),
    inspect: async (requirements) => (await find()).inspect(requirements),
    rollback: async (version) => (await find()).rollback(version),
    verifyWords: async () => (await find()).verifyWords(),
    rebuildWords: async () => (await find()).rebuildWords(),
    verifyCounts: async () => (await find()).verifyCounts(),
    rebuildCounts: async () => (await find()).rebuildCounts()
  }
}
