import { setTimeout } from 'node:timers/promises'
import { sqlite } from '../../../adapters/sqlite.ts'
import type { Storage } from '../../../lib/storage/storage.ts'
import { override } from '../method-store.ts'
import { sqliteHost } from '../sqlite.ts'

/** A store that records the event of an update when the update is committed. */
export default (filename: string): Storage => {
  const store = sqlite({ filename: `${filename}.db` })
  const log = sqliteHost(`${filename}.db`)
  let updates = 0
  const closing = {
    ...store,
    async close () {
      await log.destroy()
      await store.close()
    }
  }
  return override(closing, ({ updateUser }) => ({
    async updateUser (id, changes, updatedAt, guard, event = null) {
      const updated = await updateUser(id, changes, updatedAt, guard)
      // One after the other, so that some are missing whenever the process ends.
      await setTimeout(30 * ++updates)
      if (updated === null || event === null) return updated
      await log('fastify_users_events').insert({
        id: event.id,
        type: event.type,
        happened_at: event.timestamp,
        context: JSON.stringify({ actor: event.actor, requestId: event.requestId }),
        subject: id,
        data: JSON.stringify(updated.user)
      })
      return updated
    }
  }))
}
