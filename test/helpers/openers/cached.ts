import { sqlite } from '../../../adapters/sqlite.ts'
import type { ApiKeyRecord } from '../../../lib/storage/storage.ts'

/** A store that remembers the keys which it has found. */
export default (filename: string) => {
  const store = sqlite({ filename: `${filename}.db` })
  const known = new Map<string, ApiKeyRecord | null>()
  return {
    ...store,
    async findApiKeyByStart (start: string) {
      const key = known.get(start) ?? await store.findApiKeyByStart(start)
      known.set(start, key)
      return key
    }
  }
}
