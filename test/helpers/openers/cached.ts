import { sqlite } from '../../../adapters/sqlite.ts'
import type { ApiKeyRecord } from '../../../lib/storage/storage.ts'

/** A store that remembers the keys which it has found. */
export default (filename: string) => {
  const store = sqlite({ filename: `${filename}.db` })
  const known = new Map<string, ApiKeyRecord | null>()
  return {
    ...store,
    async findApiKey (by: { id: string } | { start: string }) {
      if ('id' in by) return store.findApiKey(by)
      const key = known.get(by.start) ?? await store.findApiKey(by)
      known.set(by.start, key)
      return key
    }
  }
}
