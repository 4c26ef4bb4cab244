// Mistakes of event logs that only long lists and large records show.
import type { EventsRequest, JsonObject } from '../../../lib/storage/storage.ts'
import { LoggedStore, plantLogged } from './logged-store.ts'
import type { Mistake } from './plant.ts'
import type { State } from './state.ts'

/** The values of an object again, but for those of its first ten members. */
function restored (erased: JsonObject, before: JsonObject): JsonObject {
  const rest = Object.entries(before).filter(([name]) => Object.hasOwn(erased, name)).slice(10)
  return { ...erased, ...Object.fromEntries(rest) }
}

/** Erases the first or the last hundred events of a user. */
const partly = (title: string, isLast: boolean): Mistake => plantLogged(title, class extends LoggedStore {
  override eraseOf (state: State, userId: string) {
    const before = [...state.events]
    const mine = before.flatMap((event, i) => event.subject === userId ? [i] : [])
    const count = super.eraseOf(state, userId)
    for (const i of isLast ? mine.slice(0, -100) : mine.slice(100)) {
      const event = before[i]
      if (event !== undefined) state.events[i] = event
    }
    return count
  }
})

export const eventsLong: Mistake[] = [
  partly('an erasure reaches the first hundred events', false),
  partly('an erasure reaches the last hundred events', true),
  plantLogged('an erasure counts at most a hundred events', class extends LoggedStore {
    override async erase (...given: Parameters<LoggedStore['erase']>) {
      return Math.min(100, await super.erase(...given))
    }
  }),
  plantLogged('a deletion erases at most a hundred events', class extends LoggedStore {
    override recordResult (...given: Parameters<LoggedStore['recordResult']>) {
      const [state, , , , before] = given
      const kept = state.events.filter(({ subject }) => subject === before?.id).slice(100)
      super.recordResult(...given)
      state.events = state.events.map((event) => kept.find(({ id }) => id === event.id) ?? event)
    }
  }),
  plantLogged('a history has at most a hundred events', class extends LoggedStore {
    override eventsOfSubject (...given: Parameters<LoggedStore['eventsOfSubject']>) {
      return super.eventsOfSubject(...given).slice(0, 100)
    }
  }),
  plantLogged('a page of a history has at most a hundred events', class extends LoggedStore {
    override async history (...[subject, page]: Parameters<LoggedStore['history']>) {
      return await super.history(subject, { ...page, limit: Math.min(100, page.limit) })
    }
  }),
  plantLogged('a page of the log has at most 500 events', class extends LoggedStore {
    override pageOfLog (state: State, request: EventsRequest) {
      return super.pageOfLog(state, { ...request, limit: Math.min(500, request.limit) })
    }
  }),
  plantLogged('one call prunes at most a hundred events', class extends LoggedStore {
    override prunable (...[events, before, limit]: Parameters<LoggedStore['prunable']>) {
      return super.prunable(events, before, Math.min(100, limit))
    }
  }),
  plantLogged('an erasure leaves own fields after the tenth', class extends LoggedStore {
    override erasedEvent (event: Parameters<LoggedStore['erasedEvent']>[0]) {
      const { data, ...rest } = super.erasedEvent(event)
      return { ...rest, data: { ...data, fields: restored(Object(data['fields']), Object(event.data['fields'])) } }
    }
  }),
  plantLogged('an erasure leaves own fields after the tenth in what was before', class extends LoggedStore {
    override erasedEvent (event: Parameters<LoggedStore['erasedEvent']>[0]) {
      const { before, ...rest } = super.erasedEvent(event)
      if (before?.['fields'] === undefined) return { ...rest, before }
      const fields = restored(Object(before['fields']), Object(event.before?.['fields']))
      return { ...rest, before: { ...before, fields } }
    }
  })
]
