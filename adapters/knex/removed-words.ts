import { watchForegroundRequests } from '../../lib/core/foreground-requests.ts'
import type { Executor, Query } from './connection/executor.ts'
import type { Names } from './tables/names.ts'

/**
 * Makes the function that takes the words of deleted and changed users out of the index, where a removal only marks
 * them. It works in steps beside requests, until the storage is `closing`. Whatever ends it, the next call goes on.
 */
export function wordRemoval (
  { dialect, transaction }: Executor,
  names: Names,
  closing: () => AbortSignal
): () => Promise<void> {
  const sql = dialect.words.removals?.(names) ?? null
  if (sql === null) return async () => {}
  const { note, steps: [first, next], written, done } = sql

  async function writtenBy (on: Query, step: string): Promise<number> {
    const [before] = await on(written)
    await on(step)
    const [after] = await on(written)
    return Number(after?.['written']) - Number(before?.['written'])
  }

  /** Makes a step; true if there is more to do. */
  const take = (step: string): Promise<boolean> => transaction(async (on) => {
    if (step === first && (await on(note)).length === 0) return false
    if (await writtenBy(on, step) >= 2) return true
    await on(done)
    return false
  })

  return async () => {
    const signal = closing()
    if (!await take(first)) return
    const requests = watchForegroundRequests()
    try {
      do await requests.yieldToRequests()
      while (!signal.aborted && await take(next))
    } finally {
      requests.close()
    }
  }
}
