// Stores that are right in one process alone. The query of the URL by which this module is imported says which.
import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { memory } from '../../../adapters/memory/index.ts'
import { sqlite } from '../../../adapters/sqlite.ts'
import { READ_PART_MAX } from '../../../lib/core/limits.ts'
import type { EventsPage, Outcome, Storage, Unit, UserRecord } from '../../../lib/storage/storage.ts'

type Wrong = (store: Storage, filename: string) => Partial<Storage>

const FIRST = { order: 'asc', limit: 1, from: { offset: 0 } } as const

const mistakes: Record<string, Wrong> = {
  'in-memory': () => memory(),

  /** It remembers the pages of the log that it has read. */
  'log-cached' ({ log }) {
    const known = new Map<string | null, EventsPage | null>()
    return {
      log: {
        ...log,
        async read (request) {
          const page = known.get(request.after) ?? await log.read(request)
          known.set(request.after, page)
          return page
        }
      }
    }
  },

  /** It records the events of a unit when the unit is committed. */
  'event-later' (store) {
    let later = 0
    return {
      async commit (units) {
        const outcomes = await store.commit(units.map((unit) => ({ ...unit, events: [] })))
        // One after the other, so that some are missing whenever the process ends.
        if (units.some((unit) => unit.writes.length === 1)) await setTimeout(30 * ++later)
        await store.commit(units.filter((_, i) => outcomes[i]?.code === 'ok').map((unit) =>
          ({ writes: [], events: unit.events, rewrites: [] })))
        return outcomes
      }
    }
  },

  /** It makes the writes of a unit one after the other. */
  'unit-in-parts': (store) => ({
    async commit (units) {
      const [unit] = units
      if (unit === undefined || unit.writes.length < 3) return store.commit(units)
      let outcome: Outcome = { code: 'ok' }
      for (const write of unit.writes) {
        [outcome = outcome] = await store.commit([{ writes: [write], events: [], rewrites: [] }])
        await setTimeout(10)
      }
      return [outcome]
    }
  }),

  /** It looks whether a unique value is taken before it adds a user. */
  'unique-apart' (store) {
    async function commitOne (unit: Unit): Promise<Outcome> {
      for (const [at, write] of unit.writes.entries()) {
        const value = write.in === 'users' ? write.put?.record.fields['memberNo'] : undefined
        if (typeof value !== 'number') continue
        const { total } = await store.users.list({ emailKey: null, words: null, fields: { memberNo: value } }, FIRST)
        if (total > 0) return { code: 'taken', at, member: { field: 'memberNo' } }
        await setTimeout(20)
      }
      const [outcome = { code: 'ok' }] = await store.commit([unit])
      return outcome
    }
    return {
      open: ({ filterable = [], unique = [], ...options } = {}) =>
        store.open({ ...options, filterable: [...filterable, ...unique] }),
      commit: (units) => Promise.all(units.map(commitOne))
    }
  },

  /** It reads everybody into memory before it gives the first part. */
  'loads-all': ({ users }) => ({
    users: {
      ...users,
      async walk (filter, order, onPart) {
        const all: UserRecord[] = []
        await users.walk(filter, order, async (part) => { all.push(...part) })
        for (let start = 0; start < all.length; start += READ_PART_MAX) {
          await onPart(all.slice(start, start + READ_PART_MAX))
        }
      }
    }
  }),

  /** It notes which fields are ready before they are. */
  'half-ready': (store, filename) => ({
    async open ({ migrate = false, filterable = [] } = {}) {
      if (!migrate) return store.open()
      const missing = filterable.filter((name) => !existsSync(`${filename}.${name}`))
      if (missing.length === 0) return store.open({ migrate })
      for (const name of missing) writeFileSync(`${filename}.${name}`, '')
      await setTimeout(100)
      return store.open({ migrate, filterable })
    }
  }),

  /** It says that it watches keys, and never calls back. */
  silent: () => ({ watch: () => () => {} })
}

const wrong = mistakes[new URL(import.meta.url).search.slice(1)]

export default (filename: string): Storage => {
  const store = sqlite({ filename: `${filename}.db` })
  return { ...store, ...wrong?.(store, filename) }
}
