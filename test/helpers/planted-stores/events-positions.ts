// Mistakes in what a reader of the log has passed, and in what is left of pruned events.
import { afterPruning } from '../../../lib/storage/recorded-events.ts'
import type { EventRecord, EventsRequest } from '../../../lib/storage/storage.ts'
import { LoggedStore, plantLogged } from './logged-store.ts'
import type { Mistake } from './plant.ts'
import type { State } from './state.ts'

type Positioned = Parameters<LoggedStore['positionOf']>
type Pruned = Parameters<LoggedStore['notePruned']>

/** A mistake in the position of a page. */
function positions (title: string, positionOf: (...given: Positioned) => string | null): Mistake {
  return plantLogged(title, class extends LoggedStore {
    override positionOf (...given: Positioned) {
      return positionOf(...given)
    }
  })
}

/** A mistake in what is left of pruned events. */
function leaves (title: string, note: (state: State, events: readonly EventRecord[]) => State['pruned']): Mistake {
  return plantLogged(title, class extends LoggedStore {
    override notePruned (...[state, events]: Pruned) {
      state.pruned = note(state, events)
    }
  })
}

export const eventsPositions: Mistake[] = [
  positions('the position is the last event of the page', (_log, found, limit) =>
    found.slice(0, limit).at(-1)?.id ?? null),
  positions('the position is the end of the log though more follows', (log) => log.at(-1)?.id ?? null),
  positions('without events in a page there is no position', (log, found, limit) =>
    found.length === 0 ? null : (found.length > limit ? found[limit - 1] : log.at(-1))?.id ?? null),
  positions('the position is the event behind the page', (log, found, limit) =>
    (found.length > limit ? found[limit] : log.at(-1))?.id ?? null),
  plantLogged('no types are all types', class extends LoggedStore {
    override pageOfLog (state: State, request: EventsRequest) {
      return super.pageOfLog(state, request.types?.length === 0 ? { ...request, types: null } : request)
    }
  }),
  leaves('nothing is left of pruned events', () => []),
  leaves('what was pruned before is forgotten', (_state, events) => afterPruning([], events)),
  leaves('the greatest id is that of the last event', ({ pruned }, events) =>
    afterPruning(pruned, events).map((each) => ({ ...each, greatestId: each.id }))),
  leaves('the greatest id is that of the last prune', ({ pruned }, events) => {
    const now = afterPruning([], events)
    return [...pruned.filter(({ type }) => now.every((each) => each.type !== type)), ...now]
  }),
  leaves('pruned events are in the order of their types', ({ pruned }, events) =>
    afterPruning(pruned, events).toSorted((a, b) => a.type < b.type ? -1 : 1)),
  leaves('a type stays where it was first pruned', ({ pruned }, events) => {
    const now = afterPruning(pruned, events)
    const types = [...new Set([...pruned, ...now].map(({ type }) => type))]
    return types.flatMap((type) => now.filter((each) => each.type === type))
  }),
  leaves('the first pruned event of a type is left', ({ pruned }, events) =>
    afterPruning(pruned, events).map((each) => pruned.find(({ type }) => type === each.type) ?? each))
]
