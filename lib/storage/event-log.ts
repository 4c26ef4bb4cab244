import type { EventRecord, EventsPage, EventsRequest, Page, PrunedEvents } from './records.ts'

/**
 * The recorded events of a store. Each is written in the same step as its change, so it is there if and only if the
 * change was committed.
 */
export interface EventLog {
  /**
   * The events that follow one, in an order in which each follows those that were committed before it was written:
   * whoever reads on after the last event that it has got gets every event exactly once, however long other
   * transactions stay open. The events of one user come in the order of its versions. The order of two events never
   * changes; `desc` is the same one reversed. `null`: there is no event with the id `after`. The costs don't grow with
   * the log: `since` and `until` find their places too, though times may be in another order than the events.
   */
  read (request: EventsRequest): Promise<EventsPage | null>

  /**
   * The events of one user or key, newest first, with their exact number: also of one that was deleted. `types`: those
   * of these alone. `tenant`: none, if it belongs to another.
   */
  history (
    subject: string, page: { offset: number, limit: number, types?: readonly string[], tenant?: string }
  ): Promise<Page<EventRecord>>

  /** The recorded event with this id; `null`: there is none, or no longer. */
  find (id: string): Promise<EventRecord | null>

  /**
   * Takes every value of a user out of its events, as `erased` of the package does, and its name out of the events of
   * changes that it made, as `withoutActorName` does. Returns how many events those are.
   * `tenant`: none, if the user belongs to another.
   */
  erase (userId: string, tenant?: string): Promise<number>

  /**
   * Deletes the oldest events, at most `limit`, as long as they and their successors are older than this time, and
   * returns how many. The newest event always stays: so a reader that has seen all of them can read on after it. Notes
   * in the same step what `pruned` gives.
   */
  prune (before: string, limit: number): Promise<number>

  /**
   * What is left of pruned events: each type with its last one, in the order of the log. By it a reader of some types
   * knows whether any of them was pruned behind an event that is gone. `afterPruning` of the package makes it.
   */
  pruned (): Promise<PrunedEvents[]>
}
