import { isUnableToMigrate } from './server-trial.ts'
import type { KnexStorage } from './knex-storage.ts'
import type { Profile } from './tables/profiles.ts'

/** How the profile of a storage is found. */
interface Finding {
  make (profile: Profile): KnexStorage
  /** The profile of the tables; null: there are none. */
  recorded (): Promise<Profile | null>
}

const PARTS = ['eventLog', 'webhooks', 'trash', 'tenants', 'keyUses', 'standbys', 'migrated'] as const

/**
 * A storage with the profile of its tables, which is read with the first call, and with every `check`: another process
 * may have moved them since.
 */
export function withFoundProfile ({ make, recorded }: Finding): KnexStorage {
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

  /** A part of the storage that is found by then. */
  function delegate<Part extends object> (partOf: (storage: KnexStorage) => Part): Part {
    return new Proxy(partOf(classic), {
      get (_classic, key) {
        const member = (storage: KnexStorage): unknown => Reflect.get(partOf(storage), key)
        const value = member(found ?? classic)
        if (found !== null || typeof value !== 'function') return value
        return (...given: unknown[]): unknown => {
          const call = (storage: KnexStorage): unknown => Reflect.apply(Object(member(storage)), undefined, given)
          return found === null ? find().then(call) : call(found)
        }
      }
    })
  }

  const own: Partial<KnexStorage> = {
    async check (requirements) {
      await (await find()).check(requirements)
    },
    async migrate (requirements) {
      const profile = await recorded()
      try {
        await madeOf(profile ?? 'classic').migrate(requirements)
      } catch (error) {
        // Another process may have made the tables of the other profile meanwhile, which stood in the way.
        const other = profile === null && !isUnableToMigrate(error) ? await recorded() : 'portable'
        if (profile !== null || other === null) throw error
        await madeOf(other).migrate(requirements)
      }
      await find()
    },
    connections: () => classic.connections?.() ?? { used: 0, free: 0, waiting: 0 },
    async close () {
      await Promise.all([...made.values()].map((storage) => storage.close()))
    },
    joinTransaction (transaction) {
      if (found !== null) return found.joinTransaction(transaction)
      throw new Error('fastify-users: call check() or migrate() before joinTransaction(), or give the option profile')
    }
  }
  const all = delegate((storage) => storage)
  const parts = PARTS.filter((part) => classic[part] !== undefined)
    .map((part) => [part, delegate((storage) => storage[part] ?? {})] as const)
  const known = new Map<PropertyKey, unknown>([...Object.entries(own), ...parts])
  return new Proxy(all, { get: (target, key) => known.has(key) ? known.get(key) : Reflect.get(target, key) })
}
