/** How often an API key was used on a day. */
export interface DayUses {
  /** In UTC: `2026-01-31`. */
  day: string
  /** 1 or more, a safe integer. */
  uses: number
}

/** How often one of many keys was used on a day. */
export interface KeyUses extends DayUses {
  /** The id of the key's record. */
  key: string
}

/** How often API keys were used, by day. Many processes may use it at the same time. */
export interface KeyUseStore {
  /**
   * Adds to the uses of keys on days, in one step: concurrent calls add up. A key and a day come at most once in a
   * call. The uses of a key that is not there are dropped.
   */
  add (uses: readonly KeyUses[]): Promise<void>

  /** The days on which the key was used, oldest first; none of an unknown one. */
  list (key: string): Promise<DayUses[]>

  /** Deletes the uses of days before this one, at most `limit` of them, and returns how many days of keys it were. */
  prune (before: string, limit: number): Promise<number>
}
