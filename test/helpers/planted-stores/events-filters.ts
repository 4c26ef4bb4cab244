// Mistakes in how event logs are read newest first, and by what is asked for.
import { LoggedStore, plantLogged } from './logged-store.ts'
import type { Mistake } from './plant.ts'

type Reading = Parameters<LoggedStore['pageOfLog']>
type Timed = Parameters<LoggedStore['isInTime']>

/** Knows the log that it reads. */
class OrderedStore extends LoggedStore {
  log: Parameters<LoggedStore['ordered']>[0] = []

  override ordered (...[events]: Parameters<LoggedStore['ordered']>) {
    this.log = events
    return events
  }
}

export const eventsFilters: Mistake[] = [
  plantLogged('a page that goes on newest first loses its first event', class extends LoggedStore {
    override pageOfLog (...[state, request]: Reading) {
      const { after, order, limit } = request
      if (after === null || order !== 'desc') return super.pageOfLog(state, request)
      const page = super.pageOfLog(state, { ...request, limit: limit + 1 })
      return page && { ...page, events: page.events.slice(1) }
    }
  }),
  plantLogged('newest first is by time', class extends LoggedStore {
    override pageOfLog (...[state, request]: Reading) {
      const page = super.pageOfLog(state, request)
      if (page === null || request.order !== 'desc') return page
      return { ...page, events: page.events.toSorted((a, b) => a.timestamp < b.timestamp ? 1 : -1) }
    }
  }),
  plantLogged('newest first, a page begins with the event that it should go on behind', class extends LoggedStore {
    override placeOf (...given: Parameters<LoggedStore['placeOf']>) {
      return this.isBack ? Number(super.placeOf(...given)) + 1 : super.placeOf(...given)
    }

    isBack = false

    override pageOfLog (...[state, request]: Reading) {
      this.isBack = request.order === 'desc'
      return super.pageOfLog(state, request)
    }
  }),
  plantLogged('newest first, pages are counted from the newest event', class extends LoggedStore {
    counted = new Map<string, number>()

    override pageOfLog (...[state, request]: Reading) {
      const { after, order, limit } = request
      if (order !== 'desc') return super.pageOfLog(state, request)
      const offset = after === null ? 0 : this.counted.get(after) ?? 0
      const all = super.pageOfLog(state, { ...request, after: null, limit: Infinity })
      if (all === null || super.pageOfLog(state, request) === null) return null
      const events = all.events.slice(offset, offset + limit)
      for (const [i, { id }] of events.entries()) this.counted.set(id, offset + i + 1)
      const more = offset + limit < all.events.length
      return { ...all, events, more, position: after === null ? all.position : null }
    }
  }),
  plantLogged('newest first, the position is the last event of the page', class extends LoggedStore {
    override pageOfLog (...[state, request]: Reading) {
      const page = super.pageOfLog(state, request)
      return page && (request.order === 'desc' ? { ...page, position: page.events.at(-1)?.id ?? null } : page)
    }
  }),
  plantLogged('until includes its end', class extends LoggedStore {
    override isInTime (...[time, since, until]: Timed) {
      return (since === undefined || time >= since) && (until === undefined || time <= until)
    }
  }),
  plantLogged('since leaves out its beginning', class extends LoggedStore {
    override isInTime (...[time, since, until]: Timed) {
      return (since === undefined || time > since) && (until === undefined || time < until)
    }
  }),
  plantLogged('times end at the first event that is too late', class extends OrderedStore {
    override isMeant (...[event, request]: Parameters<LoggedStore['isMeant']>) {
      const { until } = request
      const late = this.log.findIndex(({ timestamp }) => until !== undefined && timestamp >= until)
      return super.isMeant(event, request) && (late === -1 || this.log.indexOf(event) < late)
    }
  }),
  plantLogged('times begin behind the last event that is too early', class extends OrderedStore {
    override isMeant (...[event, request]: Parameters<LoggedStore['isMeant']>) {
      const { since } = request
      const early = this.log.findLastIndex(({ timestamp }) => since !== undefined && timestamp < since)
      return super.isMeant(event, request) && this.log.indexOf(event) > early
    }
  }),
  plantLogged('an actor is found by the beginning of its id', class extends LoggedStore {
    override isBy (...[{ actor }, id]: Parameters<LoggedStore['isBy']>) {
      return actor?.id.startsWith(id) ?? false
    }
  }),
  plantLogged('an actor is found by the first 255 characters of its id', class extends LoggedStore {
    override isBy (...[{ actor }, id]: Parameters<LoggedStore['isBy']>) {
      return actor?.id.slice(0, 255) === id.slice(0, 255)
    }
  }),
  plantLogged('an actor is forgotten where a type is asked for', class extends LoggedStore {
    override isMeant (...[event, request]: Parameters<LoggedStore['isMeant']>) {
      const { actor, ...rest } = request
      return super.isMeant(event, request.types === null ? request : rest)
    }
  }),
  plantLogged('a subject has the number of its page', class extends LoggedStore {
    override pageOfLog (...[state, request]: Reading) {
      const page = super.pageOfLog(state, request)
      return page?.total === undefined ? page : { ...page, total: page.events.length }
    }
  }),
  plantLogged('a subject has the number of events of every type', class extends LoggedStore {
    override pageOfLog (...[state, request]: Reading) {
      const page = super.pageOfLog(state, request)
      const total = super.pageOfLog(state, { ...request, types: null })?.total
      return page === null || total === undefined ? page : { ...page, total }
    }
  }),
  plantLogged('a subject is gone with its user', class extends LoggedStore {
    override pageOfLog (...[state, request]: Reading) {
      const { subject } = request
      const isGone = subject?.startsWith('usr_') === true && !state.users.has(subject)
      return super.pageOfLog(state, isGone ? { ...request, types: [] } : request)
    }
  }),
  plantLogged('a history has the number of events of every type', class extends LoggedStore {
    override async history (...[subject, page]: Parameters<LoggedStore['history']>) {
      const { items } = await super.history(subject, page)
      const { types, ...rest } = page
      return { items, total: (await super.history(subject, rest)).total }
    }
  })
]
