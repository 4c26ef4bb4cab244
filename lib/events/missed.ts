import type { PrunedEvents } from '../storage/storage.ts'

/** What is known of an event that is not in the log. */
export type Standing =
  /** It was never pruned from this log. */
  | 'unknown'
  /** A requested event after it may have been pruned. */
  | 'expired'
  /** No requested event after it was pruned: whoever has seen it goes on with the oldest one. */
  | 'complete'

/**
 * How an event that is not in the log stands to those that were pruned. `types`: those that are asked for; null: all.
 * Where that can't be known, because ids and commits have another order, it is expired.
 */
export function standingOf (id: string, types: readonly string[] | null, pruned: readonly PrunedEvents[]): Standing {
  const greatest = pruned.at(-1)?.greatestId
  if (greatest === undefined || id > greatest) return 'unknown'
  // The last one of a type: all before it in this list come before it in the log.
  const place = pruned.findIndex((each) => each.id === id)
  const mayBeMissed = pruned.some(({ type, greatestId }, i) =>
    (types === null || types.includes(type)) && i > place && id <= greatestId)
  return mayBeMissed ? 'expired' : 'complete'
}
