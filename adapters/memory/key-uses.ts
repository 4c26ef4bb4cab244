import type { KeyUseStore } from '../../lib/storage/storage.ts'

interface KeyUses extends KeyUseStore {
  /** Forgets the uses of a key. */
  forget: (key: string) => void
}

/** Uses of API keys in memory. No method waits for anything, so each is atomic by itself. */
export function memoryKeyUses (isKey: (id: string) => boolean): KeyUses {
  const usesOf = new Map<string, Map<string, number>>()

  return {
    async add (uses) {
      for (const { key, day, uses: more } of uses.filter(({ key }) => isKey(key))) {
        const days = usesOf.get(key) ?? new Map<string, number>()
        usesOf.set(key, days.set(day, (days.get(day) ?? 0) + more))
      }
    },

    async list (key) {
      return [...usesOf.get(key) ?? []].map(([day, uses]) => ({ day, uses })).sort((a, b) => a.day < b.day ? -1 : 1)
    },

    async prune (before, limit) {
      let pruned = 0
      for (const [key, days] of usesOf) {
        const old = [...days.keys()].filter((day) => day < before).slice(0, limit - pruned)
        for (const day of old) days.delete(day)
        if (days.size === 0) usesOf.delete(key)
        pruned += old.length
      }
      return pruned
    },

    forget: (key) => { usesOf.delete(key) }
  }
}
