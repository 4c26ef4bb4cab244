import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { sqlite } from '../../../adapters/sqlite.ts'
import type { Storage } from '../../../lib/storage/storage.ts'

/** A store that notes which fields are ready before they are. */
export default (filename: string): Storage => {
  const store = sqlite({ filename: `${filename}.db` })
  return {
    ...store,
    async open ({ migrate = false, filterable = [] } = {}) {
      if (!migrate) return store.open()
      const missing = filterable.filter((name) => !existsSync(`${filename}.${name}`))
      if (missing.length === 0) return store.open({ migrate })
      for (const name of missing) writeFileSync(`${filename}.${name}`, '')
      await setTimeout(100)
      return store.open({ migrate, filterable })
    }
  }
}
