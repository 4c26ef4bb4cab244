// Mistakes of erasure and pruning.
import { LoggedStore, plantLogged } from './logged-store.ts'
import type { Mistake } from './plant.ts'
import type { State } from './state.ts'

type Results = Parameters<LoggedStore['recordResult']>

export const eventsEnds: Mistake[] = [
  plantLogged('an erasure leaves what was before', class extends LoggedStore {
    override erasedEvent (event: Parameters<LoggedStore['erasedEvent']>[0]) {
      return { ...super.erasedEvent(event), before: event.before }
    }
  }),
  plantLogged('an erasure forgets which members changed', class extends LoggedStore {
    override erasedEvent (event: Parameters<LoggedStore['erasedEvent']>[0]) {
      return { ...super.erasedEvent(event), before: null }
    }
  }),
  plantLogged('an erasure leaves own fields', class extends LoggedStore {
    override erasedEvent (event: Parameters<LoggedStore['erasedEvent']>[0]) {
      const { data, ...rest } = super.erasedEvent(event)
      return { ...rest, data: { ...data, fields: event.data['fields'] ?? {} } }
    }
  }),
  plantLogged('an erasure forgets the names of own fields', class extends LoggedStore {
    override erasedEvent (event: Parameters<LoggedStore['erasedEvent']>[0]) {
      const { data, ...rest } = super.erasedEvent(event)
      return { ...rest, data: { ...data, fields: {} } }
    }
  }),
  plantLogged('an erasure takes the actor too', class extends LoggedStore {
    override erasedEvent (event: Parameters<LoggedStore['erasedEvent']>[0]) {
      return { ...super.erasedEvent(event), actor: null }
    }
  }),
  plantLogged('an erasure is of all users', class extends LoggedStore {
    override eraseOf (...[state, userId]: Parameters<LoggedStore['eraseOf']>) {
      const count = super.eraseOf(state, userId)
      if (count > 0) state.events = state.events.map((event) => this.erasedEvent(event))
      return count
    }
  }),
  plantLogged('an erasure deletes the events', class extends LoggedStore {
    override eraseOf (...[state, userId]: Parameters<LoggedStore['eraseOf']>) {
      const count = super.eraseOf(state, userId)
      state.events = state.events.filter(({ subject }) => subject !== userId)
      return count
    }
  }),
  plantLogged('an erasure counts what it has not erased before', class extends LoggedStore {
    override eraseOf (...[state, userId]: Parameters<LoggedStore['eraseOf']>) {
      const isOpen = (event: State['events'][number]) => event.subject === userId && event.data['name'] !== null
      const open = state.events.filter(isOpen).length
      super.eraseOf(state, userId)
      return open
    }
  }),
  plantLogged('a deletion does not erase', class extends LoggedStore {
    override erases () {
      return false
    }
  }),
  plantLogged('a deletion erases before its own event', class extends LoggedStore {
    override recordResult (...[state, method, pending, result, before]: Results) {
      if (before !== null && pending.event !== null && this.erases(pending.event)) this.eraseOf(state, before.id)
      const event = pending.event === null ? null : { ...pending.event, erase: false }
      super.recordResult(state, method, { ...pending, event }, result, before)
    }
  }),
  plantLogged('every deletion erases', class extends LoggedStore {
    override erases (event: Parameters<LoggedStore['erases']>[0]) {
      return event.type === 'user.deleted'
    }
  }),
  plantLogged('the newest event is pruned too', class extends LoggedStore {
    override prunable (...[events, before, limit]: Parameters<LoggedStore['prunable']>) {
      const oldest = events.findIndex(({ timestamp }) => timestamp >= before)
      return Math.min(limit, oldest === -1 ? events.length : oldest)
    }
  }),
  plantLogged('events are pruned although their successors are kept', class extends LoggedStore {
    override prunable (...[events, before, limit]: Parameters<LoggedStore['prunable']>) {
      const oldest = events.findIndex(({ timestamp }) => timestamp >= before)
      return Math.min(limit, oldest === -1 ? Math.max(0, events.length - 1) : oldest)
    }
  }),
  plantLogged('pruning deletes every event before the last one that is older', class extends LoggedStore {
    override prunable (...[events, before, limit]: Parameters<LoggedStore['prunable']>) {
      const last = events.findLastIndex(({ timestamp }, i) => timestamp < before && i < events.length - 1)
      return Math.min(limit, Math.max(super.prunable(events, before, limit), last))
    }
  }),
  plantLogged('pruning deletes by time alone', class extends LoggedStore {
    override async prune (before: string, limit: number) {
      return await super.write('prune', () => null, (state) => {
        const isOld = state.events.map(({ timestamp }, i) =>
          timestamp < before && (state.events[i + 1]?.timestamp ?? before) < before)
        const pruned = new Set(state.events.filter((_, i) => isOld[i]).slice(0, limit))
        state.events = state.events.filter((event) => !pruned.has(event))
        return pruned.size
      })
    }
  }),
  plantLogged('pruning takes the oldest times first', class extends LoggedStore {
    override async prune (before: string, limit: number) {
      return await super.write('prune', () => null, (state) => {
        const pruned = this.prunable(state.events, before, limit)
        const sorted = state.events.toSorted((a, b) => a.timestamp < b.timestamp ? -1 : 1).slice(0, pruned)
        state.events = state.events.filter((event) => !sorted.includes(event))
        return pruned
      })
    }
  }),
  plantLogged('pruning heeds no limit', class extends LoggedStore {
    override prunable (...[events, before]: Parameters<LoggedStore['prunable']>) {
      return super.prunable(events, before, Infinity)
    }
  }),
  plantLogged('pruning heeds no time', class extends LoggedStore {
    override prunable (...[events, , limit]: Parameters<LoggedStore['prunable']>) {
      return super.prunable(events, '9999', limit)
    }
  }),
  plantLogged('nothing is pruned', class extends LoggedStore {
    override prunable () {
      return 0
    }
  }),
  plantLogged('after pruning a reader begins again', class extends LoggedStore {
    override placeOf (...given: Parameters<LoggedStore['placeOf']>) {
      return super.placeOf(...given) ?? (given[1] < (given[0][0]?.id ?? '') ? -1 : null)
    }
  })
]
