import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { sqlite } from '../../../adapters/sqlite.ts'
import type { SchemaRequirements } from '../../../lib/storage/storage.ts'

/** A store that notes which fields are ready before they are. */
export default (filename: string) => {
  const store = sqlite({ filename: `${filename}.db` })
  return {
    ...store,
    async migrate ({ filterable = [] }: SchemaRequirements = {}) {
      const missing = filterable.filter((name) => !existsSync(`${filename}.${name}`))
      if (missing.length === 0) {
        await store.migrate()
        return
      }
      for (const name of missing) writeFileSync(`${filename}.${name}`, '')
      await setTimeout(100)
      await store.migrate({ filterable })
    }
  }
}
