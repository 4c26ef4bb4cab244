// Mistakes in what event logs record.
import { userEvent } from '../../../lib/storage/recorded-events.ts'
import { LoggedStore, plantLogged, plantLoggedJoinable } from './logged-store.ts'
import type { Mistake } from './plant.ts'
import type { State } from './state.ts'

type Results = Parameters<LoggedStore['recordResult']>
type Made = Parameters<LoggedStore['eventsOf']>
type Reading = Parameters<LoggedStore['pageOfLog']>

const byId = (a: { id: string }, b: { id: string }): number => a.id < b.id ? -1 : 1

/** A store that records nothing for some writes. */
const silent = (...methods: string[]) => class extends LoggedStore {
  override recordResult (...given: Results) {
    if (!methods.includes(given[1])) super.recordResult(...given)
  }
}

const written: Mistake[] = [
  plantLogged('a creation has no event', silent('createUser')),
  plantLogged('an update has no event', silent('updateUser')),
  plantLogged('a deletion has no event', silent('deleteUser')),
  plantLogged('a new key has no event', silent('createApiKey')),
  plantLogged('a rotation has no event', silent('rotateApiKey')),
  plantLogged('a revocation has no event', silent('revokeApiKey')),
  plantLogged('every event is recorded twice', class extends LoggedStore {
    override recordAll (...[state, events]: Parameters<LoggedStore['recordAll']>) {
      super.recordAll(state, [...events, ...events])
    }
  }),
  plantLogged('a repeated creation has an event', class extends LoggedStore {
    override eventsOf (...[method, event, pending, result, before]: Made) {
      const { user } = Object(result)
      if (method === 'createUser' && user !== undefined) return [userEvent(event, user)]
      return super.eventsOf(method, event, pending, result, before)
    }
  }),
  plantLogged('an update that changes nothing has an event', class extends LoggedStore {
    override eventsOf (...[method, event, pending, result, before]: Made) {
      const done = method === 'updateUser' && result !== null ? { ...Object(result), changed: true } : result
      return super.eventsOf(method, event, pending, done, before)
    }
  }),
  plantLogged('a second revocation has an event', class extends LoggedStore {
    override eventsOf (...[method, event, pending, result, before]: Made) {
      const done = method === 'revokeApiKey' && result !== null ? { ...Object(result), changed: true } : result
      return super.eventsOf(method, event, pending, done, before)
    }
  }),
  plantLogged('a write that is refused has an event', class extends LoggedStore {
    override async write<C, T> (...given: [string, (state: State) => C, (state: State, checked: C) => T]) {
      const { event } = this.pending
      try {
        return await super.write(...given)
      } catch (error) {
        const [first] = this.session.state.users.values()
        if (event !== null && first !== undefined) this.recordAll(this.session.state, [userEvent(event, first.user)])
        throw error
      }
    }
  }),
  plantLogged('a write without an event has one', class extends LoggedStore {
    override recordResult (...[state, method, pending, result, before]: Results) {
      const own = { id: 'evt_0', type: 'none', timestamp: '2026-01-31T09:30:00.000Z', actor: null, requestId: null }
      super.recordResult(state, method, { ...pending, event: pending.event ?? own }, result, before)
    }
  })
]

const values: Mistake[] = [
  plantLogged('an update shows the user before it', class extends LoggedStore {
    override updateOf (...[event, before, after]: Parameters<LoggedStore['updateOf']>) {
      return { ...super.updateOf(event, before, after), data: userEvent(event, before).data }
    }
  }),
  plantLogged('an update names every member', class extends LoggedStore {
    override updateOf (...[event, before, after]: Parameters<LoggedStore['updateOf']>) {
      const { name, email, fields } = before
      return super.updateOf(event, before, after).map((each) => ({ ...each, before: { name, email, fields } }))
    }
  }),
  plantLogged('an update names the new values', class extends LoggedStore {
    override updateOf (...[event, before, after]: Parameters<LoggedStore['updateOf']>) {
      const [turned] = super.updateOf(event, after, before)
      return super.updateOf(event, before, after).map((each) => ({ ...each, before: turned?.before ?? null }))
    }
  }),
  plantLogged('an update has nothing before it', class extends LoggedStore {
    override updateOf (...given: Parameters<LoggedStore['updateOf']>) {
      return super.updateOf(...given).map((each) => ({ ...each, before: null }))
    }
  }),
  plantLogged('the digest of a key is in its events', class extends LoggedStore {
    override keyEventOf (...[event, key]: Parameters<LoggedStore['keyEventOf']>) {
      const made = super.keyEventOf(event, key)
      return { ...made, data: { ...made.data, digest: key.digest } }
    }
  }),
  plantLogged('a rotation is an event of the old key', class extends LoggedStore {
    override eventsOf (...[method, event, pending, result, before]: Made) {
      const old = method === 'rotateApiKey' && result !== null ? { ...pending, key: Object(result) } : pending
      return super.eventsOf(method, event, old, result, before)
    }
  }),
  ...['actor', 'requestId'].map((member) => plantLogged(`${member} is lost`, class extends LoggedStore {
    override recordAll (...[state, events]: Parameters<LoggedStore['recordAll']>) {
      super.recordAll(state, events.map((event) => ({ ...event, [member]: null })))
    }
  })),
  plantLogged('the time of an event is that of the write', class extends LoggedStore {
    override recordAll (...[state, events]: Parameters<LoggedStore['recordAll']>) {
      super.recordAll(state, events.map((event) => ({ ...event, timestamp: new Date().toISOString() })))
    }
  }),
  plantLogged('an event shows the user as it is when it is read', class extends LoggedStore {
    override pageOfLog (...[state, request]: Reading) {
      const page = super.pageOfLog(state, request)
      return page && {
        ...page,
        events: page.events.map((event) => {
          const user = state.users.get(event.subject)?.user
          return user === undefined ? event : { ...event, data: userEvent(event, user).data }
        })
      }
    }
  })
]

const races: Mistake[] = [
  plantLogged('events are recorded some turns after their changes', class extends LoggedStore {
    override recordAll (...[state, events]: Parameters<LoggedStore['recordAll']>) {
      // Longer than a busy machine may take from the write to the look at the log.
      setTimeout(() => super.recordAll(state, events), 500)
    }
  }),
  plantLogged('the log is put in order when it is read', class extends LoggedStore {
    override recordAll (...[state, events]: Parameters<LoggedStore['recordAll']>) {
      super.recordAll(state, events)
      state.events.sort(byId)
    }
  }),
  plantLoggedJoinable('events of a rolled back transaction stay', class extends LoggedStore {
    override recordAll (...[state, events]: Parameters<LoggedStore['recordAll']>) {
      super.recordAll(state, events)
      if (state !== this.database.state) super.recordAll(this.database.state, events)
    }
  }),
  plantLoggedJoinable('events of a transaction are lost', class extends LoggedStore {
    override recordAll (...[state, events]: Parameters<LoggedStore['recordAll']>) {
      if (state === this.database.state) super.recordAll(state, events)
    }
  })
]

export const events: Mistake[] = [...written, ...values, ...races]
