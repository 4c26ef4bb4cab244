import { sqlite } from '../../../adapters/sqlite.ts'
import type { EventsPage, Storage } from '../../../lib/storage/storage.ts'

/** A store that remembers the pages of the log that it has read. */
export default (filename: string): Storage => {
  const store = sqlite({ filename: `${filename}.db` })
  const { eventLog } = store
  if (eventLog === undefined) throw new Error('the store has no event log')
  const known = new Map<string | null, EventsPage | null>()
  return {
    ...store,
    eventLog: {
      ...eventLog,
      async read (request) {
        const page = known.get(request.after) ?? await eventLog.read(request)
        known.set(request.after, page)
        return page
      }
    }
  }
}
