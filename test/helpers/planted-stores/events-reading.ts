// Mistakes in how event logs are read.
import { LoggedStore, plantLogged } from './logged-store.ts'
import type { Mistake } from './plant.ts'

type Reading = Parameters<LoggedStore['pageOfLog']>

const byId = (a: { id: string }, b: { id: string }): number => a.id < b.id ? -1 : 1

export const eventsReading: Mistake[] = [
  plantLogged('the log is in the order of ids', class extends LoggedStore {
    override ordered (events: Parameters<LoggedStore['ordered']>[0]) {
      return events.toSorted(byId)
    }
  }),
  plantLogged('the newest event comes first', class extends LoggedStore {
    override ordered (events: Parameters<LoggedStore['ordered']>[0]) {
      return events.toReversed()
    }
  }),
  plantLogged('a page begins with the event that it should follow', class extends LoggedStore {
    override placeOf (...given: Parameters<LoggedStore['placeOf']>) {
      const place = super.placeOf(...given)
      return place === null ? null : place - 1
    }
  }),
  plantLogged('an unknown event is the beginning', class extends LoggedStore {
    override placeOf (...given: Parameters<LoggedStore['placeOf']>) {
      return super.placeOf(...given) ?? -1
    }
  }),
  plantLogged('an event is found by the beginning of its id', class extends LoggedStore {
    override placeOf (log: Parameters<LoggedStore['placeOf']>[0], id: string) {
      const place = log.findIndex((event) => id.startsWith(event.id))
      return place === -1 ? null : place
    }
  }),
  plantLogged('a full page says that more follows', class extends LoggedStore {
    override cut (...[found, limit]: Parameters<LoggedStore['cut']>) {
      return { ...super.cut(found, limit), more: found.length >= limit }
    }
  }),
  plantLogged('no page says that more follows', class extends LoggedStore {
    override cut (...given: Parameters<LoggedStore['cut']>) {
      return { ...super.cut(...given), more: false }
    }
  }),
  plantLogged('a page has one event too many', class extends LoggedStore {
    override cut (...[found, limit]: Parameters<LoggedStore['cut']>) {
      return super.cut(found, limit + 1)
    }
  }),
  plantLogged('a type is found by its beginning', class extends LoggedStore {
    override isOfTypes (type: string, types: readonly string[]) {
      return types.some((each) => type.startsWith(each))
    }
  }),
  plantLogged('only the first of several types is found', class extends LoggedStore {
    override isOfTypes (type: string, types: readonly string[]) {
      return type === types[0]
    }
  }),
  plantLogged('a filter is used after the page is cut', class extends LoggedStore {
    override pageOfLog (...[state, request]: Reading) {
      const page = super.pageOfLog(state, { ...request, types: null })
      const { types } = request
      return page && { ...page, events: page.events.filter(({ type }) => types === null || types.includes(type)) }
    }
  }),
  plantLogged('a history has the oldest first', class extends LoggedStore {
    override eventsOfSubject (...given: Parameters<LoggedStore['eventsOfSubject']>) {
      return super.eventsOfSubject(...given).reverse()
    }
  }),
  plantLogged('a history is in the order of ids', class extends LoggedStore {
    override eventsOfSubject (...given: Parameters<LoggedStore['eventsOfSubject']>) {
      return super.eventsOfSubject(...given).sort(byId).reverse()
    }
  }),
  plantLogged('a history has the number of its page', class extends LoggedStore {
    override async history (...given: Parameters<LoggedStore['history']>) {
      const { items } = await super.history(...given)
      return { items, total: items.length }
    }
  }),
  plantLogged('a history is of users alone', class extends LoggedStore {
    override eventsOfSubject (...[state, subject]: Parameters<LoggedStore['eventsOfSubject']>) {
      return subject.startsWith('usr_') ? super.eventsOfSubject(state, subject) : []
    }
  }),
  plantLogged('a history is gone with its user', class extends LoggedStore {
    override eventsOfSubject (...[state, subject]: Parameters<LoggedStore['eventsOfSubject']>) {
      return state.users.has(subject) || subject.startsWith('key_') ? super.eventsOfSubject(state, subject) : []
    }
  })
]
