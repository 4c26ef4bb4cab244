import { setTimeout } from 'node:timers/promises'
import { sqlite } from '../../../adapters/sqlite.ts'
import type { Outcome, Storage } from '../../../lib/storage/storage.ts'

/** A store that makes the writes of a unit one after the other. */
export default (filename: string): Storage => {
  const store = sqlite({ filename: `${filename}.db` })
  return {
    ...store,
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
  }
}
