import type { Opened, OpenOptions, Standbys } from '../../lib/storage/storage.ts'
import type { KnexStorage } from './knex-storage.ts'
import { isUnableToMigrate } from './server-trial.ts'
import type { Profile } from './tables/profiles.ts'

/** How the profile of the tables is found. */
interface Finding {
  make (profile: Profile): KnexStorage
  /** The profile of the tables; null: there are none. */
  recorded (): Promise<Profile | null>
}

/**
 * A storage with the profile of its tables, which is read with the first call, and whenever it is opened: another
 * process may have moved them since.
 */
export function withProfileOfTables ({ make, recorded }: Finding): KnexStorage {
  const made = new Map<Profile, KnexStorage>()
  const classic = madeOf('classic')
  let found: KnexStorage | null = null

  function madeOf (profile: Profile): KnexStorage {
    const storage = made.get(profile) ?? make(profile)
    made.set(profile, storage)
    return storage
  }

  async function find (): Promise<KnexStorage> {
    const profile = await recorded()
    if (profile !== null) found = madeOf(profile)
    // Without tables any of them says that they are missing.
    return found ?? classic
  }

  const on = <Value>(call: (storage: KnexStorage) => Promise<Value>): Promise<Value> =>
    found === null ? find().then(call) : call(found)

  /** Opens the storage of a profile, which refuses tables of another one. */
  async function openAs (profile: Profile, options: OpenOptions): Promise<Opened> {
    const storage = madeOf(profile)
    const opened = await storage.open(options)
    found = storage
    return opened
  }

  async function migrate (options: OpenOptions): Promise<Opened> {
    const profile = await recorded()
    try {
      return await openAs(profile ?? 'classic', options)
    } catch (error) {
      // Another process may have made the tables of the other profile meanwhile, which stood in the way.
      const other = profile === null && !isUnableToMigrate(error) ? await recorded() : 'portable'
      if (profile !== null || other === null) throw error
      return openAs(other, options)
    }
  }

  async function open (options: OpenOptions = {}): Promise<Opened> {
    return options.migrate === true ? migrate(options) : (await find()).open(options)
  }

  /** The standbys of the found profile: each has its own. `ofClassic`: they stand for a profile that has none. */
  function standbysOf (ofClassic: Standbys): Standbys {
    const of = ({ server }: KnexStorage): Standbys => server.standbys ?? ofClassic
    return {
      position: () => on((storage) => of(storage).position()),
      reads: (position) => on((storage) => of(storage).reads(position)),
      watch: (listener) => of(found ?? classic).watch(listener)
    }
  }

  const { standbys } = classic.server
  return {
    ...classic,
    server: {
      ...classic.server,
      warnings: () => on(({ server }) => server.warnings()),
      isReadOnly: () => on(({ server }) => server.isReadOnly()),
      upkeep: () => on(({ server }) => server.upkeep()),
      ...(standbys !== undefined && { standbys: standbysOf(standbys) })
    },
    open,
    async close () {
      await Promise.all([...made.values()].map((storage) => storage.close()))
    },
    commit: (units) => on((storage) => storage.commit(units)),
    find: (name, keys) => on((storage) => storage.find(name, keys)),
    list: (name, query) => on((storage) => storage.list(name, query)),
    users: {
      find: (id) => on(({ users }) => users.find(id)),
      list: (filter, page) => on(({ users }) => users.list(filter, page)),
      walk: (filter, order, onPart, sort) => on(({ users }) => users.walk(filter, order, onPart, sort))
    },
    listTenants: (page) => on((storage) => storage.listTenants(page)),
    log: {
      read: (request) => on(({ log }) => log.read(request)),
      history: (subject, page) => on(({ log }) => log.history(subject, page)),
      find: (id) => on(({ log }) => log.find(id)),
      before: (id, tenant) => on(({ log }) => log.before(id, tenant)),
      rewrite: (rewrite, limit) => on(({ log }) => log.rewrite(rewrite, limit)),
      prune: (before, limit) => on(({ log }) => log.prune(before, limit)),
      pruned: () => on(({ log }) => log.pruned())
    },
    join (transaction) {
      if (found !== null) return found.join(transaction)
      throw new Error('fastify-users: call open() before join(), or give the option profile')
    },
    inspect: (requirements) => find().then((storage) => storage.inspect(requirements)),
    rollback: (version) => find().then((storage) => storage.rollback(version)),
    verifyWords: () => find().then((storage) => storage.verifyWords()),
    rebuildWords: () => find().then((storage) => storage.rebuildWords()),
    verifyCounts: () => find().then((storage) => storage.verifyCounts()),
    rebuildCounts: () => find().then((storage) => storage.rebuildCounts())
  }
}
