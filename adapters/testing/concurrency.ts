/** How many concurrent calls a duty about a race makes. */
export const CONCURRENT_CALLS = 20
/** The results of concurrent calls. */
export const concurrently = <Value>(call: (i: number) => Promise<Value>, calls = CONCURRENT_CALLS): Promise<Value[]> =>
  Promise.all(Array.from({ length: calls }, (_, i) => call(i)))

/** How often each code comes. */
export function codesOf (outcomes: ReadonlyArray<{ code: string }>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { code } of outcomes) counts[code] = (counts[code] ?? 0) + 1
  return counts
}

/** A promise whose failure is reported where it is awaited, though that may be later than it fails. */
export function awaitedLater<Result> (promise: Promise<Result>): Promise<Result> {
  promise.catch(() => {})
  return promise
}

/** Lets others run for a few turns of the event loop. */
export async function turns (n: number): Promise<void> {
  for (let i = 0; i < n; i++) await new Promise((resolve) => setImmediate(resolve))
}
