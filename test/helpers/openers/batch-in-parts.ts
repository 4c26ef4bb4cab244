import { setTimeout } from 'node:timers/promises'
import { sqlite } from '../../../adapters/sqlite.ts'
import type { Storage, WriteOutcome } from '../../../lib/storage/storage.ts'

/** A store that makes the writes of a batch one after the other. */
export default (filename: string): Storage => {
  const store = sqlite({ filename: `${filename}.db` })
  const { writeBatch } = store
  if (writeBatch === undefined) throw new Error('the store has no batches')
  return {
    ...store,
    async writeBatch (writes, options, changesOf) {
      const outcomes: WriteOutcome[] = []
      for (const write of writes) {
        outcomes.push(...(await writeBatch([write], options, changesOf)).outcomes)
        await setTimeout(10)
      }
      return { outcomes, note: null, replayed: false }
    }
  }
}
