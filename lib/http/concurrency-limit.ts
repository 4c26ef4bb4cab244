import { UsersError } from '../core/errors.ts'
import { StorageError } from '../core/storage-error.ts'
import { channels, traced } from '../core/tracing.ts'

/** Runs work when it has a place, or throws UsersError `storage_unavailable`. */
export type ConcurrencyLimit = <Value>(work: () => Promise<Value>) => Promise<Value>

// What is served is served within 1.5 seconds, as long as one eighth of the places is not too many for the storage.
const WAIT_MAX_MS = 400
const WORK_TARGET_MS = 800
const PLACES_MIN_SHARE = 1 / 8
// While nothing is known: enough for a fast storage, and not too many for a slow one.
const PLACES_FIRST_SHARE = 3 / 8
const PLACES_FIRST_MIN = 8
// Less time says little about how fast work ends: a first burst waits for connections.
const SAMPLE_MIN_MS = 200
const SAMPLE_MAX_MS = 2000
const REST_MS = 1000

const REPORT_MS = 1000

/** The cause of every refusal. They are counted, and not logged one by one. */
export const OVERLOAD = Object.freeze(new StorageError('unavailable', 'more requests come than the storage can serve'))

/** Makes the errors of refusals, and reports their number at most once a second. */
function createRefusals (onRefused: (count: number) => void): () => UsersError {
  const detail = 'Too many requests are running at the moment. Try again later.'
  let count = 0
  let reported = -Infinity
  return () => {
    count++
    if (performance.now() - reported >= REPORT_MS) {
      onRefused(count)
      count = 0
      reported = performance.now()
    }
    return new UsersError('storage_unavailable', { detail, headers: { 'retry-after': '1' }, cause: OVERLOAD })
  }
}

/** Measures how fast work ends while other work waits. Recent work counts more, and after a rest nothing is known. */
function createSpeedometer () {
  let since = 0
  let until: number | null = 0
  let ended = 0

  const elapsed = (): number => (until ?? performance.now()) - since

  return {
    /** Work begins to wait. */
    resume (): void {
      const now = performance.now()
      const rest = now - Number(until)
      if (rest > REST_MS) [since, ended] = [now, 0]
      else since += rest
      until = null
    },
    /** No work waits any more. */
    pause (): void {
      until = performance.now()
    },
    count (): void {
      ended++
      if (elapsed() < SAMPLE_MAX_MS) return
      since += elapsed() / 2
      ended /= 2
    },
    /** Milliseconds between two ends of work; null: not known yet. */
    interval (): number | null {
      return elapsed() < SAMPLE_MIN_MS ? null : elapsed() / Math.max(1, ended)
    }
  }
}

/**
 * Limits how much work runs concurrently: at most so many `places`, and fewer while it ends slowly. More work waits in
 * a queue for 400 ms at most, so that a burst is served; if that would not do at the present speed, it is
 * refused immediately. Infinity: there is no limit. `onRefused` gets the number of refusals, at most once a second.
 */
export function createConcurrencyLimit (
  places: number,
  onRefused: (count: number) => void = () => {}
): ConcurrencyLimit {
  if (places === Infinity) return (work) => work()
  const waiting = new Set<() => void>()
  const speed = createSpeedometer()
  const refusal = createRefusals(onRefused)
  let running = 0

  function hasPlace (): boolean {
    const interval = speed.interval()
    const inTime = interval === null
      ? Math.max(PLACES_FIRST_MIN, places * PLACES_FIRST_SHARE)
      : WORK_TARGET_MS / interval
    return running < Math.min(places, Math.max(places * PLACES_MIN_SHARE, inTime))
  }

  function leaveQueue (start: () => void): void {
    waiting.delete(start)
    if (waiting.size === 0) speed.pause()
  }

  function startWaiting (): void {
    for (const start of waiting) {
      if (!hasPlace()) return
      leaveQueue(start)
      start()
    }
  }

  /** Waits for a place, and takes it. */
  function place (): Promise<void> {
    const interval = speed.interval() ?? 0
    if (waiting.size * interval > WAIT_MAX_MS) return Promise.reject(refusal())
    if (waiting.size === 0) speed.resume()
    return new Promise((resolve, reject) => {
      const start = (): void => {
        running++
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        leaveQueue(start)
        reject(refusal())
      }, WAIT_MAX_MS)
      waiting.add(start)
    })
  }

  return async (work) => {
    if (waiting.size === 0 && hasPlace()) running++
    else await traced(channels.wait, () => ({}), place)
    try {
      return await work()
    } finally {
      running--
      if (waiting.size > 0) speed.count()
      startWaiting()
    }
  }
}
