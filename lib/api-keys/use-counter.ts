import { settleWithin } from '../core/settle.ts'
import type { Repository } from '../storage/repository.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { KeyUses } from '../storage/key-uses.ts'

const DAY_MS = 24 * 60 * 60 * 1000
// A crash loses what was counted since.
const FLUSH_MS = 60_000
// SQLite's only writer should not be busy for long.
const WRITTEN_TOGETHER = 1000
const SETTLE_LIMIT_MS = 2000

/** Counts the uses of stored keys in memory. */
export interface UseCounter {
  /** Counts a use of the key with this id. */
  count: (id: string) => void
  /** Stores what is counted. A failure is only reported, and what was not stored stays counted. */
  flush: () => Promise<void>
  /** Stores what is counted: resolves when that is done, or after two seconds. */
  close: () => Promise<void>
}

/** Makes a counter that stores its numbers once a minute. `onError`: gets why that failed. */
export function createUseCounter (
  { keyUses }: Pick<Repository, 'keyUses'>,
  onError: (error: unknown) => void
): UseCounter {
  // By the number of the day since 1970, and the id of the key.
  const counted = new Map<number, Map<string, number>>()
  let timer: NodeJS.Timeout | undefined
  let written: Promise<void> = Promise.resolve()

  function add (day: number, id: string, uses: number): void {
    let ids = counted.get(day)
    if (ids === undefined) counted.set(day, ids = new Map())
    ids.set(id, (ids.get(id) ?? 0) + uses)
    timer ??= setTimeout(flush, FLUSH_MS).unref()
  }

  function take (): Array<KeyUses & { number: number }> {
    const taken = [...counted].flatMap(([number, ids]) => {
      const day = new Date(number * DAY_MS).toISOString().slice(0, 10)
      return [...ids].map(([key, uses]) => ({ number, key, day, uses }))
    })
    counted.clear()
    return taken
  }

  async function write (): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const all = take()
    for (let first = 0; first < all.length; first += WRITTEN_TOGETHER) {
      const part = all.slice(first, first + WRITTEN_TOGETHER)
      const uses = part.map(({ key, day, uses }) => ({ key, day, uses }))
      try {
        await fromStorage(() => keyUses.add(uses))
      } catch (error) {
        // If the storage has made it, and only its answer is lost, this part counts twice.
        for (const { number, key, uses } of part) add(number, key, uses)
        onError(error)
      }
    }
  }

  function flush (): Promise<void> {
    written = written.then(write)
    return written
  }

  return {
    count: (id) => add(Math.floor(Date.now() / DAY_MS), id, 1),
    flush,
    async close () {
      await settleWithin(SETTLE_LIMIT_MS, flush())
      clearTimeout(timer)
    }
  }
}
