// How often API keys were used, by day. Many processes may count at the same time.

import { pauseBefore } from './attempts.ts'
import type { DayUses } from './records.ts'
import type { Storage } from './storage.ts'

/** How often one of many keys was used on a day. */
export interface KeyUses extends DayUses {
  /** The id of the key's record. */
  key: string
}

export type KeyUseCounts = ReturnType<typeof createKeyUses>

const DAYS_MAX = 1000

const first = (limit: number) => ({ order: 'asc', limit, from: { offset: 0 } } as const)

/** Makes the uses of keys of a store. */
export function createKeyUses (storage: Storage) {
  async function addOne ({ key, day, uses }: KeyUses): Promise<void> {
    const id = `${key}/${day}`
    const since = performance.now()
    for (let attempt = 0; ; attempt++) {
      await pauseBefore(attempt, since)
      const [[was = null], [owner]] = [
        await storage.find('keyUses', [{ id }]), await storage.find('apiKeys', [{ id: key }])
      ]
      if (owner == null) return
      const record = { id, version: (was?.record.version ?? 0) + 1, day, uses: (was?.record.uses ?? 0) + uses }
      const writes = [{ in: 'keyUses', put: { record, keys: null, of: key }, was } as const]
      const [outcome] = await storage.commit([{ writes, events: [], rewrites: [] }])
      if (outcome?.code === 'ok') return
    }
  }

  return {
    /**
     * Adds to the uses of keys on days: concurrent calls add up. A key and a day come at most once in a call. The uses
     * of a key that is not there are dropped.
     */
    async add (all: readonly KeyUses[]): Promise<void> {
      await Promise.all(all.map(addOne))
    },

    /** The days on which the key was used, oldest first; none of an unknown one. */
    async list (key: string): Promise<DayUses[]> {
      const { items } = await storage.list('keyUses', { of: key, page: first(DAYS_MAX) })
      return items.map(({ record: { day, uses } }) => ({ day, uses }))
    },

    /** Deletes the uses of days before this one, at most `limit` of them, and returns how many days of keys it were. */
    async prune (before: string, limit: number): Promise<number> {
      const { items } = await storage.list('keyUses', {
        upTo: { member: 'day', value: before, isBelow: true }, page: first(limit)
      })
      const made = await storage.commit(items.map((was) =>
        ({ writes: [{ in: 'keyUses', put: null, was }], events: [], rewrites: [] })))
      return made.filter(({ code }) => code === 'ok').length
    }
  }
}
