import type { EventRecord, WebhookChange } from '../../../lib/storage/storage.ts'
import { type Mistake, untyped } from './plant.ts'
import type { State } from './state.ts'
import { HookStore, plantHookMethods, plantHooks } from './webhook-store.ts'

type Put = [state: State, id: string, change: WebhookChange | undefined]

/** A mistake in which event comes before an id. */
function before (title: string, idOf: (events: readonly EventRecord[], id: string) => string | null): Mistake {
  return plantHooks(title, class extends HookStore {
    override eventBefore (state: State, id: string) {
      return idOf(state.events, id)
    }
  })
}

const recorded: Mistake[] = [
  plantHooks('the event of a change is not recorded', class extends HookStore {
    override put (...[state, id, change]: Put) {
      const { event, ...rest } = change ?? {}
      return super.put(state, id, change && rest)
    }
  }),
  plantHooks('an event alone is not recorded', class extends HookStore {
    override put (...[state, id, change]: Put) {
      const { event, ...rest } = change ?? {}
      return super.put(state, id, change?.webhook === undefined ? change && rest : change)
    }
  }),
  plantHookMethods('the event of a change is recorded some turns later', (right, store) => ({
    change: async (id, delivery, decide) => {
      let later: EventRecord | undefined
      const result = await right.change(id, delivery, (...given) => {
        const change = decide(...given)
        if (change === null) return null
        const { event, ...rest } = change
        later = structuredClone(event)
        return rest
      })
      const event = later
      // Longer than a busy machine may take from the change to the look at the log.
      if (event !== undefined) setTimeout(() => store.recordAll(store.database.state, [event]), 500)
      return result
    }
  })),
  plantHookMethods('the event of a change is recorded though nothing is changed', (right, store) => ({
    change: async (id, delivery, decide) => {
      const result = await right.change(id, delivery, decide)
      const { event } = result === null ? decide(untyped({}), null) ?? {} : {}
      if (event !== undefined) store.recordAll(store.database.state, [structuredClone(event)])
      return result
    }
  })),
  plantHookMethods('a decision that is made again records its event twice', (right, store) => ({
    change: (id, delivery, decide) => right.change(id, delivery, (...given) => {
      const change = decide(...given)
      if (change?.event !== undefined) store.recordAll(store.database.state, [change.event])
      return change
    })
  })),
  plantHooks('the values of an event of webhooks are lost', class extends HookStore {
    override put (...[state, id, change]: Put) {
      return super.put(state, id, change?.event ? { ...change, event: { ...change.event, data: {} } } : change)
    }
  })
]

const found: Mistake[] = [
  plantHooks('an event that is found is the stored one', class extends HookStore {
    override eventOf (state: State, id: string) {
      return state.events.find((event) => event.id === id) ?? null
    }
  }),
  plantHooks('no event is found', class extends HookStore {
    override eventOf () { return null }
  }),
  plantHooks('an event is found by the beginning of its id', class extends HookStore {
    override eventOf (state: State, id: string) {
      return structuredClone(state.events.find((event) => event.id.startsWith(id.slice(0, 30))) ?? null)
    }
  }),
  plantHooks('an event of users alone is found', class extends HookStore {
    override eventOf (state: State, id: string) {
      const event = super.eventOf(state, id)
      return event?.type.startsWith('user.') === true ? event : null
    }
  }),
  plantHooks('the event that follows is found', class extends HookStore {
    override eventOf (state: State, id: string) {
      return structuredClone(state.events.find((event) => event.id >= id) ?? null)
    }
  }),
  ...(['erased', 'pruned'] as const).map((what) =>
    plantHooks(`an event that is ${what} is found as it was`, class extends HookStore {
      readonly #known = new Map<string, EventRecord>()

      override recordAll (state: State, events: readonly EventRecord[]) {
        super.recordAll(state, events)
        for (const event of events) this.#known.set(event.id, structuredClone(event))
      }

      override eventOf (state: State, id: string) {
        const event = super.eventOf(state, id)
        return (event === null) === (what === 'pruned') ? structuredClone(this.#known.get(id) ?? null) : event
      }
    }))
]

const last = (events: readonly EventRecord[]): string | null => events.at(-1)?.id ?? null
const firstFrom = (events: readonly EventRecord[], id: string): number => events.findIndex((event) => event.id >= id)

const positions: Mistake[] = [
  before('the event before an id is the one with the next smaller id', (events, id) =>
    last(events.filter((event) => event.id < id).toSorted((a, b) => a.id < b.id ? -1 : 1))),
  before('the event before an id is the last one with a smaller id', (events, id) =>
    last(events.filter((event) => event.id < id))),
  before('the event before an id is this one, if it is there', (events, id) =>
    last(events.slice(0, events.findIndex((event) => event.id > id)))),
  before('the event before an id must be there', (events, id) =>
    last(events.slice(0, Math.max(0, events.findIndex((event) => event.id === id))))),
  before('nothing comes before an id that is greater than all', (events, id) =>
    last(events.slice(0, Math.max(0, firstFrom(events, id))))),
  before('before the first event comes the first', (events, id) => {
    const first = firstFrom(events, id)
    return first === 0 ? events[0]?.id ?? null : last(first === -1 ? events : events.slice(0, first))
  }),
  before('the event before an id is the one that follows', (events, id) =>
    events[firstFrom(events, id)]?.id ?? last(events)),
  before('the newest event is the one with the greatest id', (events, id) => {
    const first = firstFrom(events, id)
    return last(first === -1 ? events.toSorted((a, b) => a.id < b.id ? -1 : 1) : events.slice(0, first))
  }),
  plantHooks('an event that is pruned comes before others', class extends HookStore {
    readonly #known: EventRecord[] = []

    override recordAll (state: State, events: readonly EventRecord[]) {
      super.recordAll(state, events)
      this.#known.push(...structuredClone(events))
    }

    override eventBefore (state: State, id: string) {
      return super.eventBefore(Object.assign(state.copy(), { events: this.#known }), id)
    }
  })
]

export const webhooksEvents: Mistake[] = [...recorded, ...found, ...positions]
