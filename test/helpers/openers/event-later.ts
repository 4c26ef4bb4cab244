import { setTimeout } from 'node:timers/promises'
import { sqlite } from '../../../adapters/sqlite.ts'
import type { Storage } from '../../../lib/storage/storage.ts'

/** A store that records the events of a unit when the unit is committed. */
export default (filename: string): Storage => {
  const store = sqlite({ filename: `${filename}.db` })
  let later = 0
  return {
    ...store,
    async commit (units) {
      const outcomes = await store.commit(units.map((unit) => ({ ...unit, events: [] })))
      // One after the other, so that some are missing whenever the process ends.
      if (units.some((unit) => unit.writes.length === 1)) await setTimeout(30 * ++later)
      await store.commit(units.filter((_, i) => outcomes[i]?.code === 'ok').map((unit) =>
        ({ writes: [], events: unit.events, rewrites: [] })))
      return outcomes
    }
  }
}
