import { sqlite } from '../../../adapters/sqlite.ts'
import type { EventsPage, Storage } from '../../../lib/storage/storage.ts'

/** A store that remembers the pages of the log that it has read. */
export default (filename: string): Storage => {
  const store = sqlite({ filename: `${filename}.db` })
  const known = new Map<string | null, EventsPage | null>()
  return {
    ...store,
    log: {
      ...store.log,
      async read (request) {
        const page = known.get(request.after) ?? await store.log.read(request)
        known.set(request.after, page)
        return page
      }
    }
  }
}
