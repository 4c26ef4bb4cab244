import { setTimeout } from 'node:timers/promises'
import { sqlite } from '../../../adapters/sqlite.ts'
import type { Storage, WriteOutcome } from '../../../lib/storage/storage.ts'

/** A store that makes the writes of a batch one after the other. */
export default (filename: string): Storage => {
  const store = sqlite({ filename: `${filename}.db` })
  const { writeUsers } = store
  return {
    ...store,
    async writeUsers (writes, options) {
      if (writes.length === 1) return writeUsers(writes, options)
      const outcomes: WriteOutcome[] = []
      for (const write of writes) {
        outcomes.push(...(await writeUsers([write], options)).outcomes)
        await setTimeout(10)
      }
      return { outcomes, note: null, replayed: false }
    }
  }
}
