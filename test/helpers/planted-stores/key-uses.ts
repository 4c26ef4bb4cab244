import { memory } from '../../../adapters/memory/index.ts'
import type { KeyUses, KeyUseStore, Storage } from '../../../lib/storage/storage.ts'
import type { Mistake } from './plant.ts'

/** A mistake in the uses of keys, of a store that is right otherwise. */
function plantUses (title: string, wrong: (right: KeyUseStore, storage: Storage) => Partial<KeyUseStore>): Mistake {
  return {
    title,
    create: () => {
      const storage = memory()
      const { keyUses } = storage
      if (keyUses === undefined) return { storage }
      return { storage: { ...storage, keyUses: { ...keyUses, ...wrong(keyUses, storage) } } }
    }
  }
}

/** Uses that a mistake keeps by itself, by key and day. */
class Kept {
  readonly uses = new Map<string, KeyUses>()

  add ({ key, day, uses }: KeyUses, place = `${key}/${day}`): void {
    this.uses.set(place, { key, day, uses: uses + (this.uses.get(place)?.uses ?? 0) })
  }

  list (key: string): Array<{ day: string, uses: number }> {
    return [...this.uses.values()].filter((each) => each.key === key).map(({ day, uses }) => ({ day, uses }))
      .sort((a, b) => a.day < b.day ? -1 : 1)
  }
}

/** Stores that count the uses of keys, each wrong in one way. */
export const keyUses: Mistake[] = [
  plantUses('the uses of keys are mixed up', (right) => {
    let first: string | undefined
    return {
      async add (uses) {
        first ??= uses[0]?.key
        for (const each of uses) await right.add([{ ...each, key: first ?? each.key }])
      }
    }
  }),
  plantUses('the days of an older year are lost', (right) => ({
    async list (key) {
      const days = await right.list(key)
      return days.filter(({ day }) => day.slice(0, 4) === days.at(-1)?.day.slice(0, 4))
    }
  })),
  plantUses('the days of a key are in the order in which they came', () => {
    const kept = new Kept()
    return {
      async add (uses) { for (const each of uses) kept.add(each) },
      list: async (key) => [...kept.uses.values()].filter((each) => each.key === key)
        .map(({ day, uses }) => ({ day, uses }))
    }
  }),
  plantUses('uses replace those of the same day', () => {
    const kept = new Kept()
    return {
      async add (uses) { for (const each of uses) kept.uses.set(`${each.key}/${each.day}`, each) },
      list: async (key) => kept.list(key)
    }
  }),
  plantUses('an addition is read, and written a turn later', () => {
    const kept = new Kept()
    return {
      async add (uses) {
        for (const { key, day, uses: more } of uses) {
          const before = kept.list(key).find((each) => each.day === day)?.uses ?? 0
          await new Promise((resolve) => setImmediate(resolve))
          kept.uses.set(`${key}/${day}`, { key, day, uses: before + more })
        }
      },
      list: async (key) => kept.list(key)
    }
  }),
  plantUses('the uses of unknown keys are kept', () => {
    const kept = new Kept()
    return {
      async add (uses) { for (const each of uses) kept.add(each) },
      list: async (key) => kept.list(key)
    }
  }),
  plantUses('an unknown key ends the call', (right, { findApiKey }) => ({
    async add (uses) {
      for (const each of uses) {
        if (await findApiKey({ id: each.key }) === null) return
        await right.add([each])
      }
    }
  })),
  plantUses('a successor goes on with the uses of the key that it replaces', (right, { findApiKey }) => ({
    async list (key) {
      const record = await findApiKey({ id: key })
      const before = record === null || record.rotatedFrom === null ? [] : await right.list(record.rotatedFrom)
      const own = await right.list(key)
      return own.map(({ day, uses }) => ({ day, uses: uses + (before.find((each) => each.day === day)?.uses ?? 0) }))
    }
  })),
  plantUses('a revoked key has no uses any more', (right, { findApiKey }) => ({
    list: async (key) => (await findApiKey({ id: key }))?.revokedAt === null ? right.list(key) : []
  })),
  plantUses('the day itself is pruned too', (right) => ({
    prune: (before, limit) => right.prune(`${before}T`, limit)
  })),
  plantUses('all old days are pruned, whatever the limit', (right) => ({ prune: (before) => right.prune(before, 99) })),
  plantUses('nothing is pruned', () => ({ prune: async () => 0 })),
  plantUses('the uses of a removed tenant stay', () => {
    const kept = new Kept()
    return {
      async add (uses) { for (const each of uses) kept.add(each) },
      list: async (key) => kept.list(key),
      prune: async () => 0
    }
  }),
  plantUses('what is counted after the removal of a tenant is kept', (right, { findApiKey }) => {
    const kept = new Kept()
    return {
      async add (uses) {
        await right.add(uses)
        for (const each of uses) if (await findApiKey({ id: each.key }) === null) kept.add(each)
      },
      list: async (key) => [...await right.list(key), ...kept.list(key)]
    }
  })
]
