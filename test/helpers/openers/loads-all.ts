import { READ_PART_MAX } from '../../../lib/core/limits.ts'
import { sqlite } from '../../../adapters/sqlite.ts'
import type { Storage, UserRecord } from '../../../lib/storage/storage.ts'

/** A store that reads everybody into memory before it gives the first part. */
export default (filename: string): Storage => {
  const store = sqlite({ filename: `${filename}.db` })
  return {
    ...store,
    users: {
      ...store.users,
      async walk (filter, order, onPart) {
        const all: UserRecord[] = []
        await store.users.walk(filter, order, async (part) => { all.push(...part) })
        for (let start = 0; start < all.length; start += READ_PART_MAX) {
          await onPart(all.slice(start, start + READ_PART_MAX))
        }
      }
    }
  }
}
